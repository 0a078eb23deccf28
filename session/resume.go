package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// ErrDiverged is matched when the core, replaying a journal, does not mint the
// actions that the journal holds. The session is left as it is.
var ErrDiverged = errors.New("the journal and the core disagree")

// Resume goes on with a stored session: the newest intact snapshot, the events
// after it, and what was under way. Effects that may have happened are reported
// and never run again by themselves.
func (m *Manager) Resume(ctx context.Context, id uuid.UUID) (Resumed, error) {
	if s, err := m.session(id); err == nil {
		return Resumed{Head: s.journal.next(), State: s.info().State}, nil
	}
	st, err := m.cfg.Store(ctx)
	if err != nil {
		return Resumed{}, fmt.Errorf("open the session store: %w", err)
	}
	rec, ok, err := st.Get(ctx, id)
	switch {
	case err != nil:
		return Resumed{}, fmt.Errorf("read session %s: %w", id, err)
	case !ok:
		return Resumed{}, &ArgumentError{"session", fmt.Sprintf("%s is not known", id)}
	}
	m.mu.Lock()
	profile, known := m.settings.Profiles[rec.Harness]
	if !known {
		rec.Harness = m.settings.Profile
		profile = m.settings.Profiles[rec.Harness]
	}
	m.mu.Unlock()
	profile.Name = rec.Harness
	s, err := m.make(id, rec.Root, profile, st)
	if err != nil {
		return Resumed{}, err
	}
	s.record, s.resumed = rec, true
	if err := s.lease(ctx); err != nil {
		return Resumed{}, err
	}
	log, err := s.read(ctx)
	if err == nil {
		err = s.replay(ctx, log)
	}
	if err != nil {
		s.discard(ctx)
		return Resumed{}, err
	}
	if err := m.adopt(s); err != nil {
		s.discard(ctx)
		return Resumed{}, err
	}
	out := Resumed{Head: s.journal.next(), State: "idle", Interrupted: s.interrupted(log)}
	if len(s.queue) > 0 {
		out.State = "running"
		s.mail.post(func() { s.goOn(log) })
	}
	return out, nil
}

// discard gives back what a session that never started holds.
func (s *Session) discard(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if s.core != nil {
		s.core.Close(ctx) //nolint:errcheck // the session is refused for another reason
	}
	s.release(ctx)
}

// log is a session's transcript with what is under way at its end.
type log struct {
	events  []logged
	intents map[uint64]*event.Approval // by call: what an edit was about to do
	ask     *ask                       // the model call that awaits its answer
	rounds  map[uint64]int             // by turn
	calls   []*call                    // dispatched, not answered
}

type logged struct {
	event   store.Event
	payload event.Payload
}

// read decodes and folds the whole transcript and rebuilds the turns that are
// under way.
func (s *Session) read(ctx context.Context) (*log, error) {
	l := &log{intents: map[uint64]*event.Approval{}, rounds: map[uint64]int{}}
	open := map[uint64]*turn{}
	waiting := map[uint64]*call{}
	seen := map[string]string{}
	for e, err := range s.journal.store.Transcript(ctx, s.id, nil) {
		if err != nil {
			return nil, fmt.Errorf("read the transcript of session %s: %w", s.id, err)
		}
		p, err := event.Decode(e.Payload.Data)
		if err != nil {
			return nil, fmt.Errorf("transcript event %d of session %s: %w", e.Index, s.id, err)
		}
		if err := s.journal.replayed(e, p); err != nil {
			return nil, err
		}
		l.events = append(l.events, logged{e, p})
		switch p := p.(type) {
		case *event.User:
			open[p.Turn] = s.reopen(p)
		case *event.Ask:
			l.rounds[p.Turn] = p.Round
			if t := open[p.Turn]; t != nil {
				t.round = p.Round
				l.ask = &ask{turn: t, id: p.ID, round: p.Round, event: p}
			}
		case *event.Message:
			s.answered = append(s.answered, answered{p.Profile, stepOf(p.Turn, l.rounds[p.Turn]), p.ProviderID})
			if !p.Refused {
				l.ask = nil
			}
		case *event.Call:
			if t := open[p.Turn]; t != nil && p.Dispatched {
				c := &call{id: p.ID, index: e.Index, name: p.Name, args: p.Arguments, op: *p.Call}
				waiting[p.ID], t.calls[p.ID] = c, c
			}
		case *event.Approval:
			if p.Edit != nil {
				l.intents[p.ID] = p
			}
		case *event.Result:
			if p.Edit != nil {
				seen[p.Edit.Path] = p.Edit.After
			}
			// What the model was shown wins: after an edit that was merged with
			// another one it is not all that the file holds.
			if c := waiting[p.ID]; c != nil && p.Read != "" {
				seen[path.Clean(pathOf(c.op))] = p.Read
			}
			if t := open[p.Turn]; t != nil {
				if c := waiting[p.ID]; c != nil {
					t.watch(c, p)
				}
				delete(t.calls, p.ID)
			}
			delete(waiting, p.ID)
		case *event.Summary:
			s.answered = append(s.answered, answered{p.Profile, stepOf(p.Turn, 0), p.ProviderID})
		case *event.Error:
			if l.ask != nil && p.Cancels {
				s.answered = append(s.answered, answered{l.ask.event.Profile, stepOf(p.Turn, l.rounds[p.Turn]), ""})
			}
		case *event.Done:
			if t := open[p.Turn]; t != nil {
				s.queue = remove(s.queue, t)
				t.over, t.ended, t.result = true, true, TurnResult{Outcome: p.Outcome}
				close(t.done)
				delete(open, p.Turn)
			}
			if l.ask != nil && l.ask.turn.id == p.Turn {
				l.ask = nil
			}
		}
	}
	l.calls = sortedCalls(waiting)
	s.tools.Remember(seen)
	if v, ok := s.clock.(*clock.Virtual); ok && len(l.events) > 0 {
		v.Reach(l.events[len(l.events)-1].event.At)
	}
	return l, nil
}

// reopen rebuilds a turn that was accepted before.
func (s *Session) reopen(u *event.User) *turn {
	t := &turn{id: u.Turn, prompt: u.Text, settings: s.settings, done: make(chan struct{}), calls: map[uint64]*call{}}
	s.queue = append(s.queue, t)
	s.turns[t.id] = t
	s.nextTurn = max(s.nextTurn, t.id)
	return t
}

// replay brings the core to where the journal ends: from the newest snapshot
// that is intact, else from the one before, else from nothing.
func (s *Session) replay(ctx context.Context, l *log) error {
	c, err := s.cfg.Core(ctx)
	if err != nil {
		return fmt.Errorf("open the agent's core: %w", err)
	}
	snapshots, err := s.journal.store.Snapshots(ctx, s.id)
	if err != nil {
		return fmt.Errorf("read the snapshots of session %s: %w", s.id, err)
	}
	next := uint64(0)
	for _, snap := range snapshots {
		if snap.At >= uint64(len(l.events)) {
			s.log.Warn("skip a snapshot from beyond the transcript", "session", s.id, "at", snap.At)
			continue
		}
		if s.core, err = c.Restore(ctx, snap.State); err == nil {
			next = snap.At + 1
			break
		}
		s.log.Warn("skip a damaged snapshot", "session", s.id, "at", snap.At, "err", err)
	}
	if s.core == nil {
		if s.core, err = c.New(ctx, core.Config{}); err != nil {
			return fmt.Errorf("open the agent's core: %w", err)
		}
	}
	return s.feed(ctx, l, next)
}

// feed steps the core with the journal's events from index next on and compares
// what it mints with what the journal holds.
func (s *Session) feed(ctx context.Context, l *log, next uint64) error {
	shadow := ledger{profile: s.profile}
	calls := map[uint64]core.Call{}
	for i, e := range l.events {
		if err := shadow.follow(e.payload, uint64(i) < next); err != nil {
			return err
		}
		if c, ok := e.payload.(*event.Call); ok && c.Dispatched {
			calls[c.ID] = *c.Call
		}
		if uint64(i) < next {
			continue
		}
		ev, ok := causeOf(e.payload, calls)
		if !ok {
			continue
		}
		actions, err := s.core.Step(ctx, ev)
		if err != nil {
			return fmt.Errorf("replay event %d of session %s: %w", i, s.id, err)
		}
		plan := shadow.plan(actions, []event.Payload{e.payload})
		plan.place(uint64(i))
		if err := s.compare(l, i, plan.payloads[1:]); err != nil {
			return err
		}
	}
	s.asked = shadow.asked
	return nil
}

// follow keeps the ledger's turns at what the transcript says. Events that a
// snapshot covers are not planned again, so they count their asks here.
func (l *ledger) follow(p event.Payload, covered bool) error {
	switch p := p.(type) {
	case *event.User:
		l.queue = append(l.queue, &turn{id: p.Turn, calls: map[uint64]*call{}})
	case *event.Ask:
		if covered {
			for _, t := range l.queue {
				if t.id == p.Turn {
					t.round = p.Round
				}
			}
			return l.asked.resume(p)
		}
	case *event.Done:
		for _, t := range l.queue {
			if t.id == p.Turn {
				l.queue = remove(l.queue, t)
			}
		}
	}
	return nil
}

// causeOf is the core's event that a transcript event stands for; false for one
// that the core never saw.
func causeOf(p event.Payload, calls map[uint64]core.Call) (core.Event, bool) {
	switch p := p.(type) {
	case *event.User:
		return core.Event{Turn: &core.Turn{ID: p.Turn, Prompt: promptText(p)}}, true
	case *event.Message:
		if p.Refused {
			return core.Event{}, false
		}
		typed := make([]core.Call, len(p.Calls))
		for i, fc := range p.Calls {
			typed[i] = mustType(fc)
		}
		return core.Event{Model: &core.Answer{ID: p.Ask, Reply: core.Reply{Text: p.Text, Calls: typed}}}, true
	case *event.Result:
		// A call that the core refused has no action, and one that a cancel
		// answered is not awaited any more: the core ignores it again.
		op, ok := calls[p.ID]
		if !ok || p.State == event.Cancelled {
			return core.Event{}, false
		}
		return outputOf(&call{id: p.ID, op: op}, p), true
	case *event.Note:
		return core.Event{Cancel: &core.Cancel{Turn: p.Turn}}, p.Cancels
	case *event.Error:
		return core.Event{Cancel: &core.Cancel{Turn: p.Turn}}, p.Cancels
	}
	return core.Event{}, false
}

// compare holds what the event at index i causes against the events that follow
// it. Which profile was asked is the configuration's, not the core's.
func (s *Session) compare(l *log, i int, want []event.Payload) error {
	at := i + 1
	for _, w := range want {
		// A cancel writes the results of what it cut off before its own actions.
		for at < len(l.events) && isCancelResult(l.events[at].payload) {
			at++
		}
		if a, ok := w.(*event.Ask); ok && at < len(l.events) {
			if kept, ok := l.events[at].payload.(*event.Ask); ok {
				a.Profile = kept.Profile
			}
		}
		minted, err := event.Encode(w)
		if err != nil {
			return err
		}
		if at >= len(l.events) {
			return fmt.Errorf("%w: session %s: after event %d the core mints %s, the journal ends", ErrDiverged, s.id, i, minted)
		}
		if kept := l.events[at].event.Payload.Data; !bytes.Equal(kept, minted) {
			return fmt.Errorf("%w: session %s, event %d: the core mints %s, the journal has %s", ErrDiverged, s.id, at, minted, kept)
		}
		at++
	}
	return nil
}

func isCancelResult(p event.Payload) bool {
	r, ok := p.(*event.Result)
	return ok && r.State == event.Cancelled
}
