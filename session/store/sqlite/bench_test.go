package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/agent-lsp/agent-lsp/session/store/storebench"
	"github.com/google/uuid"
)

// bench is a store with one session, beside a file of the same schema and the same
// durability that is written to by bare prepared statements.
type bench struct {
	store *Store
	id    uuid.UUID
	bare  *sql.DB
	next  int64 // bare's next index
}

func newBench(b *testing.B) *bench {
	b.Helper()
	x := &bench{id: uuid.New()}
	x.store = openBench(b, "store.db")
	other := openBench(b, "bare.db")
	x.bare = other.write
	ctx := b.Context()
	if err := x.store.Put(ctx, contract.Session{ID: x.id}); err != nil {
		b.Fatal(err)
	}
	return x
}

func openBench(b *testing.B, name string) *Store {
	b.Helper()
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), name))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// BenchmarkAppend at transcripts of several lengths: the cost must not grow.
func BenchmarkAppend(b *testing.B) {
	for _, n := range storebench.Lengths() {
		b.Run("at="+strconv.Itoa(n), func(b *testing.B) {
			x := newBench(b)
			storebench.Fill(b, x.store, x.id, n)
			ctx := b.Context()
			stmt, err := x.bare.PrepareContext(ctx, insertSQL)
			if err != nil {
				b.Fatal(err)
			}
			storebench.Against(b,
				func() error { _, err := x.store.Append(ctx, x.id, time.Now(), storebench.Payload); return err },
				func() error {
					_, err := stmt.ExecContext(ctx, 1, x.next, time.Now().UnixMicro(), storebench.Payload.ContentType, storebench.Payload.Data)
					x.next++
					return err
				})
		})
	}
}

func BenchmarkAppendAll(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run("n="+strconv.Itoa(n), func(b *testing.B) {
			x := newBench(b)
			ctx := b.Context()
			stmt, err := x.bare.PrepareContext(ctx, insertSQL)
			if err != nil {
				b.Fatal(err)
			}
			ps := storebench.Payloads(n)
			storebench.Against(b,
				func() error { _, err := x.store.AppendAll(ctx, x.id, time.Now(), ps); return err },
				func() error { return x.bareAll(ctx, stmt, n) })
		})
	}
}

func (x *bench) bareAll(ctx context.Context, stmt *sql.Stmt, n int) error {
	tx, err := x.bare.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	insert := tx.StmtContext(ctx, stmt)
	for range n {
		if _, err := insert.ExecContext(ctx, 1, x.next, time.Now().UnixMicro(), storebench.Payload.ContentType, storebench.Payload.Data); err != nil {
			return err
		}
		x.next++
	}
	return tx.Commit()
}

func BenchmarkTranscript(b *testing.B) {
	const n = 100_000
	x := newBench(b)
	storebench.Fill(b, x.store, x.id, n)
	storebench.Transcript(b, x.store, x.id, n)
}

// BenchmarkList at the number of sessions that a person has after some months, and
// at the largest that the contract speaks of.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{500, 10_000} {
		b.Run("n="+strconv.Itoa(n), func(b *testing.B) {
			x := newBench(b)
			err := x.store.inTx(b.Context(), func(tx *sql.Tx) error {
				for _, rec := range storebench.Records(n - 1) {
					data, err := contract.EncodeRecord(rec)
					if err != nil {
						return err
					}
					if _, err := tx.StmtContext(b.Context(), x.store.put).ExecContext(b.Context(), rec.ID.String(), data); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			storebench.List(b, x.store, n)
		})
	}
}
