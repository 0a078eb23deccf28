package session

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
)

// stopping are tools whose commands need something that the sandbox keeps from them,
// until they are run again.
type stopping struct {
	*tools.Executor
	stopped bool
}

func (s *stopping) Run(ctx context.Context, op tools.Op, label string) tools.Outcome {
	if s.stopped {
		return s.Executor.Run(ctx, op, label)
	}
	s.stopped = true
	return tools.Outcome{State: tools.Failed, Text: "exit code 1\n[no network in the sandbox]", Touched: []string{"b.txt"}, Again: &tools.Again{
		Op: op, Title: "`cat a.txt` was stopped: no network", Detail: "cat a.txt", Yes: "Run again with network", Always: "Always for `cat a.txt` here", No: "Keep offline",
	}}
}

// TestACallThatWasStoppedRunsAgain is about each answer to the second question.
func TestACallThatWasStoppedRunsAgain(t *testing.T) {
	for _, c := range []struct {
		decision Decision
		text     []string
	}{
		{AllowOnce, []string{"exit code 0\na", "it ran twice"}},
		{AllowSession, []string{"exit code 0\na", "it ran twice"}},
		{Deny, []string{"exit code 1\n[no network in the sandbox]\n[not run again with network: not now]"}},
	} {
		t.Run(string(c.decision), func(t *testing.T) {
			r := start(t, map[string]string{"a.txt": "a\n"}, stoppedScript)
			stops(r)
			r.answer = func(_ context.Context, q Question) Answer {
				if q.Choices == nil {
					return Answer{Decision: AllowOnce}
				}
				return Answer{Decision: c.decision, Reason: "not now"}
			}
			done := r.next(event.KindDone)
			mustPrompt(t, r, "first")
			r.await(done, "the end")
			got := resultsOf(r)
			if len(got) != 1 {
				t.Fatalf("%d results: %v", len(got), got)
			}
			for _, want := range c.text {
				if !strings.Contains(got[0].Text, want) {
					t.Errorf("the result is %q, without %q", got[0].Text, want)
				}
			}
			if len(r.asked) != 2 || len(r.asked[1].Choices) != 3 || r.asked[1].Choices[2] != (Choice{Deny, "Keep offline"}) {
				t.Errorf("asked: %+v", r.asked)
			}
		})
	}
}

const stoppedScript = `
version: 1
entries:
  - {when: "1/1", calls: [{exec: {argv: [cat, a.txt]}}]}
  - {when: "1/2", text: One.}
`

func stops(r *rig) {
	r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
		e, err := tools.New(tools.Config{Workspace: ws, Policy: tools.Policy{Mode: tools.ModeAsk}})
		return &stopping{Executor: e}, err
	}
	r.Manager = NewManager(r.cfg, r)
}

func resultsOf(r *rig) (out []*event.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.events {
		if res, ok := p.(*event.Result); ok {
			out = append(out, res)
		}
	}
	return out
}

// TestACallBetweenTwoRunsIsNotUnbegun has the server end while the person is asked
// whether a call runs once more: it has run.
func TestACallBetweenTwoRunsIsNotUnbegun(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, stoppedScript)
	stops(r)
	again := make(chan struct{})
	r.answer = func(ctx context.Context, q Question) Answer {
		if q.Choices == nil {
			return Answer{Decision: AllowOnce}
		}
		close(again)
		<-ctx.Done()
		return Answer{Decision: Deny}
	}
	id := mustPrompt(t, r, "first")
	r.await(again, "the second question")
	r.Shutdown()
	next := over(t, r.dir, r.store, stoppedScript)
	got, err := next.Resume(t.Context(), id)
	if err != nil || len(got.Interrupted) != 1 || !strings.Contains(got.Interrupted[0], "while this call ran; it may have taken effect") {
		t.Errorf("%+v, %v", got, err)
	}
}
