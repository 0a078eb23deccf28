package postgres

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
)

const (
	// takeSQL takes indices: who updates the row holds its lock until the events are
	// committed, and a later update sees the row as the earlier left it. A lease that
	// was lost has another token in the row.
	takeSQL = `UPDATE agent_lsp.sessions SET head = head + $2::bigint
		WHERE id = $1::text AND ($3::text = '' OR fence = $3::text OR fence = '')
		RETURNING n, head - $2::bigint AS first`
	appendSQL = `WITH place AS (` + takeSQL + `)
		INSERT INTO agent_lsp.events (session, idx, at, type, data)
		SELECT n, first, $4::bigint, $5::text, $6::bytea FROM place RETURNING idx`
	appendAllSQL = `WITH place AS (` + takeSQL + `), written AS (
			INSERT INTO agent_lsp.events (session, idx, at, type, data)
			SELECT n, first + p.ord - 1, $4::bigint, p.type, p.data
			FROM place, unnest($5::text[], $6::bytea[]) WITH ORDINALITY AS p (type, data, ord))
		SELECT first FROM place`

	headSQL = `SELECT COALESCE((SELECT head FROM agent_lsp.sessions WHERE id = $1::text), 0)`

	// pageSQL reads a range of indices, which are dense, so that the server needs no
	// statistics to find it through the primary key.
	pageSQL = `SELECT idx, at, type, data FROM agent_lsp.events
		WHERE session = (SELECT n FROM agent_lsp.sessions WHERE id = $1::text)
		AND idx > $2::bigint AND idx <= $3::bigint ORDER BY idx`
)

const (
	// A page of a transcript ends at the first of these, so that reading holds little
	// memory, and no connection while the caller handles what it got.
	pageEvents = 4096
	pageBytes  = 4 << 20
	// largeEvents is how many a page holds while events are so large that a page of
	// the usual length would not have been read to its end.
	largeEvents = 8
)

// Append implements contract.Store.
func (s *Store) Append(ctx context.Context, id uuid.UUID, at time.Time, p contract.Payload) (uint64, error) {
	us, err := contract.CheckEvents(at, p)
	if err != nil {
		return 0, err
	}
	fence := s.fences.Get(id)
	var index int64
	err = s.pool.QueryRow(ctx, appendSQL, id.String(), int64(1), fence, us, p.ContentType, contract.Bytes(p.Data)).Scan(&index)
	if noRows(err) {
		err = s.refusal(ctx, id, fence)
	}
	return uint64(index), s.fault(ctx, "append", err)
}

// AppendAll implements contract.Store.
func (s *Store) AppendAll(ctx context.Context, id uuid.UUID, at time.Time, ps []contract.Payload) (uint64, error) {
	us, err := contract.CheckEvents(at, ps...)
	if err != nil {
		return 0, err
	}
	types, data := make([]string, len(ps)), make([][]byte, len(ps))
	for i, p := range ps {
		types[i], data[i] = p.ContentType, contract.Bytes(p.Data)
	}
	fence := s.fences.Get(id)
	var first int64
	err = s.pool.QueryRow(ctx, appendAllSQL, id.String(), int64(len(ps)), fence, us, types, data).Scan(&first)
	if noRows(err) {
		err = s.refusal(ctx, id, fence)
	}
	return uint64(first), s.fault(ctx, "append", err)
}

// refusal says why an append found no place.
func (s *Store) refusal(ctx context.Context, id uuid.UUID, fence string) error {
	var there bool
	err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM agent_lsp.sessions WHERE id = $1::text)`, id.String()).Scan(&there)
	switch {
	case err != nil:
		return err
	case !there || fence == "":
		return &contract.NotFoundError{ID: id}
	}
	return holder(ctx, s.pool, id)
}

// Head implements contract.Store.
func (s *Store) Head(ctx context.Context, id uuid.UUID) (uint64, error) {
	var head int64
	err := s.pool.QueryRow(ctx, headSQL, id.String()).Scan(&head)
	return uint64(head), s.fault(ctx, "head", err)
}

// Transcript implements contract.Store.
func (s *Store) Transcript(ctx context.Context, id uuid.UUID, after *uint64) iter.Seq2[contract.Event, error] {
	return contract.Pages(ctx, after, func(last int64) contract.PageReader {
		r := reader{store: s, id: id, last: last, limit: pageEvents}
		return func(ctx context.Context) ([]contract.Event, bool, error) {
			page, more, err := r.next(ctx)
			return page, more, s.fault(ctx, "transcript", err)
		}
	})
}

// reader goes through a transcript by pages.
type reader struct {
	store *Store
	id    uuid.UUID
	last  int64 // the index before the next page
	limit int64
	page  []contract.Event
}

// next returns the events of the next page, which are good until the call after,
// and says whether more may follow.
func (r *reader) next(ctx context.Context) (page []contract.Event, more bool, err error) {
	query, stop := context.WithCancel(ctx)
	defer stop()
	to := r.last + min(r.limit, math.MaxInt64-max(r.last, 0))
	rows, err := r.store.pool.Query(query, pageSQL, r.id.String(), r.last, to)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	page = r.page[:0]
	size, limit := 0, r.limit
	r.limit = pageEvents
	for rows.Next() {
		var e contract.Event
		var us int64
		if err := rows.Scan(&e.Index, &us, &e.Payload.ContentType, &e.Payload.Data); err != nil {
			return nil, false, err
		}
		if want := uint64(r.last + 1); e.Index != want {
			return nil, false, fmt.Errorf("session %s: event %d is missing from the transcript", r.id, want)
		}
		e.At, e.Payload.Data = contract.Instant(us), contract.Bytes(e.Payload.Data)
		page = append(page, e)
		r.last++
		if size += len(e.Payload.Data); size >= pageBytes {
			r.limit = largeEvents
			if limit > largeEvents {
				stop() // the rest, which may be gigabytes, is not sent
				r.page = page
				return page, true, nil
			}
		}
	}
	r.page = page
	return page, int64(len(page)) == limit, rows.Err()
}
