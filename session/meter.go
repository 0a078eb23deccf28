package session

import (
	"fmt"
	"sync"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
)

// meter counts what a session used, from its transcript, so that a restart changes
// nothing. It is safe for concurrent use.
type meter struct {
	mu    sync.Mutex
	turn  uint64                 // of the last reply
	used  map[string]model.Usage // in that turn, by profile
	total map[string]model.Usage // in the session, by profile
	last  model.Usage            // of the last reply of a conversation
	by    string                 // its profile
}

// add counts an event and reports whether it had anything to count.
func (m *meter) add(p event.Payload) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch p := p.(type) {
	case *event.Message:
		m.count(p.Turn, p.Profile, p.Usage)
		m.last, m.by = p.Usage, p.Profile
	case *event.Summary:
		m.count(p.Turn, p.Profile, p.Usage)
	case *event.Usage:
		m.count(p.Turn, p.Profile, p.Usage)
	default:
		return false
	}
	return true
}

func (m *meter) count(turn uint64, profile string, u model.Usage) {
	if turn != m.turn || m.used == nil {
		m.turn, m.used = turn, map[string]model.Usage{}
	}
	if m.total == nil {
		m.total = map[string]model.Usage{}
	}
	for _, by := range []map[string]model.Usage{m.used, m.total} {
		sum := by[profile]
		sum.Add(u)
		by[profile] = sum
	}
}

// read returns the meter as clients see it, at the prices of the profiles.
func (m *meter) read(s *Session, settings Settings) Meter {
	m.mu.Lock()
	defer m.mu.Unlock()
	by, _ := settings.profile(m.by)
	return Meter{
		Session: s.id, Turn: m.turn, Usage: priced(m.used, settings), Total: priced(m.total, settings),
		Context: Context{Used: m.last.Input + m.last.Output, Size: uint64(by.Context)},
	}
}

// priced adds up what profiles used.
func priced(by map[string]model.Usage, settings Settings) Usage {
	var sum model.Usage
	var out Usage
	for name, u := range by {
		sum.Add(u)
		p, _ := settings.profile(name)
		out.Cost += p.Price.Of(u)
	}
	out.Input, out.CachedInput, out.Output, out.Reasoning = sum.Input, sum.CachedInput, sum.Output, sum.Reasoning
	out.Estimated = sum.Estimated
	return out
}

// used is what the session used so far.
func (s *Session) used() Meter {
	s.mu.Lock()
	settings := s.settings
	s.mu.Unlock()
	return s.journal.meter.read(s, settings)
}

// tooDear ends a turn that the person does not want to cost more.
type tooDear struct{ text string }

func (e *tooDear) Error() string { return e.text }

// afford asks the person before a request that would pass a limit on cost, which
// then is one more of its kind away.
func (q *requester) afford(t *turn, p model.Profile, bytes int) error {
	used := q.s.used()
	if used.Turn != t.id {
		used.Usage = Usage{}
	}
	next := p.Price.Of(model.Usage{Input: uint64(float64(bytes) / q.perToken())})
	for _, l := range []struct {
		what    string
		limit   float64
		granted *float64
		spent   float64
	}{
		{"this turn", t.settings.TurnCost, &t.granted, used.Usage.Cost},
		{"this session", t.settings.SessionCost, &q.granted, used.Total.Cost},
	} {
		q.mu.Lock() // a canceled turn's request may be under way
		may := l.limit + *l.granted
		q.mu.Unlock()
		if l.limit <= 0 || l.spent+next <= may {
			continue
		}
		title := fmt.Sprintf("%s has cost $%.4f of the $%.2f that it may", l.what, l.spent, may)
		a := q.s.editor.Approve(t.ctx, Question{
			Session: q.s.id, Turn: t.id, Title: "Go on? " + title, Decisions: []Decision{AllowOnce, Deny},
			Choices: []Choice{{AllowOnce, "Go on"}, {Deny, "Stop here"}},
			Detail:  fmt.Sprintf("The next request to %s costs about $%.4f. Allowed, it may go on for $%.2f more; denied, the turn ends here and nothing is lost.", p.Name, next, l.limit),
		})
		if a.Decision != AllowOnce {
			return &tooDear{"stopped: " + title + "; raise limits in the configuration, or prompt again to be asked again"}
		}
		q.mu.Lock()
		*l.granted += max(l.limit, l.spent+next-may)
		q.mu.Unlock()
	}
	return nil
}

// estimate is the usage of a reply whose provider gave none.
func (q *requester) estimate(bytes int, resp *model.Response) model.Usage {
	n := 0
	for _, text := range []*string{resp.Text, resp.Reasoning} {
		if text != nil {
			n += len(*text)
		}
	}
	for _, c := range resp.Calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return model.Usage{
		Input: uint64(float64(bytes) / q.perToken()), Output: uint64(float64(n) / q.perToken()), Estimated: true,
	}
}
