package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// says is a request of a step whose last message is this text.
func says(step, text string) model.Request {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return model.Request{Step: step, Messages: []jsontext.Value{jsontext.Value(`{"role":"user","content":` + string(b) + `}`)}}
}

// check drives a script with asks of the form "step text" (or only a step) and
// compares the outcome of each: its text, or "error: …".
func check(t *testing.T, m model.Model, asks, want []string) {
	t.Helper()
	var got []string
	for _, ask := range asks {
		step, text, _ := strings.Cut(ask, " ")
		resp, err := m.Respond(t.Context(), says(step, text), nil)
		switch {
		case err != nil:
			got = append(got, "error: "+err.Error())
		case resp.Text == nil:
			got = append(got, "no text")
		default:
			got = append(got, *resp.Text)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

const branching = `
version: 1
entries:
  - {text: first}
  - {when: "2/1", text: second turn}
  - {when: apples, text: about apples}
  - {text: next}
  - {when: "2/1", text: second turn again}
  - {when: apples, text: more apples}
`

func TestEntriesAnswerByStepThenWordsThenOrder(t *testing.T) {
	m := New(mustParse(t, branching), clock.Real{})
	check(t, m,
		[]string{"1/1 hello", "1/2 I like apples", "2/1 apples", "2/1", "3/1", "3/2 apples?", "4/1 pears"},
		[]string{
			"first", "about apples", "second turn", "second turn again", "next", "more apples",
			"error: model answered bad_request: script s.yaml has no entry for step 4/1: all of its entries are used up to the last, entry 6",
		})
	if err := m.Leftover(); err != nil {
		t.Error(err)
	}
}

func TestWordsAreLookedForInTheLastMessage(t *testing.T) {
	s := mustParse(t, "version: 1\nentries:\n  - {when: apples, text: yes}\n")
	for name, tt := range map[string]struct {
		messages []string
		want     bool
	}{
		"string":  {[]string{`{"content":"two apples"}`}, true},
		"parts":   {[]string{`{"content":[{"type":"text","text":"ap"},{"type":"text","text":"ples"}]}`}, true},
		"earlier": {[]string{`{"content":"apples"}`, `{"content":"pears"}`}, false},
		"behind":  {[]string{`{"role":"user","content":"apples"}`, `{"role":"system","content":"pears"}`}, true},
		"null":    {[]string{`{"content":null}`}, false},
		"none":    {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var req model.Request
			for _, m := range tt.messages {
				req.Messages = append(req.Messages, jsontext.Value(m))
			}
			_, err := New(s, clock.Real{}).Respond(t.Context(), req, nil)
			if (err == nil) != tt.want {
				t.Errorf("err %v", err)
			}
		})
	}
}

func TestAKeyThatNeverMatchedIsNamed(t *testing.T) {
	m := New(mustParse(t, "version: 1\nentries:\n  - {when: \"9/9\", text: a}\n"), clock.Real{})
	check(t, m, []string{"1/1"}, []string{
		`error: model answered bad_request: script s.yaml has no entry for step 1/1: the first unused entry is 1 (line 3, when "9/9"), whose key does not match`,
	})
	if err := m.Leftover(); err == nil || err.Error() != "script s.yaml: entries [1] answered nothing" {
		t.Errorf("leftover: %v", err)
	}
	check(t, New(mustParse(t, "version: 1"), clock.Real{}), []string{"1/1"}, []string{
		"error: model answered bad_request: script s.yaml has no entry for step 1/1: it has no entries",
	})
}

func TestResumedScriptGoesOnWhereItStopped(t *testing.T) {
	script := mustParse(t, `
version: 1
entries:
  - {text: a}
  - {fail: {kind: error, error: overloaded}}
  - {when: "2/1", text: b}
  - {when: "2/1", text: c}
  - {text: d}
  - {text: e}
  - {when: pears, fail: {kind: timeout}}
`)
	type done struct{ step, id string }
	for name, tt := range map[string]struct {
		done []done
		asks []string
		want []string
	}{
		"fresh":             {nil, []string{"1/1"}, []string{"a"}},
		"an answer":         {[]done{{"1/1", "script-1"}}, []string{"2/1", "2/1"}, []string{"b", "c"}},
		"a failure":         {[]done{{"1/1", "script-1"}, {"1/2", ""}}, []string{"3/1"}, []string{"d"}},
		"within a step":     {[]done{{"1/1", "script-1"}, {"1/2", ""}, {"2/1", "script-3"}}, []string{"2/1", "3/1"}, []string{"c", "d"}},
		"a keyed failure":   {[]done{{"1/1", "script-1"}, {"1/2", ""}, {"2/1", ""}}, []string{"2/1"}, []string{"c"}},
		"words that failed": {[]done{{"1/1", "script-1"}, {"1/2", ""}, {"3/1", ""}}, []string{"3/2 pears"}, []string{"d"}},
		"a cancelled one": {
			[]done{{"1/1", "script-1"}, {"1/2", ""}, {"3/1", ""}, {"4/1", ""}},
			[]string{"5/1"},
			[]string{"e"},
		},
		"another program's": {[]done{{"1/1", "resp_123"}}, []string{"1/1"}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := New(script, clock.Real{})
			for _, d := range tt.done {
				m.Answered(d.step, d.id)
			}
			check(t, m, tt.asks, tt.want)
		})
	}
}

func TestSkip(t *testing.T) {
	m := New(mustParse(t, branching), clock.Real{})
	if err := m.Skip(1); err != nil {
		t.Fatal(err)
	}
	check(t, m, []string{"1/2"}, []string{"next"})
	if err := m.Skip(1); err == nil {
		t.Error("skipped past the end")
	}
}

// clocks runs a test on every clock that a session may have.
func clocks(t *testing.T, f func(t *testing.T, c clock.Clock)) {
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	t.Run("real in a bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, clock.Real{}) })
	})
	t.Run("virtual", func(t *testing.T) { f(t, clock.NewVirtual(epoch)) })
}

func TestLatencyPassesOnTheClock(t *testing.T) {
	s := mustParse(t, "version: 1\nentries:\n  - {text: Fixed., latency: 31s, stream: [F, ix, ed.]}\n  - {text: at once}\n")
	clocks(t, func(t *testing.T, c clock.Clock) {
		start := c.Now()
		var log []string
		m := New(s, c)
		resp, err := m.Respond(t.Context(), says("1/1", ""), func(d model.Delta) {
			log = append(log, fmt.Sprint(d.Text, " ", c.Now().Sub(start).Round(time.Second)))
		})
		if err != nil || *resp.Text != "Fixed." {
			t.Fatal(resp, err)
		}
		if d := cmp.Diff([]string{"F 10s", "ix 21s", "ed. 31s"}, log); d != "" {
			t.Error(d)
		}
		if got := c.Now().Sub(start); got != 31*time.Second {
			t.Errorf("took %s", got)
		}
		if _, err := m.Respond(t.Context(), says("1/2", ""), nil); err != nil || c.Now().Sub(start) != 31*time.Second {
			t.Errorf("the next took until %s: %v", c.Now().Sub(start), err)
		}
	})
}

func TestFailuresAreToldApart(t *testing.T) {
	for name, tt := range map[string]struct {
		entry    string
		deadline time.Duration
		kind     model.ErrorKind // of a *model.Error
		is       error           // else
		after    time.Duration
		deltas   string
	}{
		"error":             {"fail: {kind: error, error: overloaded, message: m}, latency: 2s", time.Minute, model.Overloaded, nil, 2 * time.Second, ""},
		"timeout":           {"fail: {kind: timeout}, latency: 5s, stream: [a, b]", time.Minute, model.Timeout, nil, 5 * time.Second, "ab"},
		"hang":              {"fail: {kind: hang}, stream: [a, b], latency: 2s", time.Minute, "", context.DeadlineExceeded, time.Minute, "ab"},
		"late":              {"text: ab, stream: [a, b], latency: 4s", 3 * time.Second, "", context.DeadlineExceeded, 3 * time.Second, "a"},
		"at the deadline":   {"text: a, latency: 3s", 3 * time.Second, "", context.DeadlineExceeded, 3 * time.Second, ""},
		"error at deadline": {"fail: {kind: error, error: rate}, latency: 3s", 3 * time.Second, "", context.DeadlineExceeded, 3 * time.Second, ""},
		"just in time":      {"text: a, latency: 3s", 3*time.Second + 1, "", nil, 3 * time.Second, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustParse(t, "version: 1\nentries:\n  - {"+tt.entry+"}\n")
			clocks(t, func(t *testing.T, c clock.Clock) {
				start := c.Now()
				ctx, cancel := c.WithTimeout(t.Context(), tt.deadline)
				defer cancel()
				var deltas string
				_, err := New(s, c).Respond(ctx, says("1/1", ""), func(d model.Delta) { deltas += d.Text })
				var failed *model.Error
				switch {
				case tt.kind != "":
					if !errors.As(err, &failed) || failed.Kind != tt.kind {
						t.Errorf("got %v", err)
					}
				case tt.is != nil:
					if !errors.Is(err, tt.is) || errors.As(err, &failed) || !errors.Is(ctx.Err(), tt.is) {
						t.Errorf("got %v, context %v", err, ctx.Err())
					}
				case err != nil:
					t.Error(err)
				}
				if got := c.Now().Sub(start); got != tt.after || deltas != tt.deltas {
					t.Errorf("after %s with %q, want %s with %q", got, deltas, tt.after, tt.deltas)
				}
			})
		})
	}
}

func TestAHangWithoutADeadlineEndsWithItsContext(t *testing.T) {
	s := mustParse(t, "version: 1\nentries:\n  - {fail: {kind: hang}, stream: [a]}\n")
	clocks(t, func(t *testing.T, c clock.Clock) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := New(s, c).Respond(ctx, says("1/1", ""), func(model.Delta) { cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestADeadContextUsesItsEntry(t *testing.T) {
	m := New(mustParse(t, "version: 1\nentries:\n  - {text: late}\n  - {text: a}\n"), clock.Real{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Respond(ctx, says("1/1", ""), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	check(t, m, []string{"2/1"}, []string{"a"})
}

func TestAnswersShareNothingWithTheScript(t *testing.T) {
	s := mustParse(t, "version: 1\nentries:\n  - {text: a, reasoning: r, calls: [{read: {path: p}}]}\n")
	one, err := New(s, clock.Real{}).Respond(t.Context(), says("1/1", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	*one.Text, *one.Reasoning, one.Calls[0].ID = "x", "x", "x"
	two, err := New(s, clock.Real{}).Respond(t.Context(), says("1/1", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Response{
		Text: new("a"), Reasoning: new("r"), Finish: "tool_calls", ProviderID: "script-1",
		Calls: []model.FunctionCall{{ID: "call_1", Name: "read", Arguments: `{"path":"p"}`}},
	}
	if d := cmp.Diff(want, two); d != "" {
		t.Error(d)
	}
}

func TestConcurrentAsksGetEachEntryOnce(t *testing.T) {
	const n = 64
	text := "version: 1\nentries:\n" + strings.Repeat("  - {text: a, latency: 1ms}\n", n)
	m := New(mustParse(t, text), clock.NewVirtual(Epoch))
	ids := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			resp, err := m.Respond(t.Context(), says("1/1", ""), nil)
			if err != nil {
				t.Error(err)
			}
			ids[i] = resp.ProviderID
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(seen) != n || m.Leftover() != nil {
		t.Errorf("%d entries answered, %v", len(seen), m.Leftover())
	}
}
