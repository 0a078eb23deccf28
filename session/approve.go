package session

import (
	"slices"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
)

// approve asks the person about a call and returns true when it may be performed, else
// its outcome. With choices, the question is whether a call that has run runs once more.
func (s performer) approve(t *turn, p *performed, choices []Choice) (tools.Outcome, bool) {
	d := p.decision
	failed := func(err error) (tools.Outcome, bool) {
		return tools.Outcome{State: tools.Failed, Text: "not run: " + err.Error()}, false
	}
	q := s.question(t, p, choices)
	asked := &event.Approval{Turn: t.id, ID: p.call.id, State: "asked", Title: q.Title, Detail: q.Detail, Again: choices != nil}
	if _, err := s.journal.record(s.ctx, asked); err != nil {
		return failed(err)
	}
	s.setDoing(waitingPrefix + asked.Title)
	a := s.editor.Approve(t.ctx, q)
	if t.ctx.Err() != nil {
		return tools.Outcome{State: tools.Cancelled, Text: cancelledText}, false
	}
	if !slices.Contains(q.Decisions, a.Decision) {
		a = Answer{Decision: Deny, Reason: "the decision was none of those that were offered"}
	}
	if a.Decision == AllowAlways {
		if err := s.cfg.AllowAlways(d.Lasting.Rule); err != nil {
			s.log.Error("write a rule", "rule", d.Lasting.Rule.String(), "err", err)
			a = Answer{Decision: AllowSession, Reason: "the rule could not be written, so it holds for this session only: " + err.Error()}
		}
	}
	if _, err := s.journal.record(s.ctx, &event.Approval{
		Turn: t.id, ID: p.call.id, State: "answered", Decision: string(a.Decision), Reason: a.Reason, Again: choices != nil,
	}); err != nil {
		return failed(err)
	}
	switch a.Decision {
	case AllowSession:
		s.tools.Grant(d.Lasting)
		return tools.Outcome{}, true
	case AllowOnce, AllowAlways:
		return tools.Outcome{}, true
	}
	reason := a.Reason
	if reason == "" {
		reason = "by the user"
	}
	return tools.Outcome{State: tools.Rejected, Text: rejectedPrefix + reason}, false
}

// question returns what the person is asked about a call: behind the command or the
// diff stands what "for this session" and "always" would cover.
func (s performer) question(t *turn, p *performed, choices []Choice) Question {
	d := p.decision
	q := Question{
		Session: s.id, Turn: t.id, ID: p.call.id, Title: d.Title, Detail: d.Detail, Decisions: []Decision{AllowOnce, Deny},
	}
	if choices != nil {
		q.Decisions, q.Choices = nil, choices
		for _, c := range choices {
			q.Decisions = append(q.Decisions, c.Decision)
		}
		return q
	}
	l := d.Lasting
	if l.Words == "" {
		return q
	}
	q.Decisions = []Decision{AllowOnce, AllowSession, Deny}
	often := s.questions.count(l.Words+"\x00"+l.Rule.String()) > patience
	q.Detail = strings.TrimRight(q.Detail, "\n") + "\n\nFor this session: " + l.Words + "."
	if s.cfg.AllowAlways != nil && !l.SessionOnly {
		q.Decisions = []Decision{AllowOnce, AllowSession, AllowAlways, Deny}
		q.Detail += "\nAlways: " + l.Rule.String()
	}
	if often { // the rule first
		last := len(q.Decisions) - 1
		slices.Reverse(q.Decisions[:last])
	}
	return q
}

// patience is how often a session asks for one permission before its questions propose
// the lasting one first.
const patience = 3

// tally counts the questions of a session by what they ask for.
type tally struct {
	mu     sync.Mutex // guards counts
	counts map[string]int
}

// count counts a question, and returns how many of its kind there were with it.
func (t *tally) count(kind string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[kind]++
	return t.counts[kind]
}
