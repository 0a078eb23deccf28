// Package memory is the store that forgets: everything in it is gone when it is
// closed or the process ends. It serves tests and sessions that must leave no
// trace, and is the plainest reading of the contract.
package memory

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
)

var errClosed = &contract.BackendError{Place: "memory", Op: "use", Err: errors.New("it is closed")}

// Store keeps sessions in this process's memory. It does not implement
// contract.Reopener, which is how it says that it forgets.
type Store struct {
	mu       sync.Mutex // guards all below
	closed   bool
	sessions map[string]*session // by raw id
	defaults map[string]string   // harness by subject
	leases   map[uuid.UUID]*lease
}

type session struct {
	record    []byte
	events    []contract.Event // only grows, so a reader may keep a slice of it
	snapshots []contract.Snapshot
}

var (
	_ contract.Store     = (*Store)(nil)
	_ contract.RawWriter = (*Store)(nil)
)

// New makes an empty store.
func New() *Store {
	return &Store{
		sessions: map[string]*session{},
		defaults: map[string]string{},
		leases:   map[uuid.UUID]*lease{},
	}
}

// enter locks the store for a call, unless the call is over before it began. The
// caller unlocks when it returns nil.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	return nil
}

// Put implements contract.Store.
func (s *Store) Put(ctx context.Context, rec contract.Session) error {
	data, err := contract.EncodeRecord(rec)
	if err != nil {
		return err
	}
	return s.PutRaw(ctx, rec.ID.String(), data)
}

// PutRaw implements contract.RawWriter.
func (s *Store) PutRaw(ctx context.Context, id string, record []byte) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.sessions[id] == nil {
		s.sessions[id] = &session{}
	}
	s.sessions[id].record = slices.Clone(record)
	return nil
}

// Get implements contract.Store.
func (s *Store) Get(ctx context.Context, id uuid.UUID) (contract.Session, bool, error) {
	if err := s.enter(ctx); err != nil {
		return contract.Session{}, false, err
	}
	defer s.mu.Unlock()
	found := s.sessions[id.String()]
	if found == nil {
		return contract.Session{}, false, nil
	}
	rec, err := contract.DecodeRecord(id.String(), found.record)
	if err != nil {
		return contract.Session{}, false, contract.Fault(ctx, "memory", "get", err)
	}
	return rec, true, nil
}

// List implements contract.Store.
func (s *Store) List(ctx context.Context) (contract.Listing, error) {
	if err := s.enter(ctx); err != nil {
		return contract.Listing{}, err
	}
	defer s.mu.Unlock()
	raw := make([]contract.Raw, 0, len(s.sessions))
	for id, found := range s.sessions {
		raw = append(raw, contract.Raw{ID: id, Record: found.record})
	}
	return contract.Collect(raw), nil
}

// Delete implements contract.Store.
func (s *Store) Delete(ctx context.Context, id uuid.UUID) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.sessions, id.String())
	delete(s.leases, id)
	return nil
}

// Append implements contract.Store.
func (s *Store) Append(ctx context.Context, id uuid.UUID, at time.Time, p contract.Payload) (uint64, error) {
	return s.AppendAll(ctx, id, at, []contract.Payload{p})
}

// AppendAll implements contract.Store.
func (s *Store) AppendAll(ctx context.Context, id uuid.UUID, at time.Time, ps []contract.Payload) (uint64, error) {
	us, err := contract.CheckEvents(at, ps...)
	if err != nil {
		return 0, err
	}
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	found := s.sessions[id.String()]
	if found == nil {
		return 0, &contract.NotFoundError{ID: id}
	}
	first := uint64(len(found.events))
	for i, p := range ps {
		p.Data = slices.Clone(contract.Bytes(p.Data))
		found.events = append(found.events, contract.Event{
			Index: first + uint64(i), At: contract.Instant(us), Payload: p,
		})
	}
	return first, nil
}

// Head implements contract.Store.
func (s *Store) Head(ctx context.Context, id uuid.UUID) (uint64, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if found := s.sessions[id.String()]; found != nil {
		return uint64(len(found.events)), nil
	}
	return 0, nil
}

// Transcript implements contract.Store.
func (s *Store) Transcript(ctx context.Context, id uuid.UUID, after *uint64) iter.Seq2[contract.Event, error] {
	return func(yield func(contract.Event, error) bool) {
		events, err := s.events(ctx, id, after)
		if err != nil {
			yield(contract.Event{}, err)
			return
		}
		for _, e := range events {
			if err := ctx.Err(); err != nil {
				yield(contract.Event{}, err)
				return
			}
			e.Payload.Data = slices.Clone(contract.Bytes(e.Payload.Data))
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (s *Store) events(ctx context.Context, id uuid.UUID, after *uint64) ([]contract.Event, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	found := s.sessions[id.String()]
	switch {
	case found == nil:
		return nil, nil
	case after == nil:
		return found.events, nil
	case *after >= uint64(len(found.events)):
		return nil, nil
	}
	return found.events[*after+1:], nil
}

// SetDefaultHarness implements contract.Store.
func (s *Store) SetDefaultHarness(ctx context.Context, subject, harness string) error {
	if err := contract.CheckPick(subject, harness); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.defaults[subject] = harness
	return nil
}

// DefaultHarness implements contract.Store.
func (s *Store) DefaultHarness(ctx context.Context, subject string) (string, bool, error) {
	if err := s.enter(ctx); err != nil {
		return "", false, err
	}
	defer s.mu.Unlock()
	harness, ok := s.defaults[subject]
	return harness, ok, nil
}

// PutSnapshot implements contract.Store.
func (s *Store) PutSnapshot(ctx context.Context, id uuid.UUID, at uint64, state []byte) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	found := s.sessions[id.String()]
	if found == nil {
		return &contract.NotFoundError{ID: id}
	}
	kept := slices.DeleteFunc(found.snapshots, func(o contract.Snapshot) bool { return o.At == at })
	kept = append(kept, contract.Snapshot{At: at, State: slices.Clone(contract.Bytes(state))})
	slices.SortFunc(kept, func(a, b contract.Snapshot) int { return cmp.Compare(b.At, a.At) })
	found.snapshots = kept[:min(2, len(kept))]
	return nil
}

// Snapshots implements contract.Store.
func (s *Store) Snapshots(ctx context.Context, id uuid.UUID) ([]contract.Snapshot, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	found := s.sessions[id.String()]
	if found == nil {
		return nil, nil
	}
	kept := slices.Clone(found.snapshots)
	for i := range kept {
		kept[i].State = slices.Clone(contract.Bytes(kept[i].State))
	}
	return kept, nil
}

// Close implements contract.Store and forgets everything.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.sessions, s.defaults, s.leases = nil, nil, nil
	return nil
}
