package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
)

// lease is told from others on the same session by its token, which is never used
// twice. All processes of this machine share the clock that it ends by.
type lease struct {
	store *Store
	id    uuid.UUID
	token string
	ttl   int64 // microseconds
}

// Acquire implements contract.Store.
func (s *Store) Acquire(ctx context.Context, id uuid.UUID, owner string, ttl time.Duration) (contract.Lease, error) {
	if err := contract.CheckLease(owner, ttl); err != nil {
		return nil, err
	}
	l := &lease{store: s, id: id, token: uuid.NewString(), ttl: contract.LeaseMicros(ttl)}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		now := time.Now().UnixMicro()
		done, err := tx.ExecContext(ctx, `INSERT INTO leases (id, owner, token, expires) VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, token = excluded.token, expires = excluded.expires
			WHERE owner = excluded.owner OR expires <= ?5`, id.String(), owner, l.token, now+l.ttl, now)
		return written(ctx, tx, id, done, err)
	})
	if err != nil {
		return nil, s.fault(ctx, "acquire lease", err)
	}
	s.fences.Set(id, l.token)
	return l, nil
}

// Renew implements contract.Lease.
func (l *lease) Renew(ctx context.Context) error {
	err := l.store.inTx(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE leases SET expires = ?3 WHERE id = ?1 AND token = ?2`,
			l.id.String(), l.token, time.Now().UnixMicro()+l.ttl)
		return written(ctx, tx, l.id, done, err)
	})
	return l.store.fault(ctx, "renew lease", err)
}

// Release implements contract.Lease.
func (l *lease) Release(ctx context.Context) error {
	_, err := l.store.write.ExecContext(ctx, `DELETE FROM leases WHERE id = ?1 AND token = ?2`, l.id.String(), l.token)
	if err == nil {
		l.store.fences.Drop(l.id, l.token)
	}
	return l.store.fault(ctx, "release lease", err)
}

// written returns the holder's refusal when a statement on a lease met no row.
func written(ctx context.Context, q querier, id uuid.UUID, done sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return holder(ctx, q, id)
}

// holder is the refusal that names who holds the lease on id.
func holder(ctx context.Context, q querier, id uuid.UUID) error {
	refusal := &contract.LeasedError{ID: id}
	var expires int64
	err := q.QueryRowContext(ctx, `SELECT owner, expires FROM leases WHERE id = ?1`, id.String()).Scan(&refusal.Owner, &expires)
	switch {
	case err == nil:
		refusal.Until = contract.Instant(expires)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	return refusal
}
