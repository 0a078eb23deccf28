package postgres

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/agent-lsp/agent-lsp/session/store/postgres/postgrestest"
	"github.com/agent-lsp/agent-lsp/session/store/storebench"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const bareSQL = `INSERT INTO bare (session, idx, at, type, data) VALUES ($1, $2, $3, $4, $5)`

// bench is a store on a server that flushes each commit, beside a bare table of
// the same form in the same database.
type bench struct {
	store *Store
	id    uuid.UUID
	bare  *pgxpool.Pool
	next  int64
}

func newBench(b *testing.B) *bench {
	b.Helper()
	x := &bench{id: uuid.New()}
	dsn := os.Getenv(postgrestest.Env)
	if dsn == "" {
		dsn = postgrestest.New(b).Database(b)
	} else {
		dsn = postgrestest.Database(b)
	}
	var err error
	if x.store, err = Open(b.Context(), dsn); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { x.store.Close() })
	if x.bare, err = pgxpool.New(b.Context(), dsn); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(x.bare.Close)
	if _, err := x.bare.Exec(b.Context(), "CREATE TABLE bare (LIKE agent_lsp.events INCLUDING ALL)"); err != nil {
		b.Fatal(err)
	}
	if err := x.store.Put(b.Context(), contract.Session{ID: x.id}); err != nil {
		b.Fatal(err)
	}
	return x
}

// BenchmarkAppend at transcripts of several lengths: the cost must not grow.
func BenchmarkAppend(b *testing.B) {
	for _, n := range storebench.Lengths() {
		b.Run("at="+strconv.Itoa(n), func(b *testing.B) {
			x := newBench(b)
			storebench.Fill(b, x.store, x.id, n)
			ctx := b.Context()
			storebench.Against(b,
				func() error { _, err := x.store.Append(ctx, x.id, time.Now(), storebench.Payload); return err },
				func() error {
					_, err := x.bare.Exec(ctx, bareSQL, int64(1), x.next, time.Now().UnixMicro(), storebench.Payload.ContentType, storebench.Payload.Data)
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
			ps := storebench.Payloads(n)
			storebench.Against(b,
				func() error { _, err := x.store.AppendAll(ctx, x.id, time.Now(), ps); return err },
				func() error { return x.bareAll(ctx, n) })
		})
	}
}

// bareAll sends the inserts in one round trip, which is one transaction.
func (x *bench) bareAll(ctx context.Context, n int) error {
	var batch pgx.Batch
	for range n {
		batch.Queue(bareSQL, int64(1), x.next, time.Now().UnixMicro(), storebench.Payload.ContentType, storebench.Payload.Data)
		x.next++
	}
	return x.bare.SendBatch(ctx, &batch).Close()
}

func BenchmarkTranscript(b *testing.B) {
	const n = 100_000
	x := newBench(b)
	storebench.Fill(b, x.store, x.id, n)
	storebench.Transcript(b, x.store, x.id, n)
}

func BenchmarkList(b *testing.B) {
	const n = 10_000
	x := newBench(b)
	var batch pgx.Batch
	for _, rec := range storebench.Records(n - 1) {
		data, err := contract.EncodeRecord(rec)
		if err != nil {
			b.Fatal(err)
		}
		batch.Queue(`INSERT INTO agent_lsp.sessions (id, record) VALUES ($1, $2)`, rec.ID.String(), data)
	}
	if err := x.bare.SendBatch(b.Context(), &batch).Close(); err != nil {
		b.Fatal(err)
	}
	storebench.List(b, x.store, n)
}
