package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// Watching are the files of a Watcher and its callbacks. Both functions are called
// from the watcher's one goroutine and must not close it.
type Watching struct {
	// Files are the paths to watch; they and their directories need not exist.
	Files []string
	// Changed is called after a file was made, changed, replaced or removed, once
	// for changes that come together. It may be called when nothing changed.
	Changed func()
	// Failed is called with the reason why changes may be missed.
	Failed func(error)
}

const (
	// quiet is how long changes must pause before Changed is called: an editor
	// saves in several steps.
	quiet = 100 * time.Millisecond
	// patience is the longest delay between the first change and Changed.
	patience = time.Second
)

// Watcher reports changes to the configuration's files until it is closed.
type Watcher struct {
	files chan []string
	stop  chan struct{}
	done  chan struct{} // closed when the goroutine has ended
	err   error         // of closing; set before done is closed
}

// notifier is the part of workspace.Notifier that a watcher uses.
type notifier interface {
	Add(dir string) error
	Remove(dir string) error
	Close() error
}

// Watch starts a watcher. The caller closes it.
func Watch(w Watching) (*Watcher, error) {
	n, err := workspace.NewNotifier()
	if err != nil {
		return nil, fmt.Errorf("watch configuration: %w", err)
	}
	return watch(w, n, n.Events(), n.Errors()), nil
}

func watch(w Watching, n notifier, events <-chan workspace.Event, errs <-chan error) *Watcher {
	r := &Watcher{files: make(chan []string), stop: make(chan struct{}), done: make(chan struct{})}
	w.Files = slices.Clone(w.Files)
	l := &watchLoop{Watching: w, notifier: n, watched: map[string]bool{}}
	l.arm()
	go func() {
		defer close(r.done)
		l.run(events, errs, r.files, r.stop)
		if err := n.Close(); err != nil {
			r.err = fmt.Errorf("stop watching configuration: %w", err)
		}
	}()
	return r
}

// Set watches these files instead, e.g. after the editor's folders changed. It
// does not count as a change of the files.
func (w *Watcher) Set(files []string) {
	select {
	case w.files <- slices.Clone(files):
	case <-w.done:
	}
}

// Close stops the watcher and waits for a call of Changed that is running.
// Closing twice is an error of the caller.
func (w *Watcher) Close() error {
	close(w.stop)
	<-w.done
	return w.err
}

// watchLoop is the state of the watcher's goroutine.
type watchLoop struct {
	Watching
	notifier notifier
	watched  map[string]bool // directories
	targets  map[string]bool // what the files are links to
	last     string          // the last failure reported, so that each is reported once
}

func (l *watchLoop) run(events <-chan workspace.Event, errs <-chan error, files <-chan []string, stop <-chan struct{}) {
	timer := time.NewTimer(quiet)
	timer.Stop()
	defer timer.Stop()
	var first time.Time // of the changes not yet reported
	changed := func() {
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		timer.Reset(min(quiet, patience-now.Sub(first)))
	}
	for {
		select {
		case <-stop:
			return
		case l.Files = <-files:
			l.arm()
		case e, ok := <-events:
			if !ok {
				return
			}
			if l.concerns(e) {
				l.arm()
				changed()
			}
		case err, ok := <-errs:
			if !ok {
				return
			}
			if errors.Is(err, workspace.ErrLost) {
				l.arm()
				changed() // what was lost may have been one of ours
				continue
			}
			l.Failed(fmt.Errorf("watch configuration: %w", err))
		case <-timer.C:
			first = time.Time{}
			l.Changed()
		}
	}
}

// concerns reports whether an event is about a file, the target of its link, or a
// directory on the way to it.
func (l *watchLoop) concerns(e workspace.Event) bool {
	name := e.Path
	if l.watched[name] && e.What.Has(workspace.Gone) {
		delete(l.watched, name) // the system no longer watches it
	}
	if l.targets[name] {
		return true
	}
	return slices.ContainsFunc(l.Files, func(f string) bool {
		return f == name || strings.HasPrefix(f, name+string(filepath.Separator))
	})
}

// arm watches the directories of the files, or the nearest ones that exist.
// Files themselves are not watched: saving replaces them.
func (l *watchLoop) arm() {
	// A directory that is made while its parent is armed is found by looking again.
	for range 8 {
		want := l.directories()
		if maps.Equal(want, l.watched) {
			return
		}
		var failed error
		for dir := range l.watched {
			if !want[dir] {
				_ = l.notifier.Remove(dir) // a directory that no longer exists is fine
				delete(l.watched, dir)
			}
		}
		for dir := range want {
			if l.watched[dir] {
				continue
			}
			if err := l.notifier.Add(dir); err != nil {
				if !errors.Is(err, os.ErrNotExist) {
					failed = fmt.Errorf("watch %s for changes of the configuration: %w", dir, err)
				}
				continue
			}
			l.watched[dir] = true
		}
		if failed != nil {
			if l.last != failed.Error() {
				l.last = failed.Error()
				l.Failed(failed)
			}
			return
		}
	}
}

func (l *watchLoop) directories() map[string]bool {
	dirs := map[string]bool{}
	l.targets = map[string]bool{}
	for i, f := range l.Files {
		l.Files[i] = filepath.Clean(f)
		dirs[nearestDir(filepath.Dir(l.Files[i]))] = true
		if target, err := filepath.EvalSymlinks(f); err == nil && target != l.Files[i] {
			l.targets[target] = true
			dirs[filepath.Dir(target)] = true
		}
	}
	return dirs
}

func nearestDir(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return dir
		}
		dir = parent
	}
}
