package memory

import (
	"context"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
)

type lease struct {
	store *Store
	id    uuid.UUID
	owner string
	ttl   time.Duration
	until time.Time // guarded by store.mu
}

// Acquire implements contract.Store.
func (s *Store) Acquire(ctx context.Context, id uuid.UUID, owner string, ttl time.Duration) (contract.Lease, error) {
	if err := contract.CheckLease(owner, ttl); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	now := time.Now()
	if held := s.leases[id]; held != nil && held.owner != owner && now.Before(held.until) {
		return nil, held.refusal()
	}
	l := &lease{store: s, id: id, owner: owner, ttl: ttl, until: now.Add(ttl)}
	s.leases[id] = l
	return l, nil
}

func (l *lease) refusal() error {
	return &contract.LeasedError{ID: l.id, Owner: l.owner, Until: l.until}
}

// Renew implements contract.Lease.
func (l *lease) Renew(ctx context.Context) error {
	if err := l.store.enter(ctx); err != nil {
		return err
	}
	defer l.store.mu.Unlock()
	switch held := l.store.leases[l.id]; held {
	case l:
		l.until = time.Now().Add(l.ttl)
		return nil
	case nil:
		return &contract.LeasedError{ID: l.id}
	default:
		return held.refusal()
	}
}

// Release implements contract.Lease.
func (l *lease) Release(ctx context.Context) error {
	if err := l.store.enter(ctx); err != nil {
		return err
	}
	defer l.store.mu.Unlock()
	if l.store.leases[l.id] == l {
		delete(l.store.leases, l.id)
	}
	return nil
}
