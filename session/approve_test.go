package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
)

const askingScript = `
version: 1
entries:
  - {when: "1/1", calls: [{write: {path: n1, text: x}}, {write: {path: n2, text: x}}, {write: {path: n3, text: x}}, {write: {path: n4, text: x}}, {write: {path: n5, text: x}}, {exec: {argv: [cat, n1]}}]}
  - {when: "1/2", text: One.}
`

// asking starts a session in which every change is asked about.
func asking(t *testing.T, always func(tools.Rule) error, answer func(Question) Answer) *rig {
	t.Helper()
	r := start(t, nil, askingScript)
	r.cfg.AllowAlways = always
	r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
		return tools.New(tools.Config{Workspace: ws, Policy: tools.Policy{Mode: tools.ModeAsk}})
	}
	r.Manager = NewManager(r.cfg, r)
	r.answer = func(_ context.Context, q Question) Answer { return answer(q) }
	done := r.next(event.KindDone)
	mustPrompt(t, r, "first")
	r.await(done, "the end")
	return r
}

// TestTheFourthQuestionOfAKindProposesTheRuleFirst allows each write once.
func TestTheFourthQuestionOfAKindProposesTheRuleFirst(t *testing.T) {
	r := asking(t, func(tools.Rule) error { return nil }, func(Question) Answer { return Answer{Decision: AllowOnce} })
	usual, rule := []Decision{AllowOnce, AllowSession, AllowAlways, Deny}, []Decision{AllowAlways, AllowSession, AllowOnce, Deny}
	want := [][]Decision{usual, usual, usual, rule, rule, usual}
	if len(r.asked) != len(want) {
		t.Fatalf("%d questions: %+v", len(r.asked), r.asked)
	}
	for i, q := range r.asked {
		if !slices.Equal(q.Decisions, want[i]) {
			t.Errorf("question %d (%s) offers %v, want %v", i+1, q.Title, q.Decisions, want[i])
		}
	}
	if last := r.asked[5].Detail; !strings.HasSuffix(last, "\n\nFor this session: exactly this command.\nAlways: exec: [cat, n1, $]") {
		t.Errorf("the question is %q", last)
	}
}

// TestEachDecisionCoversWhatItSays has the first question answered in each way.
func TestEachDecisionCoversWhatItSays(t *testing.T) {
	for _, tt := range []struct {
		name     string
		decision Decision
		always   func(tools.Rule) error
		asked    int
		recorded string
	}{
		{"once", AllowOnce, nil, 6, "allow_once"},
		{"session", AllowSession, nil, 2, "allow_session"},
		{"a rule that cannot be written", AllowAlways, func(tools.Rule) error { return errors.New("read-only") }, 2, "allow_session"},
		{"always where that is not offered", AllowAlways, nil, 6, "deny"},
		{"nothing that there is", "perhaps", nil, 6, "deny"},
	} {
		first := true
		r := asking(t, tt.always, func(Question) Answer {
			if first {
				first = false
				return Answer{Decision: tt.decision}
			}
			return Answer{Decision: Deny, Reason: "no"}
		})
		if len(r.asked) != tt.asked {
			t.Errorf("%s: %d questions, want %d", tt.name, len(r.asked), tt.asked)
		}
		for _, p := range r.events {
			if a, ok := p.(*event.Approval); ok && a.State == "answered" {
				if a.Decision != tt.recorded {
					t.Errorf("%s: recorded %+v, want %s", tt.name, a, tt.recorded)
				}
				break
			}
		}
	}
}
