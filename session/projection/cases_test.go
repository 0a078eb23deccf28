package projection

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/history/historytest"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/go-cmp/cmp"
)

// folded folds payloads as a stored transcript.
func folded(t testing.TB, payloads ...event.Payload) history.History {
	t.Helper()
	events, err := historytest.Talk{Payloads: payloads}.Events(len(payloads))
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Fold(stream(events))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func prompt(turn uint64, text string) event.Payload { return &event.User{Turn: turn, Text: text} }

func done(turn uint64) event.Payload { return &event.Done{Turn: turn} }

func answers(turn, ask uint64, text string, ids ...string) event.Payload {
	m := &event.Message{Turn: turn, Ask: ask, Text: &text}
	for _, id := range ids {
		m.Calls = append(m.Calls, model.FunctionCall{ID: id, Name: "exec", Arguments: `{}`})
	}
	return m
}

func TestEveryPrefixOfATranscriptIsWellFormed(t *testing.T) {
	for seed := range uint64(3) {
		talk := historytest.Random(rand.New(rand.NewPCG(seed, 3)), 3)
		var f history.Folder
		for i, p := range talk.Payloads {
			if err := f.Add(store.Event{Index: uint64(i)}, p); err != nil {
				t.Fatal(err)
			}
			for _, v := range variants {
				wire, err := Project(t.Context(), f.History(), System{}, v.model, *v.config, v.hooks)
				if err != nil {
					t.Fatal(err)
				}
				wellFormed(t, wire)
			}
		}
	}
}

func TestAnInterruptedCallIsAnsweredBeforeTheNextPrompt(t *testing.T) {
	check(t, given{history: folded(t,
		prompt(1, "run it"), answers(1, 1, "", "t1"), &event.Call{Turn: 1, ID: 2, ProviderID: "t1"},
		&event.Note{Turn: 1, Cancels: true}, done(1), prompt(2, "go on"), &event.Ask{Turn: 2, ID: 5})}, `
{"role":"user","content":"run it"}
{"role":"assistant","content":"","tool_calls":[{"id":"t1","type":"function","function":{"name":"exec","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"t1","content":"cancelled"}
{"role":"user","content":"go on"}`)
}

func TestResultsStandInCallOrderHoweverTheyArrive(t *testing.T) {
	want := strings.TrimPrefix(`
{"role":"user","content":"go"}
{"role":"assistant","content":"","tool_calls":[{"id":"t0","type":"function","function":{"name":"exec","arguments":"{}"}},{"id":"t1","type":"function","function":{"name":"exec","arguments":"{}"}},{"id":"t2","type":"function","function":{"name":"exec","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"t0","content":"r0"}
{"role":"tool","tool_call_id":"t1","content":"r1"}
{"role":"tool","tool_call_id":"t2","content":"r2"}
{"role":"assistant","content":"done"}
{"role":"user","content":"[Note: go.mod changed]\n\nmore"}`, "\n")
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for note := range 4 {
			payloads := []event.Payload{prompt(1, "go"), answers(1, 1, "", "t0", "t1", "t2")}
			for i := range 3 {
				payloads = append(payloads, &event.Call{Turn: 1, ID: uint64(2 + i), ProviderID: "t" + string(rune('0'+i))})
			}
			var results []event.Payload
			for _, i := range order {
				results = append(results, &event.Result{ID: uint64(2 + i), Call: uint64(2 + i), State: event.Completed, Text: "r" + string(rune('0'+i))})
			}
			results = slices.Insert(results, note, event.Payload(&event.Note{Turn: 1, Text: "go.mod changed", Model: true}))
			payloads = append(append(payloads, results...), answers(1, 5, "done"), done(1), prompt(2, "more"))
			got := strings.Join(wireOf(t, given{history: folded(t, payloads...)}), "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("results in the order %v (-want +got):\n%s", order, diff)
			}
		}
	}
}

func TestALateResultChangesNothingThatWasSent(t *testing.T) {
	payloads := []event.Payload{
		prompt(1, "go"), answers(1, 1, "", "t1"), &event.Call{Turn: 1, ID: 2, ProviderID: "t1"},
		&event.Result{ID: 2, Call: 2, State: event.Cancelled, Text: "cancelled"}, done(1),
		prompt(2, "more"), &event.Ask{Turn: 2, ID: 5},
	}
	before := wireOf(t, given{history: folded(t, payloads...)})
	payloads = append(payloads, &event.Result{ID: 2, Call: 2, State: event.Completed, Text: "the real output"})
	if diff := cmp.Diff(before, wireOf(t, given{history: folded(t, payloads...)})); diff != "" {
		t.Errorf("what was sent changed (-before +after):\n%s", diff)
	}
}

func TestSummariesDoNotPileUpNorSwallowThePrompt(t *testing.T) {
	payloads := []event.Payload{prompt(1, "old task"), answers(1, 1, "old answer"), done(1), prompt(2, "the task")}
	compact := func(text string) bool {
		id, ok := folded(t, payloads...).Before(2)
		if ok {
			payloads = append(payloads, &event.Summary{Text: text, CoveredUpTo: id})
		}
		return ok
	}
	if !compact("first") {
		t.Fatal("nothing to compact")
	}
	for ask := range uint64(2) { // rounds without a user's word between
		payloads = append(payloads, answers(2, 10+ask, "round"))
		if compact("again") {
			t.Error("what a summary covers is compacted again")
		}
	}
	check(t, given{history: folded(t, payloads...), config: with(func(c *Config) { c.SummaryPrefix = "" })}, `
{"role":"system","content":"first"}
{"role":"user","content":"the task"}
{"role":"assistant","content":"round"}
{"role":"assistant","content":"round"}`)
}
