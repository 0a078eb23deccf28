package projection

import (
	"slices"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestAProjectorSeesEveryChange(t *testing.T) {
	base := func() given {
		first := call("c1", "x", history.Done, "r1")
		second := call("c2", "y", history.Done, "r2")
		first.Arguments, second.Arguments = `[1]`, `{"b":2}`
		h := talk(say("look"), reply("a", first), reply("b", second), reply("c"))
		h.Messages[3].Reasoning = new("because")
		h.Activations = []history.Activation{activation(3, "send")}
		return given{
			history: h, system: System{Base: "BASE", Dynamic: []string{"now"}},
			model: Model{Rendering: SystemToolBlock, Capabilities: []string{"vision"}, Sealed: true},
			hooks: Hooks{Media: shots{"look": {shot}}}, config: with(func(*Config) {}),
		}
	}
	for name, change := range map[string]func(*given){
		"nothing":        func(*given) {},
		"text":           func(g *given) { g.history.Messages[0].Text += "!" },
		"answer":         func(g *given) { g.history.Messages[1].Text = "A" },
		"reasoning":      func(g *given) { g.history.Messages[3].Reasoning = new("why not") },
		"seal":           func(g *given) { g.history.Messages[1].Sealed = jsontext.Value(`{"by":"m"}`) },
		"echo":           func(g *given) { g.config.ReasoningEcho = Both },
		"result":         func(g *given) { g.history.Messages[2].Calls[0].Result = new("R") },
		"id":             func(g *given) { g.history.Messages[2].Calls[0].ProviderID = "d" },
		"name":           func(g *given) { g.history.Messages[2].Calls[0].Name = "z" },
		"arguments":      func(g *given) { g.history.Messages[2].Calls[0].Arguments = `{"a":1}` },
		"lost arguments": func(g *given) { g.history.Messages[2].Calls[0].Arguments = `[2]` },
		"answer, and the result of another": func(g *given) {
			g.history.Messages[1].Text, g.history.Messages[2].Calls[0].Result = "A", new("R")
		},
		"picture":     func(g *given) { g.hooks.Media = shots{"look": {file{name: "b.png", data: png(21)}}} },
		"no picture":  func(g *given) { g.hooks.Media = nil },
		"definitions": func(g *given) { g.history.Activations[0] = activation(3, "list") },
		"references":  func(g *given) { g.model.Rendering = DeferredToolReference },
		"other references": func(g *given) {
			g.model.Rendering, g.history.Activations[0] = DeferredToolReference, activation(3, "list")
		},
		"breakpoint":   func(g *given) { g.model.PromptCache = true },
		"base":         func(g *given) { g.system.Base = "B" },
		"one layer":    func(g *given) { g.system.Static = []string{"rules"} },
		"tail":         func(g *given) { g.system.Dynamic = []string{"later"} },
		"more":         func(g *given) { g.history.Messages = append(g.history.Messages, say("more")) },
		"less":         func(g *given) { g.history.Messages = g.history.Messages[:2] },
		"a message":    func(g *given) { g.history.Messages = slices.Delete(g.history.Messages, 1, 2) },
		"merged texts": func(g *given) { g.history.Messages = slices.Insert(g.history.Messages, 1, say("more")) },
	} {
		t.Run(name, func(t *testing.T) {
			var p Projector
			steps := []given{base(), base(), base()}
			change(&steps[1])
			for i, g := range steps { // there and back again
				want, err := Project(t.Context(), g.history, g.system, g.model, g.cfg(), g.hooks)
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.Project(t.Context(), g.history, g.system, g.model, g.cfg(), g.hooks)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
					t.Fatalf("step %d (-Project +Projector):\n%s", i, diff)
				}
			}
		})
	}
}

func TestAProjectorSharesWhatDidNotChange(t *testing.T) {
	var p Projector
	h := longTalk(40, 4000)
	project := func(n int) []string {
		t.Helper()
		wire, err := p.Project(t.Context(), history.History{Messages: h.Messages[:n]}, System{}, Model{}, Default(), Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		return lines(wire)
	}
	project(39)
	kept := p.wire
	project(40)
	for i := range kept {
		if &kept[i][0] != &p.wire[i][0] {
			t.Fatalf("message %d was encoded again", i)
		}
	}
}
