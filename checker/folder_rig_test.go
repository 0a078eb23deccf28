//go:build unix

package checker

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"golang.org/x/sys/unix"
)

// patience bounds waiting for what must happen; only a failing test waits it out.
const patience = 20 * time.Second

// folder is a workspace folder under watch, whose check greps for the word bad.
type folder struct {
	*Folder
	t       *testing.T
	dir     string
	made    atomic.Pointer[Checker]
	reports chan Result // of checks that nobody asked for
	log     chan string
}

// grep finds the word bad in the files of a root. Where there are named pipes
// beside the root it tells one that it looked, and waits for the other to say what
// it saw.
const grep = `found=$(grep -Hn bad *.go)
if test -p $PWD.runs; then echo > $PWD.runs; read go < $PWD.go; fi
echo "$found"
test -z "$found"`

func newFolderRig(t *testing.T, roots ...string) *folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{t: t, dir: dir, reports: make(chan Result, 100), log: make(chan string, 100)}
	for _, root := range roots {
		put(t, f.path(root, "go.mod"), "module "+root+"\n")
		f.write(root, "bad")
		// What was written just before its check would be checked once more.
		if err := os.Chtimes(f.path(root, "a.go"), time.Time{}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	f.configure(grep)
	f.Folder = NewFolder(FolderConfig{
		Dir: dir, Checker: f.made.Load, Report: func(r Result) { f.reports <- r },
		Log: slog.New(slog.NewTextHandler(writer(func(line string) { f.log <- line }), &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	t.Cleanup(f.Close)
	return f
}

// configure has the next checks run a script.
func (f *folder) configure(script string) {
	c := New(Config{Trusted: true, Policy: proc.Unconfined("a test's own command"), Commands: map[string]Command{Go: {Argv: []string{"sh", "-c", script}}}})
	f.t.Cleanup(func() { _ = c.Close() })
	f.made.Store(c)
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *folder) path(parts ...string) string {
	return filepath.Join(append([]string{f.dir}, parts...)...)
}

// write gives a root's file a text, in one step.
func (f *folder) write(root, text string) {
	f.t.Helper()
	put(f.t, f.path("new"), text+"\n")
	if err := os.Rename(f.path("new"), f.path(root, "a.go")); err != nil {
		f.t.Fatal(err)
	}
}

// shown has findings of roots shown, and waits until changes are seen.
func (f *folder) shown(roots ...string) {
	f.t.Helper()
	for _, root := range roots {
		f.check(root, Found)
	}
	f.seen()
	for len(f.reports) > 0 {
		<-f.reports // of what was written just before
	}
}

// seen waits until changes are seen.
func (f *folder) seen() {
	f.t.Helper()
	select {
	case line := <-f.log:
		if !strings.Contains(line, "level=DEBUG") {
			f.t.Fatal(line)
		}
	case <-time.After(patience):
		f.t.Fatal("nothing is watched")
	}
}

// check asks for a check as a person does.
func (f *folder) check(root string, want Outcome) Result {
	f.t.Helper()
	return f.is(f.Check(f.t.Context(), f.path(root)), root, want)
}

// edited asks for a check as an edit of a root's file does.
func (f *folder) edited(root string, want Outcome) Result {
	f.t.Helper()
	results := f.AfterEdit(f.t.Context(), []string{f.path(root, "a.go")})
	if len(results) != 1 {
		f.t.Fatalf("%d results", len(results))
	}
	return f.is(results[0], root, want)
}

// again waits for a check that nobody asked for. One of the same root that was begun
// before the last change, with another outcome, may come first.
func (f *folder) again(root string, want Outcome) {
	f.t.Helper()
	late := time.After(patience)
	for {
		select {
		case r := <-f.reports:
			if r.Root == f.path(root) && r.Outcome != want {
				continue
			}
			f.is(r, root, want)
			return
		case <-late:
			f.t.Fatalf("%s is not checked again, or is not %v then", root, want)
		}
	}
}

// eventually waits for a check that nobody asked for, whatever others come before.
func (f *folder) eventually(root string, want Outcome) {
	f.t.Helper()
	late := time.After(patience)
	for {
		select {
		case r := <-f.reports:
			if r.Root == f.path(root) && r.Outcome == want {
				return
			}
		case <-late:
			f.t.Fatalf("%s is not checked again, or is not %v then", root, want)
		}
	}
}

func (f *folder) is(r Result, root string, want Outcome) Result {
	f.t.Helper()
	if r.Root != f.path(root) || r.Outcome != want {
		f.t.Fatalf("%s is %v, want %s %v: %s", r.Root, r.Outcome, root, want, r.Text)
	}
	return r
}

// fifos makes the named pipes of a root's check: it runs when running returns, and
// goes on with release.
func (f *folder) fifos(root string) (running, release func()) {
	f.t.Helper()
	// Open for both, a pipe keeps what is written to it.
	open := func(name string) *os.File {
		if err := unix.Mkfifo(f.path(name), 0o600); err != nil {
			f.t.Fatal(err)
		}
		file, err := os.OpenFile(f.path(name), os.O_RDWR, 0)
		if err == nil {
			err = file.SetDeadline(time.Now().Add(patience))
		}
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() { _ = file.Close() })
		return file
	}
	going, runs := open(root+".go"), open(root+".runs")
	return func() {
			f.t.Helper()
			if _, err := io.ReadFull(runs, make([]byte, 1)); err != nil {
				f.t.Fatalf("the check of %s does not run: %v", root, err)
			}
		}, func() {
			f.t.Helper()
			if _, err := going.WriteString("go\n"); err != nil {
				f.t.Error(err)
			}
		}
}
