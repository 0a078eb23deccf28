package projection

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// given is one request; zero members take their defaults.
type given struct {
	history history.History
	system  System
	model   Model
	config  *Config
	hooks   Hooks
}

func (g given) cfg() Config {
	if g.config != nil {
		return *g.config
	}
	return Default()
}

// wireOf projects, and checks that a Projector returns the same twice.
func wireOf(t testing.TB, g given) []string {
	t.Helper()
	got, err := Project(t.Context(), g.history, g.system, g.model, g.cfg(), g.hooks)
	if err != nil {
		t.Fatal(err)
	}
	var p Projector
	for range 2 {
		again, err := p.Project(t.Context(), g.history, g.system, g.model, g.cfg(), g.hooks)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines(got), lines(again)); diff != "" {
			t.Fatalf("a projector answers something else (-once +again):\n%s", diff)
		}
	}
	for _, m := range got {
		if !m.IsValid() {
			t.Fatalf("not JSON: %s", m)
		}
	}
	checkTyped(t, &p, g, got)
	return lines(got)
}

// checkTyped holds the typed messages against their chat-completions form: either is
// made of the other.
func checkTyped(t testing.TB, p *Projector, g given, wire []jsontext.Value) {
	t.Helper()
	typed, again, err := p.Conversation(t.Context(), g.history, g.system, g.model, g.cfg(), g.hooks)
	if err != nil {
		t.Fatal(err)
	}
	written := make([]jsontext.Value, len(typed))
	for i, m := range typed {
		written[i] = m.Chat(whole)
	}
	read, err := (&model.Request{Messages: again}).Typed()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range read {
		if typed[i].ReasoningQuiet { // which only what is sealed is for
			m.Reasoning, m.ReasoningQuiet = typed[i].Reasoning, true
		}
		if len(m.Content) == 1 && m.Content[0] == (model.Part{}) {
			m.Content = nil // an assistant that only calls
		}
	}
	if diff := cmp.Diff(lines(wire), lines(written)); diff != "" {
		t.Fatalf("the typed messages are written otherwise (-Project +typed):\n%s", diff)
	}
	sameText := cmp.FilterPath(func(p cmp.Path) bool { return p.String() != "Content.File.Name" },
		cmp.Comparer(func(a, b string) bool { return string([]rune(a)) == string([]rune(b)) })) // U+FFFD for what is not UTF-8
	unnamed := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Content.File.Name" }, // that of a document only
		cmp.Comparer(func(a, b string) bool { return a == b || a == "" || b == "" }))
	if diff := cmp.Diff(typed, read, unnamed, cmpopts.IgnoreUnexported(model.Message{}), cmpopts.EquateEmpty(), sameText); diff != "" {
		t.Fatalf("the messages are read otherwise than they were typed (-typed +read):\n%s", diff)
	}
}

func lines(wire []jsontext.Value) []string {
	out := make([]string, len(wire))
	for i, m := range wire {
		out[i] = string(m)
	}
	return out
}

// check compares whole messages, one a line of want.
func check(t *testing.T, g given, want string) {
	t.Helper()
	got := strings.Join(wireOf(t, g), "\n")
	if diff := cmp.Diff(strings.TrimSpace(want), got); diff != "" {
		t.Errorf("wire messages (-want +got):\n%s", diff)
	}
}

// say, reply and call build histories; talk numbers them.
func say(text string) history.Message { return history.Message{Role: history.User, Text: text} }

func reply(text string, calls ...history.Call) history.Message {
	return history.Message{Role: history.Assistant, Text: text, Calls: calls}
}

func call(id, name string, state history.CallState, result ...string) history.Call {
	c := history.Call{ProviderID: id, Name: name, State: state}
	if len(result) > 0 {
		c.Result = &result[0]
	}
	return c
}

func talk(ms ...history.Message) history.History {
	for i := range ms {
		ms[i].ID = uint64(i + 1)
	}
	return history.History{Messages: ms}
}

func TestLayersStandInOrder(t *testing.T) {
	check(t, given{
		history: talk(say("hi")),
		system:  System{Base: "BASE", Static: []string{"one", "two"}, Dynamic: []string{"now", "later"}, Reminder: new("mind")},
	}, `
{"role":"system","content":"BASE"}
{"role":"system","content":"one"}
{"role":"system","content":"two"}
{"role":"user","content":"hi"}
{"role":"system","content":"now\n\n---\nlater"}
{"role":"system","content":"mind"}`)
}

func TestEveryCallStateHasAResult(t *testing.T) {
	cfg := Default()
	cfg.InterruptedText = "Error: tool call was interrupted."
	cfg.RejectedDefault = "User rejected this tool call."
	cfg.CancelledDefault = "Tool call was cancelled by the user."
	cfg.ReasoningPlaceholder = new("(no reasoning recorded for this step)")
	cfg.ReasoningEcho = Both
	check(t, given{config: &cfg, system: System{Base: "BASE"}, history: talk(say("go"), reply("working",
		call("c1", "a", history.Done, "ok"), call("c2", "b", history.Failed, "boom"),
		call("c3", "c", history.Rejected, ""), call("c4", "d", history.Cancelled, "Cancelled by user."),
		call("c5", "e", history.Running), call("c6", "f", history.Awaiting, "part")))}, `
{"role":"system","content":"BASE"}
{"role":"user","content":"go"}
{"role":"assistant","content":"working","reasoning_content":"(no reasoning recorded for this step)","reasoning":"(no reasoning recorded for this step)","tool_calls":[{"id":"c1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"b","arguments":"{}"}},{"id":"c3","type":"function","function":{"name":"c","arguments":"{}"}},{"id":"c4","type":"function","function":{"name":"d","arguments":"{}"}},{"id":"c5","type":"function","function":{"name":"e","arguments":"{}"}},{"id":"c6","type":"function","function":{"name":"f","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"ok"}
{"role":"tool","tool_call_id":"c2","content":"Error: boom"}
{"role":"tool","tool_call_id":"c3","content":"User rejected this tool call."}
{"role":"tool","tool_call_id":"c4","content":"Cancelled by user."}
{"role":"tool","tool_call_id":"c5","content":"Error: tool call was interrupted."}
{"role":"tool","tool_call_id":"c6","content":"Error: tool call was interrupted."}`)
}
