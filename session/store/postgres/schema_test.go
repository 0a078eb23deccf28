package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/agent-lsp/agent-lsp/session/store/postgres/postgrestest"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

func pool(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	p, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func run(t *testing.T, p *pgxpool.Pool, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := p.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// with returns dsn with other parameters or another user.
func with(t *testing.T, dsn, key, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(key, value)
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // as libpq reads it
	return u.String()
}

// refused checks that a database cannot be opened, for a reason that it tells.
func refused(t *testing.T, dsn string, reasons ...string) {
	t.Helper()
	s, err := Open(t.Context(), dsn)
	if err == nil {
		s.Close()
		t.Fatal("it was opened")
	}
	var failure *contract.BackendError
	if !errors.As(err, &failure) {
		t.Errorf("the error is no *BackendError: %v", err)
	}
	for _, want := range reasons {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	dsn := postgrestest.Database(t)
	p := pool(t, dsn)
	if err := migrate(t.Context(), p, migrations); err != nil {
		t.Fatal(err)
	}
	run(t, p, "UPDATE agent_lsp.version SET version = 77")
	refused(t, dsn, "schema 77", fmt.Sprintf("up to %d", len(migrations)), "agent_lsp_test_")
}

func TestSchemaRefusesSharedIndex(t *testing.T) {
	p := pool(t, postgrestest.Database(t))
	if err := migrate(t.Context(), p, migrations); err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO agent_lsp.events VALUES (1, 0, 5, 'text/plain', 'x')"
	run(t, p, insert)
	if _, err := p.Exec(t.Context(), insert); err == nil {
		t.Fatal("two events have one index")
	}
}

func TestOlderSchemaIsMigratedOnce(t *testing.T) {
	dsn := postgrestest.Database(t)
	p := pool(t, dsn)
	if err := migrate(t.Context(), p, migrations[:1]); err != nil {
		t.Fatal(err)
	}
	id := uuid.New()
	record, err := contract.EncodeRecord(contract.Session{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Exec(t.Context(), "INSERT INTO agent_lsp.sessions (id, record, head) VALUES ($1, $2, 1)", id.String(), record); err != nil {
		t.Fatal(err)
	}
	run(t, p, "INSERT INTO agent_lsp.events SELECT n, 0, 5, 'text/plain', 'old' FROM agent_lsp.sessions")

	broken := []string{migrations[0], migrations[1] + "; CREATE TABLE agent_lsp.sessions (n int)"}
	if err := migrate(t.Context(), p, broken); err == nil || !strings.Contains(err.Error(), "migrate schema 1 to 2") {
		t.Fatalf("a migration that fails returns %v", err)
	}
	if version, err := readVersion(t.Context(), p, 9); version != 1 || err != nil {
		t.Fatalf("a migration that failed left schema %d, %v", version, err)
	}

	failures := make([]error, 6)
	var wg sync.WaitGroup
	for i := range failures {
		wg.Go(func() {
			s, err := Open(t.Context(), dsn)
			if err == nil {
				_, err = s.Append(t.Context(), id, time.Now(), contract.Payload{})
				err = errors.Join(err, s.PutSnapshot(t.Context(), id, uint64(i), nil), s.Close())
			}
			failures[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, dsn)
	if head, err := s.Head(t.Context(), id); head != 7 || err != nil {
		t.Fatalf("the head is %d, %v", head, err)
	}
}

func openTest(t *testing.T, dsn string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestUserWithoutRightsToTheSchema is how a team runs it: an administrator makes
// the schema, and users may only use it.
func TestUserWithoutRightsToTheSchema(t *testing.T) {
	dsn := postgrestest.Database(t)
	admin := pool(t, dsn)
	role := "agent_lsp_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	run(t, admin, "CREATE ROLE "+role+" LOGIN PASSWORD 'hunter2'")
	t.Cleanup(func() {
		for _, q := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			if _, err := admin.Exec(context.Background(), q); err != nil {
				t.Error(err)
			}
		}
	})
	mine := with(t, dsn, "user", role)
	refused(t, mine, "permission denied")
	openTest(t, dsn)
	run(t, admin, "GRANT USAGE ON SCHEMA agent_lsp TO "+role,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA agent_lsp TO "+role)
	s := openTest(t, mine)
	id := uuid.New()
	if err := s.Put(t.Context(), contract.Session{ID: id}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), id, time.Now(), contract.Payload{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestIsolationThatFailsAppendersIsRefused(t *testing.T) {
	dsn := postgrestest.Database(t)
	refused(t, with(t, dsn, "default_transaction_isolation", "repeatable read"), "repeatable read", "read committed")
}

func TestErrorsKeepThePassword(t *testing.T) {
	for _, dsn := range []string{
		"postgres://me:hunter2@127.0.0.1:1/db?connect_timeout=2",
		"postgres://me:hunter2@127.0.0.1:1/db?sslmode=nonsense",
		"postgres://me:hunter2@127.0.0.1:port/db",
		"postgres://me:hunter2@[::1/db",
	} {
		_, err := Open(t.Context(), dsn)
		if err == nil {
			t.Fatalf("%s was opened", dsn)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}

// TestCancelledWaitEnds has an append wait for the session's row, which another
// connection keeps locked until the append has returned.
func TestCancelledWaitEnds(t *testing.T) {
	dsn := postgrestest.Database(t)
	s := openTest(t, dsn)
	id := uuid.New()
	if err := s.Put(t.Context(), contract.Session{ID: id}); err != nil {
		t.Fatal(err)
	}
	tx, err := pool(t, dsn).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM agent_lsp.sessions FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Append(ctx, id, time.Now(), contract.Payload{})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled wait returns %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if head, err := s.Append(t.Context(), id, time.Now(), contract.Payload{}); err != nil || head > 1 {
		t.Fatalf("after a cancelled wait an append returns %d, %v", head, err)
	}
}

func TestServerThatWentAwayIsUsedAgain(t *testing.T) {
	cluster := postgrestest.New(t, "fsync=off")
	s := openTest(t, cluster.Database(t))
	id := uuid.New()
	if err := s.Put(t.Context(), contract.Session{ID: id}); err != nil {
		t.Fatal(err)
	}
	var busy sync.WaitGroup // fills the pool with connections
	for range 4 {
		busy.Go(func() {
			if _, err := s.Head(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
	}
	busy.Wait()
	if err := cluster.Kill(); err != nil {
		t.Fatal(err)
	}
	var failure *contract.BackendError
	if _, err := s.Append(t.Context(), id, time.Now(), contract.Payload{}); !errors.As(err, &failure) {
		t.Fatalf("without a server an append returns %v", err)
	}
	if err := cluster.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if index, err := s.Append(t.Context(), id, time.Now(), contract.Payload{}); err != nil || index != 0 {
		t.Fatalf("with the server back an append returns %d, %v", index, err)
	}
}
