package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/google/go-cmp/cmp"
)

// fakeNotifier watches nothing; the test sends the events.
type fakeNotifier struct {
	dirs   map[string]bool
	fail   error
	closed bool
}

func (f *fakeNotifier) Add(dir string) error {
	if f.fail != nil {
		return f.fail
	}
	f.dirs[dir] = true
	return nil
}

func (f *fakeNotifier) Remove(dir string) error {
	delete(f.dirs, dir)
	return nil
}

func (f *fakeNotifier) Close() error {
	f.closed = true
	return nil
}

// watched is a watcher in a bubble.
type watched struct {
	t       *testing.T
	fake    *fakeNotifier
	events  chan workspace.Event
	errs    chan error
	watcher *Watcher
	start   time.Time
	changes []time.Duration
	failed  []string
}

func watchFake(t *testing.T, fail error, files ...string) *watched {
	w := &watched{
		t: t, fake: &fakeNotifier{dirs: map[string]bool{}, fail: fail},
		events: make(chan workspace.Event), errs: make(chan error), start: time.Now(),
	}
	w.watcher = watch(Watching{
		Files:   files,
		Changed: func() { w.changes = append(w.changes, time.Since(w.start)) },
		Failed:  func(err error) { w.failed = append(w.failed, err.Error()) },
	}, w.fake, w.events, w.errs)
	return w
}

// at sends an event at a time of the bubble.
func (w *watched) at(d time.Duration, op workspace.What, name string) {
	time.Sleep(d - time.Since(w.start))
	w.events <- workspace.Event{Path: name, What: op}
}

// end closes the watcher after some time and compares when it told of changes.
func (w *watched) end(after time.Duration, want ...time.Duration) {
	w.t.Helper()
	time.Sleep(after - time.Since(w.start))
	synctest.Wait()
	if err := w.watcher.Close(); err != nil || !w.fake.closed {
		w.t.Error("not closed", err)
	}
	if d := cmp.Diff(want, w.changes); d != "" {
		w.t.Error(d)
	}
}

const ms = time.Millisecond

func TestChangesThatComeTogetherAreToldOnce(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, nil, file)
		w.at(0, workspace.Made, file)
		w.at(50*ms, workspace.Written, other)
		w.at(90*ms, workspace.Written, file)
		w.at(2000*ms, workspace.Gone, file)
		w.at(3000*ms, workspace.Written, other)
		w.end(10*time.Second, 190*ms, 2100*ms)
	})
}

func TestChangesWithoutAPauseAreToldInTheEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, nil, file)
		for i := range 30 {
			w.at(time.Duration(i)*60*ms, workspace.Written, file)
		}
		w.end(10*time.Second, 1000*ms, 1840*ms)
	})
}

func TestACloseWithAChangeUnderWayTellsNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, nil, file)
		w.at(0, workspace.Written, file)
		w.end(50 * ms)
		w.watcher.Set(nil) // after the end it does nothing
	})
}

func TestADirectoryThatComesLaterIsWatched(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x", "y", "a.yaml")
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, nil, file)
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			if len(w.fake.dirs) != 1 || !w.fake.dirs[want] {
				t.Errorf("watching %v, want %s", w.fake.dirs, want)
			}
		}
		expect(dir)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		w.at(0, workspace.Made, filepath.Join(dir, "x"))
		expect(filepath.Dir(file))
		// Removed and made again before the event arrives.
		delete(w.fake.dirs, filepath.Dir(file))
		w.at(1000*ms, workspace.Gone, filepath.Dir(file))
		expect(filepath.Dir(file))
		w.watcher.Set([]string{filepath.Join(dir, "b.yaml")})
		expect(dir)
		w.end(10*time.Second, 100*ms, 1100*ms)
	})
}

func TestWhatALinkPointsToIsWatched(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, target := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "dotfiles", "a.yaml")
	if err := errors.Join(os.Mkdir(filepath.Dir(target), 0o700), os.WriteFile(target, nil, 0o600), os.Symlink(target, file)); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, nil, file)
		if !w.fake.dirs[dir] || !w.fake.dirs[filepath.Dir(target)] {
			t.Errorf("watching %v", w.fake.dirs)
		}
		w.at(0, workspace.Written, target)
		w.end(time.Second, 100*ms)
	})
}

func TestFailuresAreToldOnceAndLostEventsCountAsChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, errors.New("no watches left"), file)
		w.errs <- workspace.ErrLost
		w.errs <- errors.New("broken")
		w.end(time.Second, 100*ms)
		want := []string{"watch " + filepath.Dir(file) + " for changes of the configuration: no watches left", "watch configuration: broken"}
		if d := cmp.Diff(want, w.failed); d != "" {
			t.Error(d)
		}
	})
}

func TestARealFileIsReloaded(t *testing.T) {
	s := layers{}.sources(t)
	var loader Loader
	reloaded := make(chan Config, 100)
	var failed atomic.Value
	w, err := Watch(Watching{
		Files:   []string{s.UserFile, filepath.Join(s.Workspace, WorkspaceFile)},
		Changed: func() { reloaded <- loader.Load(s).Config },
		Failed:  func(err error) { failed.Store(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	wait := func(ok func(Config) bool) {
		t.Helper()
		for c := range reloaded {
			if ok(c) {
				return
			}
		}
	}
	write(t, s.UserFile, "approvals: edits\n")
	wait(func(c Config) bool { return c.Approvals == "edits" })
	write(t, s.UserFile+".new", "approvals: all\n")
	if err := os.Rename(s.UserFile+".new", s.UserFile); err != nil {
		t.Fatal(err)
	}
	wait(func(c Config) bool { return c.Approvals == "all" })
	write(t, filepath.Join(s.Workspace, WorkspaceFile), "checker: {off: [go]}\n")
	wait(func(c Config) bool { return slices.Contains(c.Checker.Off, "go") })
	if err := os.Remove(s.UserFile); err != nil {
		t.Fatal(err)
	}
	wait(func(c Config) bool { return c.Approvals == "ask" })
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := failed.Load(); err != nil {
		t.Error(err)
	}
}
