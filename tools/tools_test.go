package tools

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/caches"
	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// leftover is what a child of a test does in place of the tests, where there is one.
var leftover func() bool

func TestMain(m *testing.M) {
	caches.Main()
	proc.Main()
	if leftover != nil && leftover() {
		return
	}
	cache, err := os.MkdirTemp("", "agent-lsp-tools-")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CACHE_HOME", cache)
	code := m.Run()
	_ = os.RemoveAll(cache)
	os.Exit(code)
}

// world is an executor on a directory of its own.
type world struct {
	*Executor
	t   *testing.T
	dir string
}

// newWorld makes a workspace with the files given.
func newWorld(t *testing.T, files map[string]string, change ...func(*Config)) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "w")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	for name, text := range files {
		w.put(name, text)
	}
	d, err := NewDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	cfg := Config{Workspace: d}
	for _, f := range change {
		f(&cfg)
	}
	if w.Executor, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) put(name, text string) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// get returns a file's bytes, "<none>" when it is not there.
func (w *world) get(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		return "<none>"
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// run performs a call after the look at it that decides whether it may be, as it is
// always done: a look must change nothing.
func (w *world) run(op Op) Outcome {
	w.t.Helper()
	w.Decide(w.t.Context(), op)
	return w.Run(w.t.Context(), op, "turn 1")
}

func readOp(p string) Op        { return Op{Read: &abi.Read{Path: p}} }
func writeOp(p, text string) Op { return Op{Write: &abi.Write{Path: p, Text: text}} }
func patchOp(p, diff string) Op { return Op{Patch: &abi.Patch{Path: p, Diff: diff}} }
func execOp(argv ...string) Op  { return Op{Exec: &abi.Exec{Argv: argv}} }
func gitOp(argv ...string) Op   { return Op{Git: &abi.Git{Argv: argv}} }

// want checks an outcome's state and that its text contains each part.
func want(t *testing.T, got Outcome, state State, parts ...string) {
	t.Helper()
	if got.State != state {
		t.Errorf("state is %s, want %s; text: %s", got.State, state, got.Text)
	}
	for _, p := range parts {
		if !strings.Contains(got.Text, p) {
			t.Errorf("text lacks %q:\n%s", p, got.Text)
		}
	}
}

func posix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs POSIX files and programs")
	}
}

func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := proc.Look(program, t.TempDir(), os.Environ()); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

func TestReadWritePatchExec(t *testing.T) {
	posix(t)
	w := newWorld(t, map[string]string{"a.go": "package a\n\nvar X = 1\n", "d/b.txt": "b"})
	want(t, w.run(readOp("a.go")), Completed, "package a\n\nvar X = 1\n")
	want(t, w.run(readOp(".")), Completed, "a.go\nd/")
	want(t, w.run(readOp("a.og")), Failed, "does not exist", "a.go")
	want(t, w.run(writeOp("d/b.txt", "c")), Failed, "read it first")
	want(t, w.run(writeOp("new/x/y.txt", "hello\n")), Completed, "created new/x/y.txt: 1 line")
	want(t, w.run(patchOp("a.go", "--- a/a.go\n+++ b/a.go\n@@ -3,1 +3,1 @@\n-var X = 1\n+var X = 2\n")), Completed, "patched a.go: 1 line added, 1 removed")
	if got := w.get("a.go"); got != "package a\n\nvar X = 2\n" {
		t.Errorf("a.go is %q", got)
	}
	want(t, w.run(writeOp("a.go", "package a\n\nvar X = 3\n")), Completed, "wrote a.go")
	out := w.run(execOp("sh", "-c", "echo out; echo err >&2; echo 1 >>a.go; exit 3"))
	want(t, out, Failed, "exit code 3\nout\n[stderr]\nerr\n[changed files: a.go]")
	want(t, w.run(execOp("no-such-program")), Failed, "no-such-program was not found on the PATH")
}

func link(t *testing.T, w *world, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(w.dir, name)); err != nil {
		t.Fatal(err)
	}
}
