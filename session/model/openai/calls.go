package openai

import (
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json/jsontext"
)

// callDelta is a piece of a call. Servers leave out any member.
type callDelta struct {
	Index    *httpmodel.Number `json:"index"`
	ID       httpmodel.Text    `json:"id"`
	Function functionDelta     `json:"function"`
	// Extra must be sent back with the call unchanged: Gemini signs its thoughts there.
	Extra jsontext.Value `json:"extra_content"`
}

type functionDelta struct {
	Name      httpmodel.Text `json:"name"`
	Arguments httpmodel.Text `json:"arguments"`
}

// calls assembles calls from their pieces.
type calls struct {
	list  []*call
	index map[httpmodel.Number]*call // the last one of each index
	group []*call                    // those that the last event with several calls had
}

type call struct {
	id, name  string
	arguments httpmodel.Words
	extra     jsontext.Value
}

// add appends the pieces of one event.
func (c *calls) add(deltas []callDelta) {
	touched := make([]*call, 0, len(deltas))
	for i, d := range deltas {
		at := c.find(d, i, len(deltas), touched)
		touched = append(touched, at)
		if d.ID != "" {
			at.id = string(d.ID)
		}
		if d.Function.Name != "" {
			at.name = string(d.Function.Name)
		}
		if given(d.Extra) {
			at.extra = d.Extra.Clone()
		}
		at.arguments.Add(string(d.Function.Arguments))
	}
	if len(touched) > 1 {
		c.group = touched
	}
}

// find returns the call that a piece, the nth of its event, belongs to.
func (c *calls) find(d callDelta, n, of int, touched []*call) *call {
	id, name := string(d.ID), string(d.Function.Name)
	if d.Index != nil {
		return c.numbered(*d.Index, id, name)
	}
	if id != "" {
		if at := c.byID(id); at != nil {
			return at
		}
		return c.begin()
	}
	switch {
	case len(c.list) == 0:
		return c.begin()
	case of > 1 && name == "" && n < len(c.group):
		return c.group[n]
	}
	last := c.list[len(c.list)-1]
	another := len(touched) > 0 && touched[len(touched)-1] == last
	if name != "" && last.name != "" && (another || last.whole()) {
		return c.begin()
	}
	return last
}

// numbered returns the call that a piece with a number belongs to. Some servers number
// every call 0: another id is another call, begun before or, with a name, begun here.
func (c *calls) numbered(index httpmodel.Number, id, name string) *call {
	at, ok := c.index[index]
	if ok && (id == "" || at.id == "" || at.id == id) {
		return at
	}
	if known := c.byID(id); ok && known != nil {
		return known
	}
	if ok && name == "" {
		return at
	}
	at = c.begin()
	if c.index == nil {
		c.index = map[httpmodel.Number]*call{}
	}
	c.index[index] = at
	return at
}

func (c *calls) byID(id string) *call {
	for _, at := range c.list {
		if id != "" && at.id == id {
			return at
		}
	}
	return nil
}

func (c *calls) begin() *call {
	at := new(call)
	c.list = append(c.list, at)
	return at
}

// whole reports whether the arguments may be complete.
func (c *call) whole() bool {
	text := strings.TrimSpace(c.arguments.String())
	return text == "" || jsontext.Value(text).IsValid()
}

// all returns the calls in the order they began; their arguments are what the
// model wrote, {} when it wrote nothing.
func (c *calls) all() []model.FunctionCall {
	var out []model.FunctionCall
	for _, at := range c.list {
		arguments := at.arguments.String()
		if s := strings.TrimSpace(arguments); s == "" || s == "null" {
			arguments = "{}"
		}
		out = append(out, model.FunctionCall{ID: at.id, Name: at.name, Arguments: arguments})
	}
	return out
}

// pieces returns the reply's pieces in order, each call behind its signed extra
// content.
func (c *calls) pieces(text string) []httpmodel.Segment {
	out := []httpmodel.Segment{{Text: text}}
	for _, at := range c.list {
		if at.extra != nil {
			out = append(out, httpmodel.Segment{Sealed: at.extra})
		}
		out = append(out, httpmodel.Segment{Call: new(model.FunctionCall)})
	}
	return out
}

// extras returns the extra content that is sent back with each call of a message
// to the model that the call came from, nil for none.
func extras(m *model.Message, by string) []jsontext.Value {
	if m.Sealed == nil {
		return nil
	}
	var out []jsontext.Value
	var next jsontext.Value
	for _, piece := range httpmodel.Segments(m, by) {
		switch {
		case piece.Sealed != nil:
			next = piece.Sealed
		case piece.Call != nil:
			out = append(out, next)
			next = nil
		}
	}
	return out
}
