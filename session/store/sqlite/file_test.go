package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/session/store/sqlite"
	"github.com/agent-lsp/agent-lsp/session/store/storetest"
)

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// filled makes a store with one session of n events and closes it.
func filled(t *testing.T, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state", "sessions.db")
	s := open(t, path)
	fill(t, s, n)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func fill(t *testing.T, s store.Store, n int) {
	t.Helper()
	if err := s.Put(t.Context(), storetest.Record(1, 0)); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := s.Append(t.Context(), storetest.ID(1), storetest.At(i), storetest.JSON(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesAreTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists decide on Windows")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "sessions.db")
	fill(t, open(t, path), 1)
	for name, want := range map[string]os.FileMode{
		dir: 0o700, filepath.Dir(dir): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %04o, want %04o", name, got, want)
		}
	}
}

func TestLooseModesAreTightened(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists decide on Windows")
	}
	check := func(what, name string, want os.FileMode) {
		t.Helper()
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %04o, want %04o", what, got, want)
		}
	}
	empty, used := filepath.Join(t.TempDir(), "empty"), filepath.Join(t.TempDir(), "used")
	for _, dir := range []string{empty, used} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(used, "other"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, filepath.Join(empty, "s.db"))
	open(t, filepath.Join(used, "s.db"))
	check("an empty directory", empty, 0o700)
	check("a directory with other things in it", used, 0o755)

	path := filled(t, 1)
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	check("a file that others could read", path, 0o600)
}

// refused checks that a file cannot be opened, for a reason that names it, and is
// left as it was.
func refused(t *testing.T, path string, reasons ...string) {
	t.Helper()
	before, _ := os.ReadFile(path)
	s, err := store.Open(t.Context(), "sqlite:"+path)
	if err == nil {
		s.Close()
		t.Fatal("it was opened")
	}
	var failure *store.BackendError
	if !errors.As(err, &failure) {
		t.Errorf("the error is no *store.BackendError: %v", err)
	}
	for _, want := range append(reasons, path) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the refused file was changed")
	}
}

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	refused(t, write("text", "this is a diary, not a database, and longer than a header", 0o600), "not a database")
	refused(t, write("short", "hi", 0o600), "not a database")
	refused(t, write("cut", "SQLite format 3\x00 and no more", 0o600))
	refused(t, dir, "directory")
	refused(t, filepath.Join(write("file", "x", 0o600), "below", "s.db"), "make the directory")

	readOnly := filled(t, 1)
	if err := os.Chmod(readOnly, 0o400); err != nil {
		t.Fatal(err)
	}
	refused(t, readOnly, "read-only")
	if err := os.Chmod(readOnly, 0o600); err != nil {
		t.Fatal(err)
	}
	storeHolds(t, readOnly, 1)
}

func TestOpenRefusesAnotherProgramsDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cookies.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE cookies (name TEXT)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, path, "another program's")
}

// storeHolds checks that the session of filled still has n events, densely.
func storeHolds(t *testing.T, path string, n int) {
	t.Helper()
	s := open(t, path)
	next := 0
	for e, err := range s.Transcript(t.Context(), storetest.ID(1), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if want := storetest.JSON(fmt.Sprint(next)); e.Index != uint64(next) || string(e.Payload.Data) != string(want.Data) {
			t.Fatalf("event %d is %d %s", next, e.Index, e.Payload.Data)
		}
		next++
	}
	if next != n {
		t.Fatalf("%d events are there, want %d", next, n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedFileIsAnErrorThatNamesIt(t *testing.T) {
	path := filled(t, 200)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i++ { // all but the schema's page
		data[i] = 0xa5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), path)
	if err == nil {
		defer s.Close()
		_, err = s.Append(t.Context(), storetest.ID(1), storetest.At(0), storetest.JSON("x"))
	}
	var failure *store.BackendError
	if !errors.As(err, &failure) || failure.Place != path || !strings.Contains(err.Error(), path) {
		t.Fatalf("a damaged file is a *store.BackendError that names it, got %v", err)
	}
}

func TestMissingEventIsAnError(t *testing.T) {
	path := filled(t, 5)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DELETE FROM events WHERE idx = 2"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for e, failed := range open(t, path).Transcript(t.Context(), storetest.ID(1), nil) {
		if err = failed; err == nil {
			got = append(got, e.Index)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "event 2 is missing") || len(got) > 2 {
		t.Fatalf("a hole in a transcript is an error that names the index, got %v after %v", err, got)
	}
}

// TestCutLogLosesNoEarlierEvent cuts the write-ahead log as a crash may: what is
// left is a prefix, and the next appends follow it. AGENT_LSP_TEST_SLOW=1 cuts at
// and beside the end of every frame instead of some.
func TestCutLogLosesNoEarlierEvent(t *testing.T) {
	const events, header, frame = 30, 32, 24 + 4096
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	fill(t, s, events)
	main, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if len(log) < header+events*frame || (len(log)-header)%frame != 0 {
		t.Fatalf("the log has %d bytes, which are no frames of %d", len(log), frame)
	}
	cuts, every := []int{0, 1, header - 1, header}, 7
	if storetest.Slow() {
		every = 1
	}
	for n := 1; header+n*frame <= len(log); n += every {
		end := header + n*frame
		cuts = append(cuts, end-frame/2, end-1, end, min(end+1, len(log)))
	}
	cuts = append(cuts, len(log)-1, len(log))
	slices.Sort(cuts)
	last := 0
	for _, cut := range cuts {
		copied := filepath.Join(t.TempDir(), "copy.db")
		for name, data := range map[string][]byte{copied: main, copied + "-wal": log[:cut]} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		last = max(last, resume(t, copied, last))
	}
	if last != events {
		t.Fatalf("the whole log left %d events of %d", last, events)
	}
}

// resume checks that at least atLeast events are left, appends two, and checks
// again after reopening.
func resume(t *testing.T, path string, atLeast int) int {
	t.Helper()
	s := open(t, path)
	head, err := s.Head(t.Context(), storetest.ID(1))
	if err != nil {
		t.Fatal(err)
	}
	if int(head) < atLeast {
		t.Fatalf("a longer log left %d events where a shorter one left %d", head, atLeast)
	}
	if err := s.Put(t.Context(), storetest.Record(1, 0)); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(2) {
		index, err := s.Append(t.Context(), storetest.ID(1), storetest.At(0), storetest.JSON(fmt.Sprint(head+i)))
		if err != nil || index != head+i {
			t.Fatalf("append after a cut returns %d, %v; want %d", index, err, head+i)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storeHolds(t, path, int(head)+2)
	return int(head)
}

func TestCloseEmptiesTheLog(t *testing.T) {
	path := filled(t, 5)
	for _, beside := range []string{path + "-wal", path + "-shm"} {
		if _, err := os.Stat(beside); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left after Close (%v)", beside, err)
		}
	}
}

func TestOpenIsRelativeToTheDirectoryAtOpening(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := store.Open(context.Background(), "odd name?#%41.db")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	t.Chdir(t.TempDir())
	fill(t, s, 1)
	other, err := s.(store.Reopener).Reopen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if head, err := other.Head(t.Context(), storetest.ID(1)); head != 1 || err != nil {
		t.Fatalf("another handle is to another place: %d, %v", head, err)
	}
}
