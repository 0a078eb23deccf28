package projection

import (
	"slices"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// activated are the tools that one message's results activate.
type activated struct {
	defs  []jsontext.Value
	moved bool // some come from a message that is not shown
}

// anchored maps a place in the shown messages to the definitions activated there.
// An activation whose message is not shown, or has no calls, is placed at the first
// shown message that has calls.
func anchored(shown []history.Message, activations []history.Activation, r Rendering) map[int]activated {
	if r == Inline || len(activations) == 0 {
		return nil
	}
	places, first := map[uint64]int{}, -1
	for i, m := range shown {
		if len(m.Calls) == 0 {
			continue
		}
		places[m.ID] = i
		if first < 0 {
			first = i
		}
	}
	ordered := slices.Clone(activations)
	slices.SortStableFunc(ordered, func(a, b history.Activation) int {
		switch {
		case a.Anchor < b.Anchor:
			return -1
		case a.Anchor > b.Anchor:
			return 1
		}
		return 0
	})
	out := map[int]activated{}
	for _, a := range ordered {
		at, ok := places[a.Anchor]
		if !ok {
			at = first
		}
		if at < 0 {
			continue
		}
		here := out[at]
		here.moved = here.moved || !ok
		for _, def := range a.Defs {
			if def.Kind() == '{' && def.IsValid() {
				here.defs = append(here.defs, def)
			}
		}
		out[at] = here
	}
	return out
}

// activate marks the result of the activating call, among the rows from first on.
// An activation that was moved here needs no such call.
func (b *builder) activate(calls []history.Call, first int, tools activated) {
	if b.model.Rendering != DeferredToolReference || len(tools.defs) == 0 {
		return
	}
	at := 0
	if tool := b.cfg.ActivationAnchorTool; tool != "" {
		at = slices.IndexFunc(calls, func(c history.Call) bool { return c.Name == tool })
	}
	if at < 0 && tools.moved {
		at = 0
	}
	if at >= 0 {
		b.rows[first+at].tools = &newTools{refs: toolNames(tools.defs)}
	}
}

// toolNames reads function.name of each definition; one without it is skipped.
func toolNames(defs []jsontext.Value) []string {
	var names []string
	for _, def := range defs {
		var d struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		}
		if json.Unmarshal(def, &d) == nil && d.Function.Name != "" {
			names = append(names, d.Function.Name)
		}
	}
	return names
}
