// Package workspace has what every part needs for a person's directory: which file a
// path really names, which paths lie below which, and what changes on the disk. It imports nothing of the module, and is the only one
// that knows the library that watches.
package workspace

import (
	"errors"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// What is the set of changes to a file that one event reports.
type What uint8

// The things that happen to files.
const (
	Made    What = 1 << iota // it is there now, by creation or by renaming
	Written                  // its text changed
	Gone                     // it was removed or renamed away
	Marked                   // its mode or times changed
)

// Has reports whether w includes any of the changes in any.
func (w What) Has(any What) bool { return w&any != 0 }

// Event is one thing that happened in a watched directory, or to that itself.
type Event struct {
	Path string // clean, spelled as the directory was
	What What
}

// ErrLost says that the system dropped events, so that anything may have changed.
var ErrLost = errors.New("the system lost events of changed files")

// Notifier reports changes in directories, not in those below them. It must be
// closed.
type Notifier struct {
	system *fsnotify.Watcher
	events chan Event
	errs   chan error
	quit   chan struct{}
	ended  chan struct{}
}

// NewNotifier returns a Notifier that watches nothing yet. It fails when the system
// has no more watches to give.
func NewNotifier() (*Notifier, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	n := &Notifier{
		system: system, events: make(chan Event), errs: make(chan error),
		quit: make(chan struct{}), ended: make(chan struct{}),
	}
	go n.run()
	return n, nil
}

// Events returns what happened, in order. It is closed when the notifier ends.
func (n *Notifier) Events() <-chan Event { return n.events }

// Errors returns what keeps events from being seen, ErrLost among it.
func (n *Notifier) Errors() <-chan error { return n.errs }

// Add watches a directory as well; the error is fs.ErrNotExist when it is not there.
func (n *Notifier) Add(dir string) error { return n.system.Add(dir) }

// Remove watches a directory no more; it is an error when it was not watched.
func (n *Notifier) Remove(dir string) error { return n.system.Remove(dir) }

// Close stops the notifier. It must be called once.
func (n *Notifier) Close() error {
	close(n.quit)
	err := n.system.Close()
	<-n.ended
	return err
}

func (n *Notifier) run() {
	defer close(n.ended)
	defer close(n.events)
	for {
		select {
		case <-n.quit:
			return
		case e, ok := <-n.system.Events:
			if !ok {
				return
			}
			select {
			case n.events <- Event{Path: filepath.Clean(e.Name), What: whatOf(e.Op)}:
			case <-n.quit:
				return
			}
		case err, ok := <-n.system.Errors:
			if !ok {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				err = ErrLost
			}
			select {
			case n.errs <- err:
			case <-n.quit:
				return
			}
		}
	}
}

func whatOf(op fsnotify.Op) What {
	var w What
	for _, pair := range []struct {
		op   fsnotify.Op
		what What
	}{{fsnotify.Create, Made}, {fsnotify.Write, Written}, {fsnotify.Remove, Gone}, {fsnotify.Rename, Gone}, {fsnotify.Chmod, Marked}} {
		if op.Has(pair.op) {
			w |= pair.what
		}
	}
	return w
}
