package checker_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"golang.org/x/sys/unix"
)

// patience bounds waiting for what must happen; only a failing test waits it out.
const patience = 20 * time.Second

// lifeline is a named pipe that a tool and all that it starts hold open as their
// descriptor 9: it comes to its end when the last of them is gone.
func lifeline(t *testing.T) (open string, ended func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "alive")
	mkfifo(t, path)
	// Without blocking it opens before anybody writes.
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), path)
	t.Cleanup(func() { _ = file.Close() })
	return "exec 9>" + path + "; echo alive >&9; ", func() {
		t.Helper()
		if err := file.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if said, err := io.ReadAll(file); err != nil || len(said) == 0 {
			t.Errorf("something that the tool started is left, or it did not start: %q %v", said, err)
		}
	}
}

// TestHostileToolsAreBounded runs tools that print without end, wait for input, do
// not end when they are told to, or leave something behind.
func TestHostileToolsAreBounded(t *testing.T) {
	found := func(says ...string) want {
		return want{outcome: checker.Found, at: []string{"a.go:1:1 error"}, says: says}
	}
	late := want{outcome: checker.Failed, says: []string{"did not finish within 0.3s"}, silent: []string{"Diagnostics from"}}
	size := "64M"
	if os.Getenv("AGENT_LSP_TEST_SLOW") != "" {
		size = "1G"
	}
	cut := found("The list is not complete", "bytes of it were not read")
	cases := []struct {
		name, script string
		want         want
	}{
		{"waits for input", "read x; exit 1", want{outcome: checker.Failed, says: []string{"reported nothing"}}},
		{"waits for input without end", "while :; do read x || sleep 1; done", late},
		{"NUL and invalid UTF-8", `printf 'a.go:1:1: b\000a\377d\n'; exit 1`, found("ba\uFFFDd")},
		{"only NUL and invalid UTF-8", `printf '\000\000\377\n'; exit 1`, want{outcome: checker.Found, says: []string{"\uFFFD"}}},
		{"a grandchild holds the output", "echo a.go:1:1: bad; sleep 600 & exit 1", found()},
		{"one in a session of its own", "echo a.go:1:1: bad; setsid sleep 600 & exit 1", found()},
		{"a grandchild holds the output of a clean one", "sleep 600 & exit 0", want{outcome: checker.Clean}},
		{"a grandchild of one that hangs", "setsid sleep 600 & sleep 600 & sleep 600", late},
		{"does not end when told to", "trap '' TERM HUP INT; sleep 600; sleep 600", late},
		{"starts more when told to end", "trap 'setsid sleep 600 & sleep 600' TERM; sleep 600 & wait; sleep 600", late},
		{"goes on starting more", "trap '' TERM; while :; do setsid sleep 600 & sleep 0.05; done", late},
		{"a line without end", "echo a.go:1:1: bad; head -c 18000000 /dev/zero | tr '\\0' x; exit 1", cut},
		{"very much", "echo a.go:1:1: bad; head -c " + size + " /dev/zero; exit 1", cut},
		{"very much on both streams", "echo a.go:1:1: bad; head -c " + size + " /dev/zero >&2; head -c " + size + " /dev/zero; exit 1", cut},
		{"never ends printing", "yes a.go:1:1: bad", late},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := project(t, "go.mod", goMod, "a.go", "package m\n")
			timeout := 2 * time.Minute
			if len(tc.want.silent) > 0 {
				timeout = 300 * time.Millisecond
			}
			open, ended := lifeline(t)
			c := start(t, checker.Config{Timeout: timeout, Commands: map[string]checker.Command{
				checker.Go: {Argv: []string{"/bin/sh", "-c", open + tc.script}},
			}})
			check(t, dir, edit(t, c, dir, "a.go"), tc.want)
			ended()
			if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
				t.Errorf("left in the workspace: %v %v", left, err)
			}
		})
	}
}

// TestWhatAToolPrintsIsNotAllKept has a tool print more than would be allocated
// for what is kept of it.
func TestWhatAToolPrintsIsNotAllKept(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	c := start(t, checker.Config{Commands: map[string]checker.Command{
		checker.Go: {Argv: []string{"/bin/sh", "-c", "echo a.go:1:1: bad; head -c 384M /dev/zero; exit 1"}},
	}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := edit(t, c, dir, "a.go")
	runtime.ReadMemStats(&after)
	check(t, dir, got, want{outcome: checker.Found, at: []string{"a.go:1:1 error"}})
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 300 {
		t.Errorf("%d MiB were allocated for it", mib)
	}
}

// TestCargoBehindAnotherOnesLock holds the lock of the target directory, as
// another cargo does: a check waits no longer than it may, a newer one takes its
// place, and nothing of either is left.
func TestCargoBehindAnotherOnesLock(t *testing.T) {
	t.Parallel()
	env := realEnv(t, "cargo")
	dir := project(t, "Cargo.toml", cargoManifest("m"), "src/lib.rs", "")
	lockFile(t, filepath.Join(dir, "target/debug/.cargo-lock"))
	blocked := func() {
		t.Helper()
		for end := time.Now().Add(patience); len(working(t, dir)) == 0; {
			if time.Now().After(end) {
				t.Fatal("no cargo runs")
			}
			runtime.Gosched()
		}
	}
	gone := func() {
		t.Helper()
		if left := working(t, dir); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
	t.Run("waits no longer than it may", func(t *testing.T) {
		got := edit(t, start(t, checker.Config{Env: env, Timeout: 4 * time.Second}), dir, "src/lib.rs")
		check(t, dir, got, want{outcome: checker.Failed, says: []string{"did not finish within 4s", "Blocking waiting for file lock"}})
		gone()
	})
	t.Run("the newest of two wins, and ends with the checker", func(t *testing.T) {
		c := checker.New(checker.Config{Trusted: true, Policy: anything, Env: env})
		first, second := make(chan checker.Result, 1), make(chan checker.Result, 1)
		go func() { first <- c.AfterEdit(context.Background(), dir, []string{"src/lib.rs"})[0] }()
		blocked()
		go func() { second <- c.AfterEdit(context.Background(), dir, []string{"src/lib.rs"})[0] }()
		old := <-first
		check(t, dir, old, want{outcome: checker.Failed, says: []string{"a newer check of the same root"}})
		if !old.Superseded {
			t.Error("the older check is not marked as superseded")
		}
		blocked()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		check(t, dir, <-second, want{outcome: checker.Failed, says: []string{"the checker is closed"}})
		gone()
	})
}

// working are the command lines of the processes that work in a directory.
func working(t *testing.T, dir string) (lines []string) {
	t.Helper()
	cwds, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, cwd := range cwds {
		if to, err := os.Readlink(cwd); err != nil || to != dir {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(cwd), "cmdline"))
		if err == nil && len(line) > 0 {
			lines = append(lines, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}
