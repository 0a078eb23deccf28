package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
)

const (
	// placeSQL takes the index, looks for the session and for a lost lease within the
	// transaction that writes, which begins with the write lock: nobody can come
	// between. Without a session, or with a lost lease, there is no place.
	placeSQL = `SELECT s.n, (SELECT COALESCE(MAX(e.idx) + 1, 0) FROM events e WHERE e.session = s.n)
		FROM sessions s WHERE s.id = ?1
		AND (?2 = '' OR EXISTS (SELECT 1 FROM leases l WHERE l.id = ?1 AND l.token = ?2))`
	insertSQL = `INSERT INTO events (session, idx, at, type, data) VALUES (?1, ?2, ?3, ?4, ?5)`

	headSQL = `SELECT COALESCE(MAX(idx) + 1, 0) FROM events WHERE session = (SELECT n FROM sessions WHERE id = ?1)`
	pageSQL = `SELECT idx, at, type, data FROM events
		WHERE session = (SELECT n FROM sessions WHERE id = ?1) AND idx > ?2 ORDER BY idx LIMIT ?3`
)

const (
	// A page of a transcript ends at the first of these, so that reading holds little
	// memory, and no lock while the caller handles what it got.
	pageEvents = 1024
	pageBytes  = 1 << 20
)

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
	fence := s.fences.Get(id)
	var first uint64
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		var n int64
		err := tx.StmtContext(ctx, s.place).QueryRowContext(ctx, id.String(), fence).Scan(&n, &first)
		if errors.Is(err, sql.ErrNoRows) {
			return s.refusal(ctx, tx, id, fence)
		}
		if err != nil {
			return err
		}
		insert := tx.StmtContext(ctx, s.insert)
		for i, p := range ps {
			if _, err := insert.ExecContext(ctx, n, int64(first)+int64(i), us, p.ContentType, contract.Bytes(p.Data)); err != nil {
				return err
			}
		}
		return nil
	})
	return first, s.fault(ctx, "append", err)
}

// refusal says why an append found no place.
func (s *Store) refusal(ctx context.Context, q querier, id uuid.UUID, fence string) error {
	var data []byte
	err := q.QueryRowContext(ctx, getSQL, id.String()).Scan(&data)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && fence == "":
		return &contract.NotFoundError{ID: id}
	case err != nil:
		return err
	}
	return holder(ctx, q, id)
}

// Head implements contract.Store.
func (s *Store) Head(ctx context.Context, id uuid.UUID) (head uint64, err error) {
	err = s.head.QueryRowContext(ctx, id.String()).Scan(&head)
	return head, s.fault(ctx, "head", err)
}

// Transcript implements contract.Store.
func (s *Store) Transcript(ctx context.Context, id uuid.UUID, after *uint64) iter.Seq2[contract.Event, error] {
	return contract.Pages(ctx, after, func(last int64) contract.PageReader {
		page := make([]contract.Event, 0, 64)
		return func(ctx context.Context) (_ []contract.Event, more bool, err error) {
			page, more, err = s.readPage(ctx, id, last, page[:0])
			last += int64(len(page))
			return page, more, s.fault(ctx, "transcript", err)
		}
	})
}

// readPage fills page with the events after last, and says whether more may follow.
func (s *Store) readPage(ctx context.Context, id uuid.UUID, last int64, page []contract.Event) (_ []contract.Event, more bool, err error) {
	rows, err := s.read.QueryContext(ctx, pageSQL, id.String(), last, int64(pageEvents))
	if err != nil {
		return page, false, err
	}
	defer func() { err = cmp.Or(err, rows.Close()) }()
	for size := 0; size < pageBytes && rows.Next(); {
		var e contract.Event
		var us int64
		if err := rows.Scan(&e.Index, &us, &e.Payload.ContentType, &e.Payload.Data); err != nil {
			return page, false, err
		}
		if want := uint64(last + 1 + int64(len(page))); e.Index != want {
			return page, false, fmt.Errorf("session %s: event %d is missing from the transcript", id, want)
		}
		e.At, e.Payload.Data = contract.Instant(us), contract.Bytes(e.Payload.Data)
		page = append(page, e)
		size += len(e.Payload.Data)
		more = len(page) == pageEvents || size >= pageBytes
	}
	return page, more, rows.Err()
}
