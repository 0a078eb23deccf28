package postgres

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/agent-lsp/agent-lsp/session/store/postgres/postgrestest"
	"github.com/google/uuid"
)

// TestPagesHaveAnEnd reads a transcript by pages from its start: none asks the
// server for more than its own events, but where they are so large that the rest of
// a page is left out.
func TestPagesHaveAnEnd(t *testing.T) {
	s := openTest(t, postgrestest.Database(t))
	small := contract.Payload{ContentType: "text/plain", Data: []byte("x")}
	large := contract.Payload{ContentType: "text/plain", Data: bytes.Repeat([]byte("y"), pageBytes/2)}
	for name, c := range map[string]struct {
		events []contract.Payload
		pages  []int
	}{
		"one":   {slices.Repeat([]contract.Payload{small}, 3), []int{3}},
		"full":  {slices.Repeat([]contract.Payload{small}, pageEvents), []int{pageEvents, 0}},
		"small": {slices.Repeat([]contract.Payload{small}, 2*pageEvents+5), []int{pageEvents, pageEvents, 5}},
		"large": {append(slices.Repeat([]contract.Payload{large}, 11), small, small), []int{2, largeEvents, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			id := uuid.New()
			if err := s.Put(t.Context(), contract.Session{ID: id}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.AppendAll(t.Context(), id, time.Now(), c.events); err != nil {
				t.Fatal(err)
			}
			r := reader{store: s, id: id, last: -1, limit: pageEvents}
			var pages []int
			for more := true; more; {
				var page []contract.Event
				var err error
				if page, more, err = r.next(t.Context()); err != nil {
					t.Fatal(err)
				}
				pages = append(pages, len(page))
			}
			if !slices.Equal(pages, c.pages) {
				t.Errorf("the pages hold %d events, want %d", pages, c.pages)
			}
		})
	}
}

// TestAConnectionThatWasCancelledIsNotUsedAgain cancels a statement that waits on
// the server: the request to end it could still be on its way when the next
// statement begins.
func TestAConnectionThatWasCancelledIsNotUsedAgain(t *testing.T) {
	dsn := postgrestest.Database(t)
	s := openTest(t, dsn)
	if err := s.Put(t.Context(), contract.Session{ID: uuid.New()}); err != nil {
		t.Fatal(err)
	}
	other := pool(t, dsn)
	tx, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const lock = "SELECT 1 FROM agent_lsp.sessions FOR UPDATE"
	if _, err := tx.Exec(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keep := s.pool.Config().AfterRelease
	if !keep(conn.Conn()) {
		t.Error("a connection that nothing happened to is given up")
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := conn.Exec(ctx, lock)
		done <- err
	}()
	for waits := 0; waits == 0; {
		err := other.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled statement succeeded")
	}
	if keep(conn.Conn()) {
		t.Error("the connection is used again")
	}
	conn.Release()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
}
