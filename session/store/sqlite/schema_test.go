package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// rawFile makes a file of the first steps of the schema through one connection.
func rawFile(t *testing.T, steps []string) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sessions.db")
	db, err := sql.Open("sqlite", dsn(path, "rwc"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	if err := useWAL(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), db, steps); err != nil {
		t.Fatal(err)
	}
	return path, db
}

// withEvent stores a session with one event as schema 1 does.
func withEvent(t *testing.T, db *sql.DB) uuid.UUID {
	t.Helper()
	id := uuid.New()
	record, err := contract.EncodeRecord(contract.Session{ID: id, Harness: "old"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(putSQL, id.String(), record); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(insertSQL, 1, 0, 5, "text/plain", []byte("old")); err != nil {
		t.Fatal(err)
	}
	return id
}

func checkMigrated(t *testing.T, path string, id uuid.UUID) {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rec, ok, err := s.Get(t.Context(), id)
	if err != nil || !ok || rec.Harness != "old" {
		t.Fatalf("the record is %v, %v, %v", rec, ok, err)
	}
	if index, err := s.Append(t.Context(), id, time.Now(), contract.Payload{}); err != nil || index != 1 {
		t.Fatalf("the next index is %d, %v", index, err)
	}
	if err := s.PutSnapshot(t.Context(), id, 1, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if version, err := readVersion(t.Context(), s.read); err != nil || version != len(migrations) {
		t.Fatalf("the file has schema %d, %v", version, err)
	}
}

func TestOlderSchemaIsMigrated(t *testing.T) {
	path, db := rawFile(t, migrations[:1])
	id := withEvent(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	checkMigrated(t, path, id)
}

// TestFilesOfEverySchemaAreRead has a file of each version as it was written then:
// a step of the schema never changes once it is in somebody's file.
func TestFilesOfEverySchemaAreRead(t *testing.T) {
	for version := 1; version <= len(migrations); version++ {
		text, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("schema-%d.sql", version)))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "sessions.db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(string(text))
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		checkMigrated(t, path, uuid.MustParse("2e9dbc51-5c4c-4a5c-9a4e-0d6f8a1b7c3d"))
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		got, want := schemaOf(t, s.read), schemaOf(t, openTest(t).read)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("schema %d becomes another one than a new file has (-new +migrated):\n%s", version, d)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// schemaOf is a file's schema, spaces apart.
func schemaOf(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Join(strings.Fields(text), " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	path, db := rawFile(t, migrations[:1])
	id := withEvent(t, db)
	broken := []string{migrations[0], migrations[1] + "; CREATE TABLE sessions (n)"}
	err := migrate(t.Context(), db, broken)
	if err == nil || !strings.Contains(err.Error(), "migrate schema 1 to 2") {
		t.Fatalf("the failure is %v", err)
	}
	var tables int
	if err := db.QueryRow("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'snapshots'").Scan(&tables); err != nil || tables != 0 {
		t.Fatalf("half of the migration is there: %d, %v", tables, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	checkMigrated(t, path, id)
}

// TestHalfMigratedFileIsRolledBack copies the files of a migration that is under
// way, as a killed process leaves them.
func TestHalfMigratedFileIsRolledBack(t *testing.T) {
	path, db := rawFile(t, migrations[:1])
	id := withEvent(t, db)
	if _, err := db.Exec("PRAGMA cache_size=1; PRAGMA cache_spill=1"); err != nil { // pages reach the log before the commit
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec(migrations[1] + `; CREATE TABLE filler (x);
		INSERT INTO filler SELECT randomblob(4000) FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]')`); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("PRAGMA user_version=2"); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	checkMigrated(t, copied, id)
}

func TestNewerSchemaIsRefusedUnchanged(t *testing.T) {
	path, db := rawFile(t, migrations)
	withEvent(t, db)
	if _, err := db.Exec("PRAGMA user_version=77"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path)
	var failure *contract.BackendError
	if !errors.As(err, &failure) {
		t.Fatalf("a newer schema returns %v", err)
	}
	for _, want := range []string{path, "schema 77", fmt.Sprintf("up to %d", len(migrations))} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the refused file was changed (%v)", err)
	}
}

func TestSeveralOpenersMakeOneSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	failures := make([]error, 8)
	var wg sync.WaitGroup
	for i := range failures {
		wg.Go(func() {
			s, err := Open(t.Context(), path)
			if err == nil {
				err = errors.Join(s.Put(t.Context(), contract.Session{ID: uuid.New()}), s.Close())
			}
			failures[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
}

func TestSchemaRefusesSharedIndex(t *testing.T) {
	_, db := rawFile(t, migrations)
	withEvent(t, db)
	if _, err := db.Exec(insertSQL, 1, 0, 5, "text/plain", []byte("again")); err == nil {
		t.Fatal("two events have one index")
	}
}

func openTest(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestEveryConnectionIsSetUp(t *testing.T) {
	s := openTest(t)
	for name, db := range map[string]*sql.DB{"write": s.write, "read": s.read} {
		conns := 6
		if name == "write" {
			conns = 1
		}
		for range conns {
			c, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close() // held until the end, so that each is another one
			for pragma, want := range map[string]string{
				"busy_timeout": "10000", "synchronous": "2", "journal_mode": "wal", "fullfsync": "1",
			} {
				var got string
				if err := c.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
					t.Errorf("%s connection: %s is %s, %v; want %s", name, pragma, got, err, want)
				}
			}
		}
	}
}

// locked makes a store whose file another connection has locked for writing.
func locked(t *testing.T) (s *Store, id uuid.UUID, unlock func()) {
	t.Helper()
	s = openTest(t)
	id = uuid.New()
	if err := s.Put(t.Context(), contract.Session{ID: id}); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", dsn(s.path, "rw"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return s, id, func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

func TestWritersWaitForAnotherProcess(t *testing.T) {
	s, id, unlock := locked(t)
	done := make(chan error)
	go func() {
		_, err := s.Append(t.Context(), id, time.Now(), contract.Payload{})
		done <- err
	}()
	if _, err := s.Head(t.Context(), id); err != nil { // a reader does not wait
		t.Fatal(err)
	}
	select {
	case err := <-done:
		t.Fatalf("an append did not wait for the lock: %v", err)
	default:
	}
	unlock()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestCancelledWaitEnds would wait for its whole turn of ten seconds, and the call
// behind it for another, if a context did not end the wait.
func TestCancelledWaitEnds(t *testing.T) {
	s, id, unlock := locked(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	for range 2 { // one waits for the file's lock, one for the connection
		go func() {
			_, err := s.Append(ctx, id, time.Now(), contract.Payload{})
			done <- err
		}()
	}
	cancel()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatalf("a cancelled wait returns %v", err)
		}
	}
	unlock()
	if index, err := s.Append(t.Context(), id, time.Now(), contract.Payload{}); err != nil || index != 0 {
		t.Fatalf("after a cancelled wait an append returns %d, %v", index, err)
	}
}
