package postgres

import (
	"context"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Put implements contract.Store.
func (s *Store) Put(ctx context.Context, rec contract.Session) error {
	data, err := contract.EncodeRecord(rec)
	if err != nil {
		return err
	}
	return s.PutRaw(ctx, rec.ID.String(), data)
}

// PutRaw implements contract.RawWriter. A record whose lease was taken before it
// was there starts out fenced by it.
func (s *Store) PutRaw(ctx context.Context, id string, record []byte) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO agent_lsp.sessions (id, record, fence)
		VALUES ($1::text, $2::bytea, COALESCE((SELECT token FROM agent_lsp.leases WHERE id = $1::text), ''))
		ON CONFLICT (id) DO UPDATE SET record = excluded.record`, id, contract.Bytes(record))
	return s.fault(ctx, "put", err)
}

// Get implements contract.Store.
func (s *Store) Get(ctx context.Context, id uuid.UUID) (contract.Session, bool, error) {
	var data []byte
	err := s.pool.QueryRow(ctx, `SELECT record FROM agent_lsp.sessions WHERE id = $1::text`, id.String()).Scan(&data)
	if noRows(err) {
		return contract.Session{}, false, nil
	}
	var rec contract.Session
	if err == nil {
		rec, err = contract.DecodeRecord(id.String(), data)
	}
	if err != nil {
		return contract.Session{}, false, s.fault(ctx, "get", err)
	}
	return rec, true, nil
}

// List implements contract.Store.
func (s *Store) List(ctx context.Context) (contract.Listing, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, record FROM agent_lsp.sessions`)
	if err != nil {
		return contract.Listing{}, s.fault(ctx, "list", err)
	}
	raw, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r contract.Raw, err error) {
		return r, row.Scan(&r.ID, &r.Record)
	})
	if err != nil {
		return contract.Listing{}, s.fault(ctx, "list", err)
	}
	return contract.Collect(raw), nil
}

// Delete implements contract.Store. It locks in the order in which a lease is
// taken, so that the two cannot wait for each other.
func (s *Store) Delete(ctx context.Context, id uuid.UUID) error {
	err := s.inTx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM agent_lsp.leases WHERE id = $1::text`, id.String()); err != nil {
			return err
		}
		var n int64
		err := tx.QueryRow(ctx, `DELETE FROM agent_lsp.sessions WHERE id = $1::text RETURNING n`, id.String()).Scan(&n)
		if noRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM agent_lsp.events WHERE session = $1::bigint`, n); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM agent_lsp.snapshots WHERE session = $1::bigint`, n)
		return err
	})
	if err == nil {
		s.fences.Drop(id, s.fences.Get(id))
	}
	return s.fault(ctx, "delete", err)
}

// SetDefaultHarness implements contract.Store.
func (s *Store) SetDefaultHarness(ctx context.Context, subject, harness string) error {
	if err := contract.CheckPick(subject, harness); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, `INSERT INTO agent_lsp.defaults (subject, harness) VALUES ($1::text, $2::text)
		ON CONFLICT (subject) DO UPDATE SET harness = excluded.harness`, subject, harness)
	return s.fault(ctx, "set default harness", err)
}

// DefaultHarness implements contract.Store.
func (s *Store) DefaultHarness(ctx context.Context, subject string) (harness string, ok bool, err error) {
	if contract.CheckText("subject", subject) != nil {
		return "", false, ctx.Err() // nobody of that name can have picked
	}
	err = s.pool.QueryRow(ctx, `SELECT harness FROM agent_lsp.defaults WHERE subject = $1::text`, subject).Scan(&harness)
	if noRows(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, s.fault(ctx, "default harness", err)
	}
	return harness, true, nil
}

// PutSnapshot implements contract.Store. The session's row is locked, so that two
// writers see each other's snapshots.
func (s *Store) PutSnapshot(ctx context.Context, id uuid.UUID, at uint64, state []byte) error {
	key, err := contract.Index(at)
	if err != nil {
		return err
	}
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		var n int64
		err := tx.QueryRow(ctx, `SELECT n FROM agent_lsp.sessions WHERE id = $1::text FOR UPDATE`, id.String()).Scan(&n)
		if noRows(err) {
			return &contract.NotFoundError{ID: id}
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO agent_lsp.snapshots (session, at, state)
			VALUES ($1::bigint, $2::bigint, $3::bytea)
			ON CONFLICT (session, at) DO UPDATE SET state = excluded.state`, n, key, contract.Bytes(state)); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM agent_lsp.snapshots WHERE session = $1::bigint AND at NOT IN
			(SELECT at FROM agent_lsp.snapshots WHERE session = $1::bigint ORDER BY at DESC LIMIT 2)`, n)
		return err
	})
	return s.fault(ctx, "put snapshot", err)
}

// Snapshots implements contract.Store.
func (s *Store) Snapshots(ctx context.Context, id uuid.UUID) ([]contract.Snapshot, error) {
	rows, err := s.pool.Query(ctx, `SELECT at, state FROM agent_lsp.snapshots
		WHERE session = (SELECT n FROM agent_lsp.sessions WHERE id = $1::text) ORDER BY at DESC`, id.String())
	if err != nil {
		return nil, s.fault(ctx, "snapshots", err)
	}
	var kept []contract.Snapshot
	kept, err = pgx.AppendRows(kept, rows, func(row pgx.CollectableRow) (one contract.Snapshot, err error) {
		err = row.Scan(&one.At, &one.State)
		one.State = contract.Bytes(one.State)
		return one, err
	})
	if err != nil {
		return nil, s.fault(ctx, "snapshots", err)
	}
	return kept, nil
}
