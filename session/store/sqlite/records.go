package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
)

const (
	putSQL = `INSERT INTO sessions (id, record) VALUES (?1, ?2)
		ON CONFLICT (id) DO UPDATE SET record = excluded.record`
	getSQL  = `SELECT record FROM sessions WHERE id = ?1`
	listSQL = `SELECT id, record FROM sessions`

	snapshotsSQL = `SELECT at, state FROM snapshots
		WHERE session = (SELECT n FROM sessions WHERE id = ?1) ORDER BY at DESC`
)

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
	_, err := s.put.ExecContext(ctx, id, contract.Bytes(record))
	return s.fault(ctx, "put", err)
}

// Get implements contract.Store.
func (s *Store) Get(ctx context.Context, id uuid.UUID) (contract.Session, bool, error) {
	var data []byte
	err := s.get.QueryRowContext(ctx, id.String()).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
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
	var raw []contract.Raw
	err := query(ctx, s.read, listSQL, func(rows *sql.Rows) error {
		var r contract.Raw
		err := rows.Scan(&r.ID, &r.Record)
		raw = append(raw, r)
		return err
	})
	if err != nil {
		return contract.Listing{}, s.fault(ctx, "list", err)
	}
	return contract.Collect(raw), nil
}

// Delete implements contract.Store.
func (s *Store) Delete(ctx context.Context, id uuid.UUID) error {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		for _, q := range []string{
			`DELETE FROM events WHERE session = (SELECT n FROM sessions WHERE id = ?1)`,
			`DELETE FROM snapshots WHERE session = (SELECT n FROM sessions WHERE id = ?1)`,
			`DELETE FROM leases WHERE id = ?1`,
			`DELETE FROM sessions WHERE id = ?1`,
		} {
			if _, err := tx.ExecContext(ctx, q, id.String()); err != nil {
				return err
			}
		}
		return nil
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
	_, err := s.write.ExecContext(ctx, `INSERT INTO defaults (subject, harness) VALUES (?1, ?2)
		ON CONFLICT (subject) DO UPDATE SET harness = excluded.harness`, subject, harness)
	return s.fault(ctx, "set default harness", err)
}

// DefaultHarness implements contract.Store.
func (s *Store) DefaultHarness(ctx context.Context, subject string) (harness string, ok bool, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT harness FROM defaults WHERE subject = ?1`, subject).Scan(&harness)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, s.fault(ctx, "default harness", err)
	}
	return harness, true, nil
}

// PutSnapshot implements contract.Store.
func (s *Store) PutSnapshot(ctx context.Context, id uuid.UUID, at uint64, state []byte) error {
	key, err := contract.Index(at)
	if err != nil {
		return err
	}
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		var n int64
		err := tx.QueryRowContext(ctx, `SELECT n FROM sessions WHERE id = ?1`, id.String()).Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			return &contract.NotFoundError{ID: id}
		}
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO snapshots (session, at, state) VALUES (?1, ?2, ?3)
			ON CONFLICT (session, at) DO UPDATE SET state = excluded.state`, n, key, contract.Bytes(state)); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM snapshots WHERE session = ?1 AND at NOT IN
			(SELECT at FROM snapshots WHERE session = ?1 ORDER BY at DESC LIMIT 2)`, n)
		return err
	})
	return s.fault(ctx, "put snapshot", err)
}

// Snapshots implements contract.Store.
func (s *Store) Snapshots(ctx context.Context, id uuid.UUID) ([]contract.Snapshot, error) {
	var kept []contract.Snapshot
	err := query(ctx, s.read, snapshotsSQL, func(rows *sql.Rows) error {
		var snap contract.Snapshot
		err := rows.Scan(&snap.At, &snap.State)
		snap.State = contract.Bytes(snap.State)
		kept = append(kept, snap)
		return err
	}, id.String())
	if err != nil {
		return nil, s.fault(ctx, "snapshots", err)
	}
	return kept, nil
}

// query calls f for each row of a query, until it fails.
func query(ctx context.Context, db *sql.DB, text string, f func(*sql.Rows) error, args ...any) (err error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
