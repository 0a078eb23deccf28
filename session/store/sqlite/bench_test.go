package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
)

var payload = contract.Payload{
	ContentType: "application/json",
	Data:        []byte(`{"kind":"message","text":"` + fmt.Sprintf("%0300d", 7) + `"}`),
}

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

// fill writes n events in large batches.
func (x *bench) fill(b *testing.B, n int) {
	b.Helper()
	for ps := make([]contract.Payload, 10_000); n > 0; n -= len(ps) {
		ps = ps[:min(n, len(ps))]
		for i := range ps {
			ps[i] = payload
		}
		if _, err := x.store.AppendAll(b.Context(), x.id, time.Now(), ps); err != nil {
			b.Fatal(err)
		}
	}
}

// against times both in turns, so that both meet the same moods of the disk, and
// compares their medians: a flush that waits for another's does not count.
func against(b *testing.B, store, bare func() error) {
	b.Helper()
	var ours, theirs []time.Duration
	for b.Loop() {
		start := time.Now()
		err := store()
		middle := time.Now()
		bareErr := bare()
		ours, theirs = append(ours, middle.Sub(start)), append(theirs, time.Since(middle))
		if err != nil || bareErr != nil {
			b.Fatal(err, bareErr)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(ours[b.N/2]), "ns/store")
	b.ReportMetric(float64(theirs[b.N/2]), "ns/bare")
	b.ReportMetric(float64(ours[b.N/2])/float64(theirs[b.N/2]), "x-bare")
}

// BenchmarkAppend at transcripts of several lengths: the cost must not grow.
// AGENT_LSP_TEST_SLOW=1 adds the longest.
func BenchmarkAppend(b *testing.B) {
	lengths := []int{0, 100_000}
	if os.Getenv("AGENT_LSP_TEST_SLOW") != "" {
		lengths = append(lengths, 1_000_000)
	}
	for _, n := range lengths {
		b.Run("at="+strconv.Itoa(n), func(b *testing.B) {
			x := newBench(b)
			x.fill(b, n)
			ctx := b.Context()
			stmt, err := x.bare.PrepareContext(ctx, insertSQL)
			if err != nil {
				b.Fatal(err)
			}
			against(b,
				func() error { _, err := x.store.Append(ctx, x.id, time.Now(), payload); return err },
				func() error {
					_, err := stmt.ExecContext(ctx, 1, x.next, time.Now().UnixMicro(), payload.ContentType, payload.Data)
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
			ps := make([]contract.Payload, n)
			for i := range ps {
				ps[i] = payload
			}
			against(b,
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
		if _, err := insert.ExecContext(ctx, 1, x.next, time.Now().UnixMicro(), payload.ContentType, payload.Data); err != nil {
			return err
		}
		x.next++
	}
	return tx.Commit()
}

func BenchmarkTranscript(b *testing.B) {
	const n = 100_000
	x := newBench(b)
	x.fill(b, n)
	count := 0
	for b.Loop() {
		for _, err := range x.store.Transcript(b.Context(), x.id, nil) {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
	}
	if count != n*b.N {
		b.Fatalf("read %d events of %d", count, n*b.N)
	}
	b.ReportMetric(float64(count)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkList(b *testing.B) {
	const n = 10_000
	x := newBench(b)
	base := time.Now()
	title := "what this session is about"
	err := x.store.inTx(b.Context(), func(tx *sql.Tx) error {
		for i := range n - 1 {
			rec := contract.Session{
				ID: uuid.New(), Subject: "operator", Harness: "claude", Title: &title,
				CreatedAt: base.Add(time.Duration(i*7919%n) * time.Second), UpdatedAt: base, Turns: 12, Commands: []string{},
			}
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
	for b.Loop() {
		l, err := x.store.List(b.Context())
		if err != nil || len(l.Sessions) != n {
			b.Fatal(len(l.Sessions), err)
		}
	}
}
