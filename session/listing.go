package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// infoOf is a record as clients see it.
func infoOf(r store.Session) Info {
	i := Info{
		ID: r.ID, Root: r.Root, Profile: r.Harness, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Turns: r.Turns, State: "stored",
	}
	if r.Title != nil {
		i.Title = *r.Title
	}
	return i
}

// List returns the stored and the running sessions, of every root.
func (m *Manager) List(ctx context.Context) (Listing, error) {
	st, err := m.cfg.Store(ctx)
	if err != nil {
		return Listing{}, fmt.Errorf("open the session store: %w", err)
	}
	stored, err := st.List(ctx)
	if err != nil {
		return Listing{}, fmt.Errorf("list sessions: %w", err)
	}
	out := Listing{Sessions: []Info{}, Undecodable: stored.Undecodable}
	if out.Undecodable == nil {
		out.Undecodable = []store.Undecodable{}
	}
	seen := map[uuid.UUID]bool{}
	records := map[uuid.UUID]*Session{}
	for _, s := range m.all() {
		records[s.id] = s
	}
	list := func(i Info) { out.Sessions = append(out.Sessions, i) }
	for _, r := range stored.Sessions {
		seen[r.ID] = true
		if s, ok := records[r.ID]; ok {
			list(s.info())
		} else {
			list(infoOf(r))
		}
	}
	for id, s := range records {
		if !seen[id] { // never saved
			list(s.info())
		}
	}
	slices.SortFunc(out.Sessions, func(a, b Info) int {
		return orderRecords(store.Session{ID: a.ID, CreatedAt: a.CreatedAt}, store.Session{ID: b.ID, CreatedAt: b.CreatedAt})
	})
	return out, nil
}

// Close suspends a session of this process; it can be resumed. What it was sent
// before is in its transcript.
func (m *Manager) Close(ctx context.Context, id uuid.UUID) error {
	release, err := m.alone(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	s, err := m.session(id)
	if err != nil {
		return err
	}
	if !s.mail.call(ctx, func() {}) && ctx.Err() != nil {
		return ctx.Err()
	}
	m.end(s)
	return nil
}

// end takes a session off the list and waits until nothing of it runs. The caller
// has it alone.
func (m *Manager) end(s *Session) {
	m.mu.Lock()
	delete(m.sessions, s.id)
	maps.DeleteFunc(m.recent, func(_ string, v uuid.UUID) bool { return v == s.id })
	m.mu.Unlock()
	s.close()
}

// Delete ends a session and removes everything that is kept of it. One that
// another process drives is refused with store.ErrLeased.
func (m *Manager) Delete(ctx context.Context, id uuid.UUID) error {
	release, err := m.alone(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	if s, err := m.session(id); err == nil {
		m.end(s)
	}
	st, err := m.cfg.Store(ctx)
	if err != nil {
		return fmt.Errorf("open the session store: %w", err)
	}
	if err := DeleteStored(ctx, st, id); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// Status describes the manager for a status bar and for bug reports.
func (m *Manager) Status() Status {
	m.mu.Lock()
	st := Status{
		Sessions: []Info{}, Turns: []RunningTurn{}, Checks: []CheckerStatus{}, Core: m.coreState, Store: m.storeState,
	}
	m.mu.Unlock()
	for _, s := range m.all() {
		info, used := s.info(), s.used()
		info.Meter = &used
		st.Sessions = append(st.Sessions, info)
		st.Usage.add(used.Total)
		st.Turns = append(st.Turns, s.running()...)
		if err := s.journal.failure(); err != nil {
			st.Store = "sessions are not saved: " + err.Error()
		}
		if err := s.journal.stopped(); err != nil {
			st.Store = "a session waits until it can be saved: " + err.Error()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.checks)) {
		r := m.checks[key]
		st.Checks = append(st.Checks, CheckerStatus{Root: r.Root, Outcome: r.Outcome.String(), Text: r.Text})
	}
	return st
}

// queuedDoing is what a turn does that has not begun.
const queuedDoing = "queued"

// running returns the session's turns that are not over.
func (s *Session) running() []RunningTurn {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, first := []RunningTurn{}, false
	for _, id := range slices.Sorted(maps.Keys(s.turns)) {
		t := s.turns[id]
		if t.ended {
			continue
		}
		r := RunningTurn{Session: s.id, Turn: id, Prompt: t.prompt, Doing: queuedDoing}
		if t.ctx != nil && !first {
			first, r.Doing = true, s.doing
		}
		out = append(out, r)
	}
	return out
}
