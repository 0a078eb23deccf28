package lsp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/go-cmp/cmp"
)

// tell plays events of the first session as the engine reports them.
func (r *rig) emit(payloads ...event.Payload) {
	r.t.Helper()
	for i, p := range payloads {
		raw, err := event.Encode(p)
		if err != nil {
			r.t.Fatal(err)
		}
		r.side().Event(firstID, r.dir, store.Event{Index: uint64(i), At: time.Unix(1, 0).UTC(), Payload: store.Payload{Data: raw}}, p)
	}
}

// storeEvent is an event that says how something ended.
func storeEvent(err error) store.Event {
	raw, _ := event.Encode(&event.Note{Text: fmt.Sprint(err)})
	return store.Event{Payload: store.Payload{Data: raw}}
}

var aTurn = []event.Payload{
	&event.User{Turn: 1, Text: "fix\nit"},
	&event.Ask{Turn: 1, ID: 1, Round: 1},
	&event.Message{Turn: 1, Text: new("I shall.")},
	&event.Call{Turn: 1, ID: 2, Name: "Read", Call: &abi.Call{Read: &abi.Read{Path: "a.go"}}},
	&event.Check{Turn: 1, Outcome: "failed", Text: "no go here"},
	&event.Error{Turn: 1, Source: "model", Message: "no key"},
	&event.Done{Turn: 1, Outcome: "complete"},
	&event.Check{Turn: 1, Outcome: "clean"}, // late
}

func TestATranscriptClientGetsEveryEvent(t *testing.T) {
	r := start(t, lsptest.Options{Transcript: true}, nil)
	r.emit(aTurn...)
	r.side().Delta(firstID, 1, "streams")
	r.Barrier()
	r.Wait("the delta", 0, func(m lsptest.Message) bool { return m.Method == "agent/delta" })
	events := r.Events()
	if len(events) != len(aTurn) {
		t.Fatalf("%d events", len(events))
	}
	if e := events[1]; e.Session != firstID.String() || e.Index != 1 || string(e.At) != `"1970-01-01T00:00:01Z"` || e.Kind() != "ask" {
		t.Errorf("%+v", e)
	}
	if d := r.Deltas(); len(d) != 1 || d[0] != (lsptest.Delta{Session: firstID.String(), Turn: 1, Text: "streams"}) {
		t.Errorf("%+v", d)
	}
}

func TestAPlainClientGetsLinesAndNoUnknownNotification(t *testing.T) {
	r := start(t, lsptest.Options{}, nil)
	from := r.Len()
	r.emit(aTurn...)
	r.side().Delta(firstID, 1, "streams")
	r.Wait("the last line", from, func(m lsptest.Message) bool { return strings.Contains(string(m.Params), "done: complete") })
	var got []string
	for _, m := range r.Traffic()[from:] {
		if m.Method != "window/logMessage" && m.Method != "window/showMessage" {
			continue
		}
		var p struct {
			Type    int    `json:"type"`
			Message string `json:"message"`
		}
		if err := unmarshal(string(m.Params), &p); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s", p.Type, p.Message))
	}
	want := []string{"3 you: fix\nit", "3 I shall.", "3 Read a.go", "1 agent: model: no key", "3 done: complete"}
	if d := cmp.Diff(want, got[:min(len(want), len(got))]); d != "" {
		t.Error(d)
	}
}

func TestProgressIsWholeOrNotThere(t *testing.T) {
	token := `"agent/` + firstID.String() + `/1"`
	for _, tt := range []struct {
		name    string
		options lsptest.Options
		after   func(*rig)
		kinds   string
		last    string
	}{
		{name: "no capability", options: lsptest.Options{NoProgress: true}},
		{
			name: "answered after the turn", options: lsptest.Options{Creates: lsptest.ProgressHold},
			after: func(r *rig) { r.WaitHeld(1); r.Release("") }, kinds: "begin end", last: "complete",
		},
		{name: "refused", options: lsptest.Options{Creates: lsptest.ProgressError}},
		{name: "never answered", options: lsptest.Options{Creates: lsptest.ProgressNever}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, tt.options, nil)
			r.emit(aTurn...)
			if tt.after != nil {
				tt.after(r)
				r.Wait("the end", 0, func(m lsptest.Message) bool { return strings.Contains(string(m.Params), `"end"`) })
			}
			r.Barrier()
			p := r.Progresses()[token]
			if got := strings.Join(p.Kinds, " "); got != tt.kinds || p.Last != tt.last {
				t.Errorf("%q %q, want %q %q", got, p.Last, tt.kinds, tt.last)
			}
			if tt.kinds != "" && p.Title != "fix it" {
				t.Errorf("title %q", p.Title)
			}
			if n := len(r.Progresses()); n > 1 {
				t.Errorf("%d tokens: a late event began a new one", n)
			}
		})
	}
}

func TestProgressFollowsATurnAndCancelsIt(t *testing.T) {
	r := start(t, lsptest.Options{}, nil)
	cancelled := make(chan struct{}, 1)
	r.engine.cancel = func() bool { cancelled <- struct{}{}; return true }
	r.emit(aTurn[0])
	r.Wait("the beginning", 0, func(m lsptest.Message) bool { return strings.Contains(string(m.Params), `"begin"`) })
	r.emit(aTurn[1], aTurn[3])
	token := `"agent/` + firstID.String() + `/1"`
	r.Wait("the call", 0, func(m lsptest.Message) bool {
		return m.Method == "$/progress" && strings.Contains(string(m.Params), "Read a.go")
	})
	r.Notify("window/workDoneProgress/cancel", `{"token":`+token+`}`)
	<-cancelled
	if got := strings.Join(r.engine.asked(), ";"); got != "cancel "+firstID.String()+" 1" {
		t.Errorf("the engine was asked %q", got)
	}
	r.Notify("window/workDoneProgress/cancel", `{"token":"other"}`)
	r.Notify("window/workDoneProgress/cancel", `{"token":7}`)
	r.emit(&event.Done{Turn: 1, Outcome: "cancelled"})
	r.Wait("the end", 0, func(m lsptest.Message) bool { return strings.Contains(string(m.Params), `"end"`) })
	if got := strings.Join(r.Progresses()[token].Kinds, " "); got != "begin report report end" {
		t.Error(got)
	}
}

func TestProgressTellsAQuestionAndWhatItsAnswerStarts(t *testing.T) {
	asked := func(id uint64, title string) event.Payload {
		return &event.Approval{Turn: 1, ID: id, State: "asked", Title: title}
	}
	answered := func(id uint64, d session.Decision) event.Payload {
		return &event.Approval{Turn: 1, ID: id, State: "answered", Decision: string(d)}
	}
	for name, tt := range map[string]struct {
		events []event.Payload
		want   string
	}{
		"a question":          {[]event.Payload{asked(2, "Run ls")}, "waiting for you: Run ls"},
		"allowed once":        {[]event.Payload{asked(2, "Run ls"), answered(2, session.AllowOnce)}, "Run ls"},
		"allowed for session": {[]event.Payload{asked(2, "Run ls"), answered(2, session.AllowSession)}, "Run ls"},
		"denied":              {[]event.Payload{asked(2, "Run ls"), answered(2, session.Deny), &event.Ask{Turn: 1, Round: 2}}, "thinking (round 2)"},
		"two, the first answered last": {[]event.Payload{
			asked(2, "Run ls"), asked(3, "Run cat"), answered(3, session.AllowOnce), answered(2, session.AllowOnce),
		}, "Run ls"},
		"an edit that asks nothing": {[]event.Payload{
			&event.Call{Turn: 1, ID: 2, Name: "Write"}, &event.Intent{Turn: 1, ID: 2, Edit: &event.Edit{Path: "a"}},
		}, "Write"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, lsptest.Options{}, nil)
			r.emit(aTurn[0])
			r.Wait("the beginning", 0, func(m lsptest.Message) bool { return strings.Contains(string(m.Params), `"begin"`) })
			r.emit(tt.events...)
			r.Barrier()
			if got := r.Progresses()[`"agent/`+firstID.String()+`/1"`].Last; got != tt.want {
				t.Errorf("the progress says %q, want %q", got, tt.want)
			}
		})
	}
}

func TestApprovals(t *testing.T) {
	for _, tt := range []struct {
		how    lsptest.QuestionAnswer
		want   session.Decision
		reason string // a part
	}{
		{lsptest.AllowOnce, session.AllowOnce, ""},
		{lsptest.AllowSession, session.AllowSession, ""},
		{lsptest.AllowAlways, session.AllowAlways, ""},
		{lsptest.Deny, session.Deny, ""},
		{lsptest.Dismiss, session.Deny, "dismissed"},
		{lsptest.AnswerError, session.Deny, "could not ask"},
		{lsptest.NoAnswer, session.Deny, "nobody answered within"},
	} {
		for _, own := range []bool{true, false} {
			r := start(t, lsptest.Options{Approvals: own, Questions: []lsptest.QuestionAnswer{tt.how}}, nil)
			got := r.side().Approve(t.Context(), session.Question{Session: firstID, Turn: 1, ID: 2, Title: "Run rm", Detail: "rm -rf x\nin /w", Decisions: allDecisions})
			if got.Decision != tt.want || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("%s, agent/approve %v: %+v", tt.how, own, got)
			}
			method := "window/showMessageRequest"
			if own {
				method = "agent/approve"
			}
			if m := r.WaitMethod(method, 0); !strings.Contains(string(m.Params), `rm -rf x\nin /w`) {
				t.Errorf("asked %s", m.Params)
			}
		}
	}
}

func TestACancelledTurnTakesItsQuestionBack(t *testing.T) {
	r := start(t, lsptest.Options{Questions: []lsptest.QuestionAnswer{lsptest.NoAnswer}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan session.Answer, 1)
	go func() { done <- r.side().Approve(ctx, session.Question{Title: "x", Decisions: allDecisions}) }()
	r.WaitMethod("window/showMessageRequest", 0)
	cancel()
	if a := <-done; a.Decision != session.Deny || a.Reason != "the turn was cancelled" {
		t.Errorf("%+v", a)
	}
	r.WaitMethod("$/cancelRequest", 0)
}

func TestUnsavedTextsAreToldToCheckers(t *testing.T) {
	r := start(t, lsptest.Options{}, map[string]string{"a.go": "x\n", "b.go": "x\n", "sub/c.go": "x\n"})
	r.Replace(r.Open(r.path("a.go")), "x", "unsaved")
	r.Open(r.path("b.go"))
	c := r.Open(r.path("sub/c.go"))
	r.Replace(c, "x", "unsaved")
	r.OpenText("untitled:1", "x", 1)
	r.Barrier()
	want := map[string]string{r.path("a.go"): "unsaved\n", r.path("sub/c.go"): "unsaved\n"}
	if d := cmp.Diff(want, r.side().Unsaved(r.dir)); d != "" {
		t.Error(d)
	}
	delete(want, r.path("a.go"))
	if d := cmp.Diff(want, r.side().Unsaved(r.path("sub"))); d != "" {
		t.Error(d)
	}
	r.Save(c)
	r.Barrier()
	if got := r.side().Unsaved(r.path("sub")); len(got) != 0 {
		t.Errorf("%v after it was saved", got)
	}
}

// TestCommandsEditWhileTheyAreHandled has handlers in flight that wait for the
// client's answers.
func TestCommandsEditWhileTheyAreHandled(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("f%d.txt", i)] = "old\n"
	}
	r := start(t, lsptest.Options{}, files)
	next := make(chan int, 8)
	for i := range 8 {
		r.Open(r.path(fmt.Sprintf("f%d.txt", i)))
		next <- i
	}
	r.Barrier()
	r.engine.prompt = func(session.Prompt) {
		name := fmt.Sprintf("f%d.txt", <-next)
		if _, err := r.workspace().Apply(context.Background(), r.edit(name, "new\n")); err != nil {
			t.Error(err)
		}
	}
	var all []*lsptest.Pending
	for range 8 {
		all = append(all, r.GoCommand("agent.prompt", `{"text":"x"}`))
	}
	for _, p := range all {
		if _, err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
	for name := range files {
		if got := r.read(name); got != "new\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

var allDecisions = []session.Decision{session.AllowOnce, session.AllowSession, session.AllowAlways, session.Deny}
