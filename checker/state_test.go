//go:build unix

package checker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// TestACancelledRecheckShowsNothing has a check that nobody asked for give way: it is
// made again later, and its outcome is not shown.
func TestACancelledRecheckShowsNothing(t *testing.T) {
	for _, cancelled := range []bool{true, false} {
		shown := 0
		u := newUpkeep(t.Context(), &Folder{cfg: FolderConfig{Report: func(Result) { shown++ }}})
		u.cancel, u.stale = func() {}, []string{"r"}
		u.done(rechecked{root: "r", result: Result{Outcome: Failed, Root: "r"}, cancelled: cancelled})
		if again := len(u.stale) == 1; again != cancelled || shown == 1 == cancelled {
			t.Errorf("cancelled %v: made again %v, shown %d times", cancelled, again, shown)
		}
	}
}

// TestCloseWaitsForCalls has a call go on after it was told to end.
func TestCloseWaitsForCalls(t *testing.T) {
	c := New(Config{})
	ctx, leave, ok := c.enter(t.Context())
	if !ok {
		t.Fatal("a new checker is closed")
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = c.Close()
	}()
	<-ctx.Done()
	for range 1000 {
		runtime.Gosched()
	}
	select {
	case <-closed:
		t.Error("the checker was closed with a call inside")
	default:
	}
	leave()
	<-closed
}

// newWatching is a watch whose goroutine the test plays.
func newWatching(t *testing.T) *watching {
	t.Helper()
	system, err := workspace.NewNotifier()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = system.Close() })
	never := func(time.Duration) <-chan time.Time { return make(chan time.Time) }
	l := &watching{
		Watcher: &Watcher{workspace: t.TempDir(), cfg: WatchConfig{After: never}, system: system},
		dirs:    map[string]bool{}, texts: sameText{}, pending: map[string]bool{},
	}
	if err := l.add(t.Context(), l.workspace, false); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *watching) put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(l.workspace, name)
	put(t, path, text)
	return path
}

// TestTooManyChangesAreAChangeOfEverything changes as many files as are kept apart,
// and one more.
func TestTooManyChangesAreAChangeOfEverything(t *testing.T) {
	l := newWatching(t)
	for i := range maxPaths - 1 {
		l.pending[fmt.Sprint(i)] = true
	}
	for i, everything := range []bool{false, true} {
		l.file(l.put(t, fmt.Sprintf("%d.go", i), "package a\n"))
		if ch := l.change(); ch.Everything != everything || (len(ch.Paths) == 0) != everything {
			t.Errorf("after %d changes everything changed: %v, with %d paths", maxPaths+i, ch.Everything, len(ch.Paths))
		}
	}
}

// TestAfterLostEventsAnUnchangedFileIsToldAgain: what it was before nobody knows.
func TestAfterLostEventsAnUnchangedFileIsToldAgain(t *testing.T) {
	l := newWatching(t)
	path := l.put(t, "a.go", "package a\n")
	for i, told := range []bool{true, false, true} {
		if i == 2 {
			l.failure(t.Context(), workspace.ErrLost)
			if ch := l.change(); !ch.Everything || ch.Err != nil {
				t.Errorf("lost events are %+v", ch)
			}
		}
		l.reset()
		l.file(path)
		if got := l.pending[path]; got != told {
			t.Errorf("the %d. notice of the file is told: %v", i+1, got)
		}
	}
}

// TestADirectoryThatIsGoneIsNotWatched removes one with another below it.
func TestADirectoryThatIsGoneIsNotWatched(t *testing.T) {
	l := newWatching(t)
	l.put(t, "d/e/a.go", "package a\n")
	l.put(t, "da/a.go", "package a\n")
	if err := l.add(context.Background(), l.workspace, false); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(l.workspace, "d")
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	l.event(t.Context(), workspace.Event{Path: gone, What: workspace.Gone})
	for dir := range l.dirs {
		if dir == gone || strings.HasPrefix(dir, gone+string(filepath.Separator)) {
			t.Errorf("%s is still watched", dir)
		}
	}
	if !l.dirs[filepath.Join(l.workspace, "da")] {
		t.Error("a directory of a longer name is not watched any more")
	}
}

// TestWhatWasNotReadIsSaidOfBothStreams floods one and finds on the other.
func TestWhatWasNotReadIsSaidOfBothStreams(t *testing.T) {
	for _, stream := range []string{"1", "2"} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "go.mod"), "module m\n")
		put(t, filepath.Join(dir, "a.go"), "package m\n")
		script := "echo a.go:1:1: bad; head -c 20M /dev/zero >&" + stream + "; exit 1"
		c := New(Config{Trusted: true, Policy: proc.Unconfined("a test's own command"), Commands: map[string]Command{Go: {Argv: []string{"sh", "-c", script}}}})
		defer c.Close()
		if r := c.Check(t.Context(), dir); r.Outcome != Found || !strings.Contains(r.Text, "bytes of it were not read") {
			t.Errorf("stream %s: %v, %.300s", stream, r.Outcome, r.Text)
		}
	}
}
