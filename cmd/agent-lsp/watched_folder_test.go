//go:build unix

package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/config"
	"golang.org/x/sys/unix"
)

// patience bounds waiting for what must happen; only a failing test waits it out.
const patience = 20 * time.Second

// folder is a workspace folder under watch, whose check greps for the word bad.
type folder struct {
	t       *testing.T
	dir     string
	checks  *checks
	reports chan checker.Result // of checks that nobody asked for
	log     chan string
}

// Write keeps the lines of the log.
func (f *folder) Write(line []byte) (int, error) {
	f.log <- string(line)
	return len(line), nil
}

// grep finds the word bad in the files of a root. Where there are named pipes
// beside the root it tells one that it looked, and waits for the other to say what
// it saw.
const grep = `found=$(grep -Hn bad *.go)
if test -p $PWD.runs; then echo > $PWD.runs; read go < $PWD.go; fi
echo "$found"
test -z "$found"`

func newFolder(t *testing.T, roots ...string) *folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{t: t, dir: dir, checks: &checks{}, reports: make(chan checker.Result, 100), log: make(chan string, 100)}
	for _, root := range roots {
		put(t, f.path(root, "go.mod"), "module "+root+"\n")
		f.write(root, "bad")
	}
	f.configure(grep)
	f.checks.start(nil, func(folder string, r checker.Result) {
		if folder != dir {
			t.Errorf("reported of %s", folder)
		}
		f.reports <- r
	}, slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(f.checks.close)
	return f
}

func (f *folder) configure(script string) {
	cfg := config.Default()
	cfg.Exec.Sandbox = false
	cfg.Checker.Commands = map[string][]string{"go": {"sh", "-c", script}}
	f.checks.configure(f.dir, &cfg)
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
		f.check(root, checker.Found)
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
func (f *folder) check(root string, want checker.Outcome) checker.Result {
	f.t.Helper()
	return f.is(f.checks.Check(f.t.Context(), f.dir, f.path(root)), root, want)
}

// edited asks for a check as an edit of a root's file does.
func (f *folder) edited(root string, want checker.Outcome) checker.Result {
	f.t.Helper()
	results := f.checks.AfterEdit(f.t.Context(), f.dir, []string{f.path(root, "a.go")})
	if len(results) != 1 {
		f.t.Fatalf("%d results", len(results))
	}
	return f.is(results[0], root, want)
}

// again waits for a check that nobody asked for.
func (f *folder) again(root string, want checker.Outcome) {
	f.t.Helper()
	select {
	case r := <-f.reports:
		f.is(r, root, want)
	case <-time.After(patience):
		f.t.Fatalf("%s is not checked again", root)
	}
}

func (f *folder) is(r checker.Result, root string, want checker.Outcome) checker.Result {
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

func (f *folder) watched() *watched { return f.checks.watching(f.dir) }
