//go:build unix

package checker

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestWhileFindingsAreShownChangesAreCheckedAgain(t *testing.T) {
	f := newFolderRig(t, "one", "two")
	f.shown("one", "two")
	f.write("one", "good")
	f.again("one", Clean)
	f.write("one", "bad")
	f.write("two", "bad, still")
	f.again("two", Found) // and one, of which nothing is shown, is not
	f.edited("one", Found)
	f.write("one", "bad, as well")
	f.again("one", Found)
}

// TestOlderTimesOfFilesHideNoChange puts a file in place that was written long ago.
func TestOlderTimesOfFilesHideNoChange(t *testing.T) {
	f := newFolderRig(t, "one")
	put(t, f.path("old"), "good\n")
	if err := os.Chtimes(f.path("old"), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	f.shown("one")
	if err := os.Rename(f.path("old"), f.path("one", "a.go")); err != nil {
		t.Fatal(err)
	}
	f.again("one", Clean)
}

func TestDeletedFilesAreCheckedAgain(t *testing.T) {
	f := newFolderRig(t, "one")
	put(t, f.path("one", "b.go"), "fine\n")
	f.shown("one")
	if err := os.Remove(f.path("one", "a.go")); err != nil {
		t.Fatal(err)
	}
	f.again("one", Clean)
}

// TestACheckedEditIsNotCheckedAgain lets the watch see an edit that its own check
// saw; the change of another root behind it is checked again.
func TestACheckedEditIsNotCheckedAgain(t *testing.T) {
	f := newFolderRig(t, "one", "two")
	f.edited("one", Found)
	f.seen()
	if len(f.reports) > 0 {
		t.Error("an edit was checked again before anything changed")
	}
	f.check("two", Found)
	f.write("one", "bad, edited")
	f.edited("one", Found)
	f.write("two", "good")
	f.again("two", Clean)
	f.write("one", "bad, by another hand")
	f.again("one", Found)
}

// TestWhatWasChangedBeforeTheWatchBeganIsSeen changes a file after its check began
// and before anything is watched.
func TestWhatWasChangedBeforeTheWatchBeganIsSeen(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"written": func(path string) error {
			a := time.Now().Add(-time.Second) // as told where times are coarse
			return os.Chtimes(path, a, a)
		},
		"removed": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			now := time.Now() // the kernel's own stamp may be before the check's beginning
			return os.Chtimes(filepath.Dir(path), now, now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolderRig(t, "one")
			put(t, f.path("one", "c.go"), "bad\n")
			for _, name := range []string{"a.go", "c.go"} {
				if err := os.Chtimes(f.path("one", name), time.Time{}, time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
			}
			running, release := f.fifos("one")
			asked := make(chan Result, 1)
			go func() { asked <- f.Check(context.Background(), f.path("one")) }()
			running()
			if err := change(f.path("one", "c.go")); err != nil {
				t.Fatal(err)
			}
			release()
			f.is(<-asked, "one", Found)
			running()
			release()
			f.again("one", Found)
		})
	}
}

// aWatch is a Folder whose changes a test tells, with the checks that nobody asked
// for.
func aWatch(t *testing.T) (f *Folder, changes chan Change, reports chan Result) {
	t.Helper()
	changes, reports = make(chan Change), make(chan Result, 10)
	ended := make(chan struct{})
	close(ended)
	c := New(Config{Trusted: true})
	f = newFolder(FolderConfig{
		Dir: t.TempDir(), Checker: func() *Checker { return c }, Log: slog.New(slog.DiscardHandler),
		Report: func(r Result) { reports <- r },
	}, func(string, WatchConfig) (*Watcher, error) {
		return &Watcher{changes: changes, quit: func() {}, ended: ended}, nil
	})
	return f, changes, reports
}

// TestAChangeWaitsForTheChecksUnderWay tells of a change while a check runs that
// may have seen it: it is looked at when the check has ended.
func TestAChangeWaitsForTheChecksUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, changes, reports := aWatch(t)
		path := filepath.Join(f.cfg.Dir, "a.go")
		put(t, path, "bad\n")
		found := Result{Outcome: Found, Root: f.cfg.Dir}
		f.begin(nil)(found)
		end := f.begin([]string{path})
		another := f.begin(nil) // waits for none
		looked := false
		go func() {
			changes <- Change{Paths: []string{path}}
			looked = true
		}()
		for _, end := range []func(...Result){end, another} {
			synctest.Wait()
			if looked {
				t.Fatal("a change was looked at while a check ran")
			}
			f.begin(nil)() // a change that waits is in nobody's way
			time.Sleep(time.Second)
			end(found)
		}
		synctest.Wait()
		if !looked || len(reports) > 0 {
			t.Fatalf("looked at the change: %v, and checked again what the edit's check saw: %d", looked, len(reports))
		}
		f.begin(nil)()
		closing := f.begin(nil)
		f.Close()
		closing()
		f.begin(nil)(found) // a closed folder lets every check go
	})
}

// TestAChangeGivesWayToAnEdit has an edit come while a root is checked again: the
// edit's check is not cut off, and the other one is made up for.
func TestAChangeGivesWayToAnEdit(t *testing.T) {
	for _, root := range []string{"one", "two"} {
		t.Run("of "+root, func(t *testing.T) {
			f := newFolderRig(t, "one", "two")
			f.shown("one", "two")
			running, release := f.fifos("one")
			f.write("one", "bad, by another hand")
			running()
			if root == "two" {
				f.edited(root, Found)
				running()
				release()
				f.again("one", Found)
				return
			}
			answer := make(chan Result, 1)
			go func() {
				answer <- f.AfterEdit(context.Background(), []string{f.path("one", "a.go")})[0]
			}()
			running() // the edit's own
			release()
			f.is(<-answer, "one", Found)
			f.write("two", "good")
			// A late notice of the change of one may have that checked again, too.
			f.eventually("two", Clean)
		})
	}
}

// TestACheckThatNobodyAskedForDoesNotBeginBeforeOneThatWaits has a check wait for
// its turn while a root would be checked again.
func TestACheckThatNobodyAskedForDoesNotBeginBeforeOneThatWaits(t *testing.T) {
	u := newUpkeep(t.Context(), &Folder{})
	u.found["r"], u.asked = nil, 1
	u.again(func(string) bool { return true })
	if u.next(); u.cancel != nil || len(u.stale) != 1 {
		t.Fatalf("a check began although another one runs: %v", u.stale)
	}
	u.end(u.since.Add(time.Second), nil, []Result{{Outcome: Clean, Root: "r"}})
	if u.next(); u.cancel != nil || len(u.stale) != 0 {
		t.Errorf("a root is checked again that was checked meanwhile: %v", u.stale)
	}
}

func TestWhatAnOutcomeMeansForTheWatch(t *testing.T) {
	const root = "r"
	u := newUpkeep(t.Context(), &Folder{
		cfg:   FolderConfig{Report: func(Result) {}, Log: slog.New(slog.DiscardHandler)},
		watch: func(string, WatchConfig) (*Watcher, error) { return nil, os.ErrInvalid },
	})
	defer u.jobs.Wait()
	result := func(outcome Outcome) Result {
		return Result{Outcome: outcome, Root: root, Findings: []Finding{{Path: "b"}, {Path: "a"}, {Path: "b"}}}
	}
	superseded := result(Failed)
	superseded.Superseded = true
	for i, step := range []struct {
		name    string
		r       Result
		noted   bool
		found   []string
		watches bool
	}{
		{"clean", result(Clean), true, nil, false},
		{"failed", result(Failed), true, nil, false},
		{"found", result(Found), true, []string{"a", "b"}, true},
		{"failed after findings", result(Failed), true, []string{"a", "b"}, true},
		{"skipped after findings", result(Skipped), true, []string{"a", "b"}, true},
		{"superseded", superseded, false, []string{"a", "b"}, true},
		{"clean again", result(Clean), true, nil, true},
	} {
		began := time.Unix(int64(i), 0)
		u.note(began, step.r)
		if got := u.began[root].Equal(began); got != step.noted {
			t.Errorf("%s: noted %v", step.name, got)
		}
		if d := cmp.Diff(step.found, u.found[root]); d != "" {
			t.Errorf("%s: %s", step.name, d)
		}
		if u.watching != step.watches {
			t.Errorf("%s: watches %v", step.name, u.watching)
		}
	}
}

// TestModulesElsewhereAreWatchedByTheirWorkspace changes a module that a go.work in
// another directory uses; after a change of settings, which makes a new checker,
// the root itself still counts.
func TestModulesElsewhereAreWatchedByTheirWorkspace(t *testing.T) {
	f := newFolderRig(t, "ws", "lib")
	put(t, f.path("ws", "go.work"), "go 1.26\n\nuse ../lib\n")
	f.shown("ws")
	tell := func(ch Change) { f.do(func(u *upkeep) { u.changed(ch) }) }
	tell(Change{Paths: []string{f.path("lib", "a.go")}})
	f.again("ws", Found)
	f.configure("grep -Hn bad *.go; exit 1")
	tell(Change{Paths: []string{f.path("ws", "a.go")}})
	f.again("ws", Found)
	tell(Change{Everything: true})
	f.again("ws", Found)
}

func TestAClosedFolderIsNotCheckedAgain(t *testing.T) {
	f := newFolderRig(t, "one")
	f.shown("one")
	running, _ := f.fifos("one")
	f.write("one", "bad, by another hand")
	running() // and is never released
	f.Close()
	select {
	case <-f.ended:
	default:
		t.Error("the watch goes on after close")
	}
	if len(f.reports) > 0 {
		t.Errorf("reported %+v", <-f.reports)
	}
}

func TestAFolderThatCannotBeWatchedIsSaid(t *testing.T) {
	told := make(chan string, 1)
	f := NewFolder(FolderConfig{
		Dir: filepath.Join(t.TempDir(), "none"), Report: func(Result) {},
		Log: slog.New(slog.NewTextHandler(writer(func(line string) { told <- line }), nil)),
	})
	defer f.Close()
	f.begin(nil)(Result{Outcome: Found, Root: f.cfg.Dir})
	if line := <-told; !strings.Contains(line, "findings are not checked again when files change") {
		t.Errorf("log: %s", line)
	}
}

// writer calls a function with what is written.
type writer func(string)

func (w writer) Write(line []byte) (int, error) {
	w(string(line))
	return len(line), nil
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
	u := newUpkeep(t.Context(), &Folder{cfg: FolderConfig{Dir: dir}})
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
		u.saw[other] = stateOf(dir, other)
		if u.saw[other].known || u.wasSeen(other) {
			t.Errorf("%s has a known state", other)
		}
	}
}
