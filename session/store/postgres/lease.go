package postgres

import (
	"context"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// lease is told from others on the same session by its token, which is never used
// twice. It ends by the server's clock, so the machines' clocks need not agree.
type lease struct {
	store *Store
	id    uuid.UUID
	token string
	ttl   int64 // microseconds
}

// Acquire implements contract.Store. It writes the token into the session's row
// too: that waits for an append under way, and refuses the old holder's next.
func (s *Store) Acquire(ctx context.Context, id uuid.UUID, owner string, ttl time.Duration) (contract.Lease, error) {
	if err := contract.CheckLease(owner, ttl); err != nil {
		return nil, err
	}
	l := &lease{store: s, id: id, token: uuid.NewString(), ttl: contract.LeaseMicros(ttl)}
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `INSERT INTO agent_lsp.leases AS l (id, owner, token, expires)
			VALUES ($1::text, $2::text, $3::text, clock_timestamp() + $4::bigint * interval '1 microsecond')
			ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, token = excluded.token,
				expires = clock_timestamp() + $4::bigint * interval '1 microsecond'
			WHERE l.owner = excluded.owner OR l.expires <= clock_timestamp()`, id.String(), owner, l.token, l.ttl)
		if err != nil {
			return err
		}
		if done.RowsAffected() == 0 {
			return holder(ctx, tx, id)
		}
		_, err = tx.Exec(ctx, `UPDATE agent_lsp.sessions SET fence = $2::text WHERE id = $1::text`, id.String(), l.token)
		return err
	})
	if err != nil {
		return nil, s.fault(ctx, "acquire lease", err)
	}
	s.fences.Set(id, l.token)
	return l, nil
}

// Renew implements contract.Lease.
func (l *lease) Renew(ctx context.Context) error {
	done, err := l.store.pool.Exec(ctx, `UPDATE agent_lsp.leases
		SET expires = clock_timestamp() + $3::bigint * interval '1 microsecond'
		WHERE id = $1::text AND token = $2::text`, l.id.String(), l.token, l.ttl)
	if err == nil && done.RowsAffected() == 0 {
		err = holder(ctx, l.store.pool, l.id)
	}
	return l.store.fault(ctx, "renew lease", err)
}

// Release implements contract.Lease.
func (l *lease) Release(ctx context.Context) error {
	_, err := l.store.pool.Exec(ctx, `DELETE FROM agent_lsp.leases WHERE id = $1::text AND token = $2::text`, l.id.String(), l.token)
	if err == nil {
		l.store.fences.Drop(l.id, l.token)
	}
	return l.store.fault(ctx, "release lease", err)
}

// holder is the refusal that names who holds the lease on id.
func holder(ctx context.Context, q querier, id uuid.UUID) error {
	refusal := &contract.LeasedError{ID: id}
	err := q.QueryRow(ctx, `SELECT owner, expires FROM agent_lsp.leases WHERE id = $1::text`, id.String()).Scan(&refusal.Owner, &refusal.Until)
	if err != nil && !noRows(err) {
		return err
	}
	refusal.Until = refusal.Until.UTC()
	return refusal
}
