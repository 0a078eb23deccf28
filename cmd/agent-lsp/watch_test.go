//go:build unix

package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestWhileFindingsAreShownChangesAreCheckedAgain(t *testing.T) {
	f := newFolder(t, "one", "two")
	f.shown("one", "two")
	f.write("one", "good")
	f.again("one", checker.Clean)
	f.write("one", "bad")
	f.write("two", "bad, still")
	f.again("two", checker.Found) // and one, of which nothing is shown, is not
	f.edited("one", checker.Found)
	f.write("one", "bad, as well")
	f.again("one", checker.Found)
}

// TestOlderTimesOfFilesHideNoChange puts a file in place that was written long ago.
func TestOlderTimesOfFilesHideNoChange(t *testing.T) {
	f := newFolder(t, "one")
	put(t, f.path("old"), "good\n")
	if err := os.Chtimes(f.path("old"), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	f.shown("one")
	if err := os.Rename(f.path("old"), f.path("one", "a.go")); err != nil {
		t.Fatal(err)
	}
	f.again("one", checker.Clean)
}

func TestDeletedFilesAreCheckedAgain(t *testing.T) {
	f := newFolder(t, "one")
	put(t, f.path("one", "b.go"), "fine\n")
	f.shown("one")
	if err := os.Remove(f.path("one", "a.go")); err != nil {
		t.Fatal(err)
	}
	f.again("one", checker.Clean)
}

// TestACheckedEditIsNotCheckedAgain lets the watch see an edit that its own check
// saw; the change of another root behind it is checked again.
func TestACheckedEditIsNotCheckedAgain(t *testing.T) {
	f := newFolder(t, "one", "two")
	f.edited("one", checker.Found)
	f.seen()
	if len(f.reports) > 0 {
		t.Error("an edit was checked again before anything changed")
	}
	f.check("two", checker.Found)
	f.write("one", "bad, edited")
	f.edited("one", checker.Found)
	f.write("two", "good")
	f.again("two", checker.Clean)
	f.write("one", "bad, by another hand")
	f.again("one", checker.Found)
}

// TestWhatWasChangedBeforeTheWatchBeganIsSeen changes a file after its check began
// and before anything is watched.
func TestWhatWasChangedBeforeTheWatchBeganIsSeen(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"written": func(path string) error {
			a := time.Now().Add(-time.Second) // as told where times are coarse
			return os.Chtimes(path, a, a)
		},
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, "one")
			put(t, f.path("one", "c.go"), "bad\n")
			for _, name := range []string{"a.go", "c.go"} {
				if err := os.Chtimes(f.path("one", name), time.Time{}, time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
			}
			running, release := f.fifos("one")
			asked := make(chan checker.Result, 1)
			go func() { asked <- f.checks.Check(context.Background(), f.dir, f.path("one")) }()
			running()
			if err := change(f.path("one", "c.go")); err != nil {
				t.Fatal(err)
			}
			release()
			f.is(<-asked, "one", checker.Found)
			running()
			release()
			f.again("one", checker.Found)
		})
	}
}

// TestAChangeWaitsForTheChecksUnderWay tells of a change while a check runs that
// may have seen it: it is looked at when the check has ended.
func TestAChangeWaitsForTheChecksUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(checks).watching(t.TempDir()) // without anybody to report to
		path := filepath.Join(w.folder, "a.go")
		put(t, path, "bad\n")
		w.checking()(checker.Result{Outcome: checker.Found, Root: w.folder})
		done := w.checking(path)
		another := w.checking() // waits for none
		looked := false
		go func() {
			w.changed(checker.Change{Paths: []string{path}})
			looked = true
		}()
		for _, end := range []func(...checker.Result){done, another} {
			synctest.Wait()
			if looked {
				t.Fatal("a change was looked at while a check ran")
			}
			w.checking()() // a change that waits is in nobody's way
			end(checker.Result{Outcome: checker.Found, Root: w.folder})
		}
		synctest.Wait()
		if !looked {
			t.Fatal("the change was never looked at")
		}
		w.checking()()
		closing := w.checking()
		looked = false
		go func() {
			w.changed(checker.Change{Everything: true})
			looked = true
		}()
		synctest.Wait()
		w.close()
		synctest.Wait()
		if !looked {
			t.Error("a closed folder waits for the checks under way")
		}
		closing()
	})
}

// TestAChangeGivesWayToAnEdit has an edit come while a root is checked again: the
// edit's check is not cut off, and the other one is made up for.
func TestAChangeGivesWayToAnEdit(t *testing.T) {
	for _, root := range []string{"one", "two"} {
		t.Run("of "+root, func(t *testing.T) {
			f := newFolder(t, "one", "two")
			f.shown("one", "two")
			running, release := f.fifos("one")
			f.write("one", "bad, by another hand")
			running()
			if root == "two" {
				f.edited(root, checker.Found)
				running()
				release()
				f.again("one", checker.Found)
				return
			}
			answer := make(chan checker.Result, 1)
			go func() {
				answer <- f.checks.AfterEdit(context.Background(), f.dir, []string{f.path("one", "a.go")})[0]
			}()
			running() // the edit's own
			release()
			f.is(<-answer, "one", checker.Found)
			f.write("two", "good")
			f.again("two", checker.Clean) // and one, which was checked meanwhile, is not
		})
	}
}

// TestACheckThatNobodyAskedForDoesNotBeginBeforeOneThatWaits has a check wait for
// its turn while a root would be checked again.
func TestACheckThatNobodyAskedForDoesNotBeginBeforeOneThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(checks).watching(t.TempDir())
		since := time.Now()
		done := w.checking()
		rechecked := false
		go func() { rechecked = w.recheck(w.folder, since) }()
		time.Sleep(time.Second) // of the bubble
		synctest.Wait()
		if rechecked || w.yield != nil {
			t.Fatal("a check began although another one runs")
		}
		w.checking()(checker.Result{Outcome: checker.Clean, Root: w.folder})
		done()
		synctest.Wait()
		if !rechecked {
			t.Error("a root was checked again that was checked meanwhile")
		}
	})
}

func TestWhatAnOutcomeMeansForTheWatch(t *testing.T) {
	f := newFolder(t, "one")
	w := f.watched()
	root := f.path("one")
	result := func(outcome checker.Outcome) checker.Result {
		return checker.Result{Outcome: outcome, Root: root, Findings: []checker.Finding{{Path: "b"}, {Path: "a"}, {Path: "b"}}}
	}
	superseded := result(checker.Failed)
	superseded.Superseded = true
	for _, step := range []struct {
		name    string
		r       checker.Result
		noted   bool
		found   []string
		watches bool
	}{
		{"clean", result(checker.Clean), true, nil, false},
		{"failed", result(checker.Failed), true, nil, false},
		{"found", result(checker.Found), true, []string{"a", "b"}, true},
		{"failed after findings", result(checker.Failed), true, []string{"a", "b"}, true},
		{"skipped after findings", result(checker.Skipped), true, []string{"a", "b"}, true},
		{"superseded", superseded, false, []string{"a", "b"}, true},
		{"clean again", result(checker.Clean), true, nil, true},
	} {
		begun := time.Now()
		w.mu.Lock()
		w.note(begun, step.r)
		if got := w.begun[root].Equal(begun); got != step.noted {
			t.Errorf("%s: noted %v", step.name, got)
		}
		if d := cmp.Diff(step.found, w.found[root]); d != "" {
			t.Errorf("%s: %s", step.name, d)
		}
		if (w.ended != nil) != step.watches {
			t.Errorf("%s: watches %v", step.name, w.ended != nil)
		}
		w.mu.Unlock()
	}
}

// TestModulesElsewhereAreWatchedByTheirWorkspace changes a module that a go.work in
// another directory uses; after a change of settings, which makes a new checker,
// the root itself still counts.
func TestModulesElsewhereAreWatchedByTheirWorkspace(t *testing.T) {
	f := newFolder(t, "ws", "lib")
	put(t, f.path("ws", "go.work"), "go 1.26\n\nuse ../lib\n")
	f.shown("ws")
	w := f.watched()
	go w.changed(checker.Change{Paths: []string{f.path("lib", "a.go")}})
	f.again("ws", checker.Found)
	f.configure("grep -Hn bad *.go; exit 1")
	go w.changed(checker.Change{Paths: []string{f.path("ws", "a.go")}})
	f.again("ws", checker.Found)
	go w.changed(checker.Change{Everything: true})
	f.again("ws", checker.Found)
}

func TestAClosedFolderIsNotCheckedAgain(t *testing.T) {
	f := newFolder(t, "one")
	f.shown("one")
	w := f.watched()
	running, _ := f.fifos("one")
	f.write("one", "bad, by another hand")
	running() // and is never released
	f.checks.close()
	select {
	case <-w.ended:
	default:
		t.Error("the watch goes on after close")
	}
	if len(f.reports) > 0 {
		t.Errorf("reported %+v", <-f.reports)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = nil
	w.note(time.Now(), checker.Result{Outcome: checker.Found, Root: f.path("one")})
	if w.ended != nil {
		t.Error("a closed folder is watched again")
	}
}

func TestAFolderThatCannotBeWatchedIsSaid(t *testing.T) {
	var log strings.Builder
	c := &checks{}
	c.start(nil, func(string, checker.Result) {}, slog.New(slog.NewTextHandler(&log, nil)))
	w := c.watching(filepath.Join(t.TempDir(), "none"))
	w.checking()(checker.Result{Outcome: checker.Found, Root: w.folder})
	<-w.ended
	if !strings.Contains(log.String(), "findings are not checked again when files change") {
		t.Errorf("log: %s", log.String())
	}
	c.close()
}

func TestStatesOfFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	missing := stateOf(dir, path)
	put(t, path, "one")
	one := stateOf(dir, path)
	put(t, path, "two")
	two := stateOf(dir, path)
	put(t, path, "one")
	if missing == one || one == two || one != stateOf(dir, path) || missing != stateOf(dir, path+"x") || !missing.known || !one.known {
		t.Error("states are not told apart by what the file holds")
	}
	if err := os.Truncate(path, maxState+1); err != nil {
		t.Fatal(err)
	}
	w := new(checks).watching(dir)
	outside := filepath.Join(t.TempDir(), "a")
	put(t, outside, "one")
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{path, dir, outside, link, pipe} {
		w.saw[other] = stateOf(dir, other)
		if w.saw[other].known || w.wasSeen(other) {
			t.Errorf("%s has a known state", other)
		}
	}
}
