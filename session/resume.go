package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/google/uuid"
)

// ErrDiverged is matched when the core, replaying a journal, does not emit the
// actions that the journal has. The session is left as it is.
var ErrDiverged = errors.New("the journal and the core disagree")

// Resume goes on with a stored session: the newest intact snapshot, the events
// after it, and what was under way. Effects that may have happened are reported
// and never run again by themselves.
func (m *Manager) Resume(ctx context.Context, id uuid.UUID) (Resumed, error) {
	release, err := m.alone(ctx, id)
	if err != nil {
		return Resumed{}, err
	}
	defer release()
	if s, err := m.session(id); err == nil {
		if s.ended() == nil {
			return Resumed{Head: s.journal.next(), State: s.info().State}, nil
		}
		if s.journal.failure() != nil {
			return Resumed{}, s.ended() // what is in memory is not in the store
		}
		m.end(s)
	}
	s, lost, err := m.stored(ctx, id)
	if err != nil {
		return Resumed{}, err
	}
	if err := s.lease(ctx); err != nil {
		s.discard(ctx)
		return Resumed{}, err
	}
	log, err := readLog(ctx, s)
	if err == nil {
		err = log.replay(ctx, s)
	}
	if err == nil {
		err = log.restoreMode(ctx, s)
	}
	if err == nil {
		err = log.restoreJobs(ctx, s)
	}
	if err == nil && lost != "" {
		_, err = s.journal.record(ctx, &event.Note{Text: fmt.Sprintf(
			"profile %s of this session is not configured any more; it goes on with profile %s", lost, s.record.Harness)})
	}
	if err != nil {
		s.discard(ctx)
		return Resumed{}, err
	}
	out := Resumed{Head: s.journal.next(), State: "idle", Interrupted: log.interrupted(ctx, s)}
	var first func()
	s.backlog.paused = len(s.queue) == 0
	if len(s.queue) > 0 {
		out.State = "running"
		first = func() { log.continueTurns(s) }
	}
	if err := m.adopt(s, first); err != nil {
		s.discard(ctx)
		return Resumed{}, err
	}
	return out, nil
}

// stored makes the session of a stored record, which has no lease yet. lost is
// the record's profile where the configuration has it no more and the session got
// another one.
func (m *Manager) stored(ctx context.Context, id uuid.UUID) (s *Session, lost string, err error) {
	st, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("open the session store: %w", err)
	}
	rec, ok, err := st.Get(ctx, id)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("read session %s: %w", id, err)
	case !ok:
		return nil, "", &ArgumentError{"session", fmt.Sprintf("%s is not known", id)}
	}
	m.mu.Lock()
	settings := m.settings.of(rec.Root)
	profile, known := settings.profile(rec.Harness)
	if !known {
		lost, rec.Harness = rec.Harness, settings.Profile
		profile, _ = settings.profile(rec.Harness)
	}
	m.mu.Unlock()
	if s, err = m.make(id, rec.Root, profile, st); err != nil {
		return nil, "", err
	}
	s.record, s.resumed = rec, true
	return s, lost, nil
}

// discard releases what a session that never started has taken.
func (s *Session) discard(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if s.core != nil {
		s.core.Close(ctx) //nolint:errcheck // the session is refused for another reason
	}
	s.release(ctx)
	s.closeTools()
}

// closeTools ends the session's tools where they have something to close.
func (s *Session) closeTools() {
	if c, ok := s.tools.(io.Closer); ok {
		if err := c.Close(); err != nil {
			s.log.Warn("close the session's tools", "session", s.id, "err", err)
		}
	}
}

// replay brings the core to where the journal ends: from the newest snapshot
// that is intact, else from the one before, else from nothing.
func (l *log) replay(ctx context.Context, s *Session) error {
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
	return l.replayFrom(ctx, s, next)
}

// replayFrom steps the core with the journal's events from index next on and compares
// what it emits with what the journal has.
func (l *log) replayFrom(ctx context.Context, s *Session, next uint64) error {
	shadow := ledger{profile: s.profile}
	calls := map[uint64]core.Call{}
	emitted := int(next) // the events before it are causes or were compared
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
		if i >= emitted && isAction(e.payload) {
			return fmt.Errorf("%w: session %s, event %d: the core emits nothing, the journal has %s", ErrDiverged, s.id, i, e.event.Payload.Data)
		}
		ev, ok := causeOf(e.payload, calls, &shadow, l.events[i+1:])
		if !ok {
			continue
		}
		actions, err := s.stepCore(ctx, ev)
		if err != nil {
			return fmt.Errorf("replay event %d of session %s: %w", i, s.id, err)
		}
		plan := shadow.plan(actions, callsIn(ev), []event.Payload{e.payload})
		plan.place(uint64(i))
		behind, err := l.compare(s, i, plan.payloads[1:])
		if err != nil {
			return err
		}
		emitted = max(emitted, behind)
	}
	s.asked = shadow.asked
	return nil
}

// follow keeps the ledger's turns at what the transcript says. Events that a
// snapshot covers are not planned again, so they count their asks here.
func (l *ledger) follow(p event.Payload, covered bool) error {
	switch p := p.(type) {
	case *event.User:
		l.enter(&turn{id: p.Turn, calls: map[uint64]*call{}}, p.InCore())
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
// that the core never saw. Calls are by id; turns are those under way, the event's
// among them; behind are the events after it.
func causeOf(p event.Payload, calls map[uint64]core.Call, turns *ledger, behind []logged) (core.Event, bool) {
	switch p := p.(type) {
	case *event.User:
		return core.Event{Turn: &core.Turn{ID: p.InCore(), Prompt: promptText(p)}}, true
	case *event.Message:
		if p.Refused {
			return core.Event{}, false
		}
		return core.Event{Model: &core.Answer{ID: p.Ask, Reply: core.Reply{Text: p.Text, Calls: callsBehind(behind, len(p.Calls))}}}, true
	case *event.Result:
		// A call that the core refused has no action, and one that a cancel
		// ended is not awaited any more: the core ignores it again.
		op, ok := calls[p.ID]
		if !ok || p.State == event.Cancelled {
			return core.Event{}, false
		}
		return outputOf(&call{id: p.ID, op: op}, p), true
	case *event.Note:
		return core.Event{Cancel: &core.Cancel{Turn: turns.inCore(p.Turn)}}, p.Cancels
	case *event.Error:
		return core.Event{Cancel: &core.Cancel{Turn: turns.inCore(p.Turn)}}, p.Cancels
	}
	return core.Event{}, false
}

// callsBehind are the n calls of a reply as they were typed when it came: the
// tools may be others by now.
func callsBehind(events []logged, n int) []core.Call {
	calls := make([]core.Call, 0, n)
	for _, e := range events {
		if len(calls) == n {
			break
		}
		if c, ok := e.payload.(*event.Call); ok && c.Call != nil {
			calls = append(calls, *c.Call)
		}
	}
	return calls
}

// isAction reports whether only the core causes the event; others the session
// writes by itself, such as a further attempt of a request.
func isAction(p event.Payload) bool {
	switch p := p.(type) {
	case *event.Ask:
		return p.Attempt == 1
	case *event.Call:
		return p.ID != 0
	case *event.Done:
		return p.ID != 0
	case *event.Emit:
		return true
	}
	return false
}

// compare compares what the event at index i causes with the events that follow
// it, and returns the index behind them. Which profile was asked is the
// configuration's, not the core's.
func (l *log) compare(s *Session, i int, want []event.Payload) (int, error) {
	at := i + 1
	for _, w := range want {
		// A cancel writes the results of what it cut off before its own actions.
		for at < len(l.events) && isCancelResult(l.events[at].payload) {
			at++
		}
		if at < len(l.events) {
			asJournaled(w, l.events[at].payload)
		}
		if at < len(l.events) && dismissed(w, l.events[at].payload) {
			at++
			continue
		}
		emitted, err := event.Encode(w)
		if err != nil {
			return 0, err
		}
		if at >= len(l.events) {
			return 0, fmt.Errorf("%w: session %s: after event %d the core emits %s, the journal ends", ErrDiverged, s.id, i, emitted)
		}
		if kept := l.events[at].event.Payload.Data; !bytes.Equal(kept, emitted) {
			return 0, fmt.Errorf("%w: session %s, event %d: the core emits %s, the journal has %s", ErrDiverged, s.id, at, emitted, kept)
		}
		at++
	}
	return at, nil
}

// dismissed reports whether the journal has an end of the host's own where the core
// emits that of a cancelled turn.
func dismissed(emitted, kept event.Payload) bool {
	m, ok := emitted.(*event.Done)
	k, own := kept.(*event.Done)
	return ok && own && k.ID == 0 && k.Turn == m.Turn
}

// asJournaled adds to what the core emitted what the core does not know of it, and
// what programs before wrote in another way.
func asJournaled(emitted, kept event.Payload) {
	switch w := emitted.(type) {
	case *event.Ask:
		if k, ok := kept.(*event.Ask); ok {
			w.Profile = k.Profile
		}
	case *event.Done:
		// Programs before called a failed turn cancelled.
		if k, ok := kept.(*event.Done); ok && w.Outcome == "failed" && k.Outcome == "cancelled" {
			w.Outcome = k.Outcome
		}
	case *event.Call:
		// What is said of a call was true when it came.
		if k, ok := kept.(*event.Call); ok {
			w.Title, w.Effect = k.Title, k.Effect
		}
	}
}

func isCancelResult(p event.Payload) bool {
	r, ok := p.(*event.Result)
	return ok && r.State == event.Cancelled
}
