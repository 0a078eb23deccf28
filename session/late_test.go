package session

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/tools"
)

// lateTools closes over as a call is decided upon once armed: the second one of a
// reply, before it runs. By then all that the first one led to has happened.
type lateTools struct {
	Tools
	armed *atomic.Bool
	over  chan struct{}
}

func (x lateTools) Decide(ctx context.Context, op tools.Op) tools.Decision {
	if x.armed.CompareAndSwap(true, false) {
		close(x.over)
	}
	return x.Tools.Decide(ctx, op)
}

// lateWorkspace makes an edit only after its turn was cancelled.
type lateWorkspace struct {
	tools.Workspace
	*stuck
}

func (w lateWorkspace) Apply(ctx context.Context, e tools.Edit) (tools.Applied, error) {
	w.wait(ctx)
	return w.Workspace.Apply(context.WithoutCancel(ctx), e)
}

type lateRig struct {
	*rig
	w lateWorkspace
}

func (r lateRig) Workspace(string) (tools.Workspace, error) { return r.w, nil }

// countingChecker counts checks.
type countingChecker struct {
	Checker
	n atomic.Int32
}

func (c *countingChecker) AfterEdit(ctx context.Context, ws string, edited []string) []checker.Result {
	c.n.Add(1)
	return c.Checker.AfterEdit(ctx, ws, edited)
}

// TestWhatComesAfterACancelLeadsToNothing cancels a turn while its first call waits
// for the person or for the editor, and lets that return. An answer is not recorded
// and grants nothing; an edit that was made is recorded, and not checked.
func TestWhatComesAfterACancelLeadsToNothing(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		held  func(*rig, *stuck) Editor
		late  string
	}{
		"an answer": {`exec: {argv: [touch, b.txt]}`, func(r *rig, s *stuck) Editor {
			r.answer = func(ctx context.Context, _ Question) Answer {
				s.wait(ctx)
				return Answer{Decision: AllowSession}
			}
			return r
		}, ""},
		"an edit": {`write: {path: new.go, text: "package main\n"}`, func(r *rig, s *stuck) Editor {
			return lateRig{r, lateWorkspace{r.disk, s}}
		}, "result 2 completed: created new.go: 1 line\nnote what the cancelled call write did all the same, or until it was stopped: created new.go: 1 line\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, broken, "version: 1\nentries:\n  - {when: \"1/1\", calls: [{"+c.first+"}, {exec: {argv: [ls]}}]}\n")
			r.Shutdown()
			var armed atomic.Bool
			over, inner := make(chan struct{}), r.cfg.Tools
			r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
				x, err := inner(ws)
				return lateTools{x, &armed, over}, err
			}
			check := &countingChecker{Checker: r.cfg.Checker}
			r.cfg.Checker = check
			s := newStuck()
			r.Manager = NewManager(r.cfg, c.held(r, s))
			id := mustPrompt(t, r, "work")
			r.await(s.entered, "the work to begin")
			if ok, err := r.Cancel(t.Context(), &id, nil); !ok || err != nil {
				t.Fatalf("cancel returned %v, %v", ok, err)
			}
			r.result(id, 1)
			before := r.kinds()
			armed.Store(true)
			close(s.release)
			r.await(over, "the first call to return")
			if after := r.kinds(); after != before+c.late {
				t.Errorf("what came late changed the transcript from\n%s to\n%s", before, after)
			}
			if n := check.n.Load(); n != 0 {
				t.Errorf("%d checks for a cancelled turn", n)
			}
		})
	}
}
