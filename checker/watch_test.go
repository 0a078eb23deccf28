package checker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/google/go-cmp/cmp"
)

func watch(t *testing.T, dir string, cfg checker.WatchConfig) *checker.Watcher {
	t.Helper()
	w, err := checker.Watch(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// until receives changes until all wanted paths, relative to dir, were told, and
// returns everything that was.
func until(t *testing.T, w *checker.Watcher, dir string, wanted ...string) []string {
	t.Helper()
	var told []string
	missing := slices.Clone(wanted)
	for len(missing) > 0 {
		select {
		case ch, ok := <-w.Changes():
			if !ok || ch.Err != nil {
				t.Fatalf("watcher ended or failed: %v", ch.Err)
			}
			for _, path := range ch.Paths {
				rel, err := filepath.Rel(dir, path)
				if err != nil {
					t.Fatal(err)
				}
				rel = filepath.ToSlash(rel)
				told = append(told, rel)
				missing = slices.DeleteFunc(missing, func(m string) bool { return m == rel })
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("not told: %v; told: %v", missing, told)
		}
	}
	return told
}

func TestWatchTellsEachKindOfChange(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a/a.go", "package a\n", "b/b.go", "package b\n", "gone.go", "package m\n")
	w := watch(t, dir, checker.WatchConfig{Debounce: time.Millisecond})
	steps := []struct {
		name string
		do   func() error
		want []string
	}{
		{"write", func() error { return os.WriteFile(filepath.Join(dir, "a/a.go"), []byte("package a // 1\n"), 0o644) }, []string{"a/a.go"}},
		{"create", func() error { return os.WriteFile(filepath.Join(dir, "a/new.go"), []byte("package a\n"), 0o644) }, []string{"a/new.go"}},
		{"remove", func() error { return os.Remove(filepath.Join(dir, "gone.go")) }, []string{"gone.go"}},
		{"replace by rename", func() error {
			tmp := filepath.Join(dir, "a/.tmp")
			if err := os.WriteFile(tmp, []byte("package a // 2\n"), 0o644); err != nil {
				return err
			}
			return os.Rename(tmp, filepath.Join(dir, "a/a.go"))
		}, []string{"a/a.go"}},
		{"move a directory", func() error { return os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "c")) }, []string{"b", "c/b.go"}},
		{"write in the moved one", func() error { return os.WriteFile(filepath.Join(dir, "c/b.go"), []byte("package c\n"), 0o644) }, []string{"c/b.go"}},
		{"make the old one again", func() error {
			if err := os.MkdirAll(filepath.Join(dir, "b/deep/er"), 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "b/deep/er/x.go"), []byte("package er\n"), 0o644)
		}, []string{"b/deep/er/x.go"}},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		until(t, w, dir, s.want...)
	}
}

func TestWatchLosesNoFileOfNewDirectories(t *testing.T) {
	dir := project(t, "go.mod", goMod)
	w := watch(t, dir, checker.WatchConfig{Debounce: time.Millisecond})
	var wanted []string
	for i := range 200 {
		name := fmt.Sprintf("p%d/q/f.go", i)
		write(t, dir, name, "package q\n")
		wanted = append(wanted, name)
	}
	until(t, w, dir, wanted...)
}

func TestWatchPassesOverWhatNoCheckDependsOn(t *testing.T) {
	dir := project(t, "Cargo.toml", "", "pkg/target/own.go", "", ".git/index", "", "target/debug/x", "", "node_modules/m/i.js", "")
	w := watch(t, dir, checker.WatchConfig{Debounce: time.Millisecond})
	write(t, dir, ".git/index", "1", "target/debug/x", "1", "node_modules/m/i.js", "1", "main.rs~", "1", ".main.rs.swp", "1", ".#main.rs", "1")
	write(t, dir, ".venv/lib/x.py", "1")
	write(t, dir, "pkg/target/own.go", "package target\n", "last.rs", "1")
	told := until(t, w, dir, "last.rs", "pkg/target/own.go")
	for _, name := range told {
		if name != "last.rs" && name != "pkg/target/own.go" {
			t.Errorf("told of %s", name)
		}
	}
}

func TestWatchIgnoresWritesThatChangeNothing(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a.go", "")
	w := watch(t, dir, checker.WatchConfig{Debounce: time.Millisecond})
	// By renaming, the file never holds another text in between.
	replace := func() {
		write(t, dir, "same", "package a\n")
		if err := os.Rename(filepath.Join(dir, "same"), filepath.Join(dir, "a.go")); err != nil {
			t.Fatal(err)
		}
	}
	replace()
	until(t, w, dir, "a.go")
	replace()
	write(t, dir, "b.go", "package a\n")
	if told := until(t, w, dir, "b.go"); slices.Contains(told, "a.go") {
		t.Errorf("told of a.go, which did not change: %v", told)
	}
}

// TestWatchWaitsForQuiet drives the watcher's clock by hand.
func TestWatchWaitsForQuiet(t *testing.T) {
	dir := project(t, "go.mod", goMod)
	type wait struct {
		d  time.Duration
		ch chan time.Time
	}
	waits := make(chan wait, 100)
	w := watch(t, dir, checker.WatchConfig{Debounce: time.Second, After: func(d time.Duration) <-chan time.Time {
		ch := make(chan time.Time, 1)
		waits <- wait{d, ch}
		return ch
	}})
	write(t, dir, "a.go", "package a\n")
	first := <-waits
	long := <-waits
	if first.d != time.Second || long.d != 20*time.Second {
		t.Fatalf("waits %v and %v", first.d, long.d)
	}
	select {
	case ch := <-w.Changes():
		t.Fatalf("told before the quiet time: %+v", ch)
	default:
	}
	long.ch <- time.Time{}
	ch := <-w.Changes()
	if diff := cmp.Diff([]string{filepath.Join(dir, "a.go")}, ch.Paths); diff != "" {
		t.Error(diff)
	}
	if !ch.Affects(dir) || ch.Affects(filepath.Join(dir, "sub")) {
		t.Error("the wrong roots are affected")
	}
	if diff := cmp.Diff([]string{dir}, ch.Roots(dir)); diff != "" {
		t.Error(diff)
	}
}

func TestWatchSeesAWorkspaceThatIsALink(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a/a.go", "package a\n")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	w := watch(t, link, checker.WatchConfig{Debounce: time.Millisecond})
	write(t, dir, "a/a.go", "package a // changed\n")
	until(t, w, link, "a/a.go")
}

func TestWatchEndsItsChanges(t *testing.T) {
	w := watch(t, t.TempDir(), checker.WatchConfig{})
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, open := <-w.Changes(); open {
		t.Error("the changes go on after Close")
	}
	if _, err := checker.Watch(filepath.Join(t.TempDir(), "none"), checker.WatchConfig{}); err == nil {
		t.Error("a workspace that does not exist is watched")
	}
}

// TestFindingsAreLookedAtAgainWhenAnotherHandChangesTheFile is the way of an
// engine: whatever root a change affects is checked again.
func TestFindingsAreLookedAtAgainWhenAnotherHandChangesTheFile(t *testing.T) {
	dir := project(t, "m/go.mod", goMod, "m/a.go", "package m\n\nvar A = missing\n", "n/go.mod", goMod)
	c := start(t, checker.Config{})
	check(t, dir, edit(t, c, dir, "m/a.go"), want{outcome: checker.Found, at: []string{"m/a.go:3:9 error"}})
	w := watch(t, dir, checker.WatchConfig{Debounce: time.Millisecond})
	write(t, dir, "n/b.go", "package m\n", "m/a.go", "package m\n\nvar A = 1\n")
	for {
		ch := <-w.Changes()
		affected := c.Affected(ch)
		if slices.Contains(affected, filepath.Join(dir, "n")) {
			t.Error("a root that was never checked is affected")
		}
		if len(affected) == 0 {
			continue
		}
		if got := c.Check(t.Context(), affected[0]); got.Outcome == checker.Clean && got.Root == filepath.Join(dir, "m") {
			return // the write may be seen in two halves
		}
	}
}
