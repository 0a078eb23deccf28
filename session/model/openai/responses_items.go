package openai

import (
	"cmp"
	"slices"

	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// items assembles a reply's items. Servers leave out the index, give every
// item the same one, and name an item differently in each of its events.
type items struct{ list []*gathering }

// gathering is an item, as far as it has arrived.
type gathering struct {
	index     *httpmodel.Number
	id        string
	begun     outputItem
	arguments httpmodel.Words
	done      jsontext.Value
}

// add starts an item. Only calls may lack an end.
func (x *items) add(e responsesEvent) {
	var it outputItem
	if json.Unmarshal(e.Item, &it, httpmodel.Lenient) == nil && it.Type == "function_call" {
		x.list = append(x.list, &gathering{index: e.Index, id: it.ID, begun: it})
	}
}

// end stores a complete item.
func (x *items) end(e responsesEvent) {
	var it outputItem
	_ = json.Unmarshal(e.Item, &it, httpmodel.Lenient) // an item that cannot be read is an error later
	at := x.last(func(g *gathering) bool {
		return g.done == nil && it.CallID != "" && g.begun.CallID == it.CallID
	})
	if at == nil && it.Type == "function_call" {
		at = x.last(func(g *gathering) bool {
			return g.done == nil && sameIndex(g.index, e.Index) && (g.begun.CallID == "" || it.CallID == "")
		})
	}
	if at == nil {
		at = &gathering{index: e.Index, id: it.ID}
		x.list = append(x.list, at)
	}
	at.done = e.Item.Clone()
}

// call returns the unfinished call that a piece of arguments belongs to.
func (x *items) call(e responsesEvent) *gathering {
	at := x.last(func(g *gathering) bool { return e.ItemID != "" && g.id == e.ItemID })
	if at == nil {
		at = x.last(func(g *gathering) bool { return g.done == nil && sameIndex(g.index, e.Index) })
	}
	if at == nil {
		// Its item may still come, or only with the end of the reply.
		at = &gathering{index: e.Index, id: e.ItemID}
	}
	return at
}

func (x *items) last(match func(*gathering) bool) *gathering {
	for _, g := range slices.Backward(x.list) {
		if match(g) {
			return g
		}
	}
	return nil
}

func sameIndex(a, b *httpmodel.Number) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// output returns the items in order: by their indices if those are distinct.
func (x *items) output() []jsontext.Value {
	list := slices.Clone(x.list)
	indices := map[httpmodel.Number]bool{}
	for _, g := range list {
		if g.index != nil {
			indices[*g.index] = true
		}
	}
	if len(indices) == len(list) {
		slices.SortFunc(list, func(a, b *gathering) int { return cmp.Compare(*a.index, *b.index) })
	}
	var out []jsontext.Value
	for _, g := range list {
		if g.done == nil {
			g.begun.Arguments += httpmodel.Text(g.arguments.String())
			g.done, _ = httpmodel.Marshal(g.begun) // strings only
		}
		out = append(out, g.done)
	}
	return out
}
