package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/tools"
)

// stuck is a part of a session that does not notice that its turn was cancelled:
// it returns when it is let go. What waits for it would not end in time.
type stuck struct {
	entered, release chan struct{}
	ended            chan error // why its context ended
}

func newStuck() *stuck {
	return &stuck{make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)}
}

func (s *stuck) wait(ctx context.Context) {
	s.entered <- struct{}{}
	<-ctx.Done() // it is told at once, ...
	s.ended <- ctx.Err()
	<-s.release // ... and takes its time
}

type stuckModel struct {
	*stuck
	model.Model
}

func (m stuckModel) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	if req.Step == "1/1" {
		m.wait(ctx)
	}
	return m.Model.Respond(context.WithoutCancel(ctx), req, delta)
}

type stuckTools struct {
	*stuck
	Tools
}

func (x stuckTools) Run(ctx context.Context, op tools.Op, label string) tools.Outcome {
	if op.Exec != nil {
		x.wait(ctx)
	}
	return x.Tools.Run(ctx, op, label)
}

type stuckChecker struct {
	*stuck
	Checker
}

func (c stuckChecker) AfterEdit(ctx context.Context, _ string, _ []string) []checker.Result {
	c.wait(ctx)
	return []checker.Result{{Outcome: checker.Found, Text: "too late"}}
}

// TestACancelWaitsForNothing holds that a cancelled turn ends, with every call
// ended, although what ran does not return, and that the next prompt works
// meanwhile. So a cancel takes as long as a step of the core, whatever is running.
func TestACancelWaitsForNothing(t *testing.T) {
	for name, c := range map[string]struct {
		first string // the reply of the turn that is cancelled
		hold  func(*rig, *stuck)
		calls int
		late  string // recorded when the work returns: an edit that was made is known to undo
	}{
		"the model": {`text: Too late.`, func(r *rig, s *stuck) {
			inner := r.cfg.Provider
			r.cfg.Provider = func(ctx context.Context, p model.Profile, env ProviderEnv) (model.Model, error) {
				m, err := inner(ctx, p, env)
				return stuckModel{s, m}, err
			}
		}, 0, ""},
		"a command": {`calls: [{read: {path: go.mod}}, {exec: {argv: [ls]}}, {read: {path: main.go}}, {write: {path: w, text: w}}]`, func(r *rig, s *stuck) {
			inner := r.cfg.Tools
			r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
				x, err := inner(ws)
				return stuckTools{s, x}, err
			}
		}, 4, ""},
		"the checker": {`calls: [{write: {path: new.go, text: "package main\n"}}, {read: {path: go.mod}}]`, func(r *rig, s *stuck) {
			r.cfg.Checker = stuckChecker{s, r.cfg.Checker}
		}, 2, "result 2 completed: created new.go: 1 line\nnote what the cancelled call write did all the same, or until it was stopped: created new.go: 1 line\n"},
		"a question": {`calls: [{exec: {argv: [ls]}}, {exec: {argv: [ls, -l]}}]`, func(r *rig, s *stuck) {
			r.answer = func(ctx context.Context, _ Question) Answer {
				s.wait(ctx)
				return Answer{Decision: AllowOnce}
			}
		}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, broken, "version: 1\nentries:\n  - {when: \"1/1\", "+c.first+"}\n  - {when: \"2/1\", text: Free.}\n")
			r.Shutdown()
			s := newStuck()
			c.hold(r, s)
			r.Manager = NewManager(r.cfg, r)
			id := mustPrompt(t, r, "work")
			r.await(s.entered, "the work to begin")
			if ok, err := r.Cancel(t.Context(), &id, nil); !ok || err != nil {
				t.Fatalf("cancel answered %v, %v", ok, err)
			}
			// The turn has ended and the next one runs before the work returns.
			if res := r.result(id, 1); res.Outcome != "cancelled" {
				t.Errorf("turn ended %+v", res)
			}
			if _, res := r.run("again"); res.Text != "Free." {
				t.Errorf("the next prompt ended %+v", res)
			}
			if err := <-s.ended; err == nil {
				t.Error("the work was not told to stop")
			}
			before := r.kinds()
			late := r.next(event.KindNote)
			close(s.release)
			if c.late != "" {
				r.await(late, "what was done all the same")
			}
			r.Shutdown()
			if after := r.kinds(); after != before+c.late {
				t.Errorf("what returned late changed the transcript from\n%s to\n%s", before, after)
			}
			calls, answered := 0, map[uint64]int{}
			for _, p := range r.events {
				switch e := p.(type) {
				case *event.Call:
					calls++
				case *event.Result:
					if e.State == event.Cancelled || c.late == "" {
						answered[e.ID]++
					}
				}
			}
			if calls != c.calls || len(answered) != calls {
				t.Errorf("%d calls, %d of them answered; want %d", calls, len(answered), c.calls)
			}
			for id, n := range answered {
				if n != 1 {
					t.Errorf("call %d was answered %d times", id, n)
				}
			}
		})
	}
}

func TestAllowForThisSessionAsksOnceInThatSessionOnly(t *testing.T) {
	call := "  - calls: [{exec: {argv: [cat, go.mod]}}]\n"
	r := start(t, broken, "version: 1\nentries:\n"+call+call+"  - calls: [{exec: {argv: [wc, go.mod]}}]\n  - text: Done.\n")
	r.answer = func(context.Context, Question) Answer { return Answer{Decision: AllowSession} }
	asked := func() string {
		var b strings.Builder
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, q := range r.asked {
			b.WriteString(q.Title + "\n")
		}
		r.asked = nil
		return b.String()
	}
	if _, res := r.run("go"); res.Text != "Done." {
		t.Errorf("turn ended %+v", res)
	}
	if got := asked(); strings.Count(got, "cat go.mod") != 1 || strings.Count(got, "wc go.mod") != 1 {
		t.Errorf("asked:\n%s", got)
	}
	if n := strings.Count(r.kinds(), "approval answered "+string(AllowSession)); n != 2 {
		t.Errorf("the transcript does not say what was allowed:\n%s", r.kinds())
	}
	other, err := r.New(t.Context(), NewSession{Root: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	r.result(other, must(r.Prompt(t.Context(), Prompt{Session: &other, Text: "go"})))
	if got := asked(); strings.Count(got, "cat go.mod") != 1 {
		t.Errorf("the other session asked:\n%s", got)
	}
}

// slow takes its time to tell its state to every other turn.
type slow struct {
	*rig
	entered, release chan struct{}
	told             int
}

func (e *slow) State(string) string {
	if e.told++; e.told%2 == 1 {
		e.entered <- struct{}{}
		<-e.release
	}
	return ""
}

// TestACancelledRequestHasItsPlaceInTheScript checks that what a script replies
// next does not depend on how far a cancelled ask had come.
func TestACancelledRequestHasItsPlaceInTheScript(t *testing.T) {
	const turns = 20
	entries := "version: 1\nentries:\n"
	for i := range turns {
		entries += fmt.Sprintf("  - text: %d\n", i+1)
	}
	r := start(t, broken, entries)
	r.Shutdown()
	e := &slow{r, make(chan struct{}), make(chan struct{}), 0}
	r.Manager = NewManager(r.cfg, e)
	for i := range turns / 2 {
		id := mustPrompt(t, r, "one to cancel")
		r.await(e.entered, "the ask to be prepared")
		if ok, err := r.Cancel(t.Context(), &id, nil); !ok || err != nil {
			t.Fatalf("cancel answered %v, %v", ok, err)
		}
		asked := r.next(event.KindAsk)
		turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "one to answer"}))
		r.await(asked, "the next ask")
		e.release <- struct{}{}
		if res := r.result(id, turn); res.Text != strconv.Itoa(2*i+2) {
			t.Fatalf("the prompt after a cancel was answered %+v, want entry %d", res, 2*i+2)
		}
	}
}

func TestAfterARestartAScriptGoesOnBehindTheAskThatWasCancelled(t *testing.T) {
	for name, first := range map[string]string{
		"one that hangs":        `fail: {kind: hang}`,
		"one for the step":      `when: "1/1", fail: {kind: hang}`,
		"one that would answer": `text: too late, latency: 1h`,
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, broken, "version: 1\nentries:\n  - {"+first+"}\n  - text: next\n")
			r.Shutdown()
			r.cfg.Clock = func(model.Profile) (clock.Clock, error) { return clock.Real{}, nil }
			r.Manager = NewManager(r.cfg, r)
			asked := r.next(event.KindAsk)
			id := mustPrompt(t, r, "one to cancel")
			r.await(asked, "the ask")
			if ok, err := r.Cancel(t.Context(), &id, nil); !ok || err != nil {
				t.Fatalf("cancel answered %v, %v", ok, err)
			}
			r.Shutdown()
			r.Manager = NewManager(r.cfg, r)
			if _, err := r.Resume(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "go on"}))
			if res := r.result(id, turn); res.Text != "next" {
				t.Errorf("answered %+v", res)
			}
		})
	}
}
