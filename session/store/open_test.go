package store_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/session/store/storetest"
)

func TestOpenByDSN(t *testing.T) {
	t.Chdir(t.TempDir())
	abs, err := filepath.Abs("by absolute path.db")
	if err != nil {
		t.Fatal(err)
	}
	for dsn, file := range map[string]string{
		"memory:":              "",
		"sqlite:by-scheme.db":  "by-scheme.db",
		"sqlite:" + abs:        abs,
		"by-path.db":           "by-path.db",
		"new/dir/by path.db":   "new/dir/by path.db",
		"postgres.db":          "postgres.db",
		"sqlite:memory:":       "memory:",
		"./memory:":            "./memory:",
		"odd:name?mode=ro#.db": "odd:name?mode=ro#.db",
	} {
		if runtime.GOOS == "windows" && strings.ContainsAny(file, ":?") && file != abs {
			continue // no such file names there
		}
		s, err := store.Open(t.Context(), dsn)
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		if err := s.Put(t.Context(), storetest.Record(1, 0)); err != nil {
			t.Errorf("%s: %v", dsn, err)
		}
		if got, want := store.Forgets(s), file == ""; got != want {
			t.Errorf("%s: forgets is %v", dsn, got)
		}
		if file != "" {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %v", dsn, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

func TestOpenRefusesWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, dsn := range []string{
		"", ":memory:", "memory:x", "sqlite:", "sqlite3:x.db", "file:x.db", "mysql://me:hunter2@host/db",
		"host=127.0.0.1 port=1 password=hunter2 dbname=x connect_timeout=2", "password = 'hunter2' host = nowhere.invalid connect_timeout=2", "user=me password=hunter2 port=nonsense",
		"https://me:hunter2@host/db", "postgres://me:hunter2@host:nonsense/db",
	} {
		s, err := store.Open(t.Context(), dsn)
		if err == nil {
			s.Close()
			t.Errorf("%q was opened", dsn)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error for %q tells the password: %v", dsn, err)
		}
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("refused stores left %v, %v", made, err)
	}
}
