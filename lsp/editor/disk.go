package editor

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/tools"
)

// diskHolds reports whether the file of the folder has the text of its buffer, and
// stores that the two are in step.
func (w *workspace) diskHolds(name string, x *Document) bool {
	disk, err := w.disk.read(name)
	if err != nil || !matches(disk, x.Text.String()) {
		return false
	}
	w.editor.docs.inStep(x, disk, true)
	return true
}

// reachDisk saves an edit that landed in a buffer to the disk, once. The client or
// the person has a moment to do so; then the server writes the file: only if it still
// has the buffer's former text, and only while the buffer has the edit. onDisk says
// that the file had the former text.
func (w *workspace) reachDisk(ctx context.Context, e tools.Edit, onDisk bool) (tools.Applied, error) {
	l := w.editor.limits
	patience := l.Save
	if w.editor.client.SavesEdits() {
		patience = l.Landing
	}
	if !onDisk && !w.editor.client.SavesEdits() {
		patience = 0 // the buffer had changes that only the person saves
	}
	if saved, further := w.awaitDisk(ctx, e, patience); saved {
		return tools.Applied{Further: further}, nil
	}
	x := w.document(e.Path)
	if x == nil {
		return tools.Applied{}, fmt.Errorf("edit of %s: the editor closed the document without saving it", e.Path)
	}
	if ctx.Err() != nil || w.editor.client.SavesEdits() || !onDisk || x.Text.String() != e.After {
		return tools.Applied{Unsaved: true}, nil
	}
	err := w.disk.replace(e.Path, e.After, func(disk string, exists bool) bool {
		return exists && matches(disk, e.Before) || e.Create && disk == ""
	})
	if err != nil {
		w.editor.log.Warn("an edit stays in the editor's buffer only", "file", w.abs(e.Path), "err", err)
		return tools.Applied{Unsaved: true}, nil
	}
	w.diskHolds(e.Path, x)
	return tools.Applied{}, nil
}

// awaitDisk waits until a file has an edit's text, or the buffer's later text; it
// reads the file at least once.
func (w *workspace) awaitDisk(ctx context.Context, e tools.Edit, patience time.Duration) (saved, further bool) {
	watch := w.editor.docs.watch(w.abs(e.Path), e.After)
	defer w.editor.docs.unwatch(watch)
	over := time.Now().Add(patience)
	for {
		if x := w.document(e.Path); x != nil && w.diskHolds(e.Path, x) {
			return true, x.Text.String() != e.After
		}
		if w.disk.has(e.Path, e.After) {
			return true, false
		}
		if ctx.Err() != nil || !time.Now().Before(over) {
			return false, false
		}
		wait := time.NewTimer(w.editor.limits.Poll)
		select {
		case <-watch.wake:
		case <-wait.C:
		case <-ctx.Done():
		case <-w.editor.client.Gone():
			wait.Stop()
			return false, false
		}
		wait.Stop()
	}
}

// writeUnder changes the file of a buffer whose client accepts no edits: only while
// the buffer has no unsaved changes.
func (w *workspace) writeUnder(e tools.Edit) error {
	err := w.disk.replace(e.Path, e.After, func(disk string, exists bool) bool {
		return exists && matches(disk, e.Before) || e.Create && !exists
	})
	if errors.Is(err, tools.ErrStale) {
		return fmt.Errorf("edit of %s: the editor takes no edits from a server and has unsaved changes in this file: save it first", e.Path)
	}
	return err
}

// locks is a set of mutexes by name.
type locks struct {
	mu     sync.Mutex // guards byName
	byName map[string]*keyLock
}

type keyLock struct {
	token chan struct{}
	users int
}

// lock waits for a name; the returned function releases it.
func (l *locks) lock(ctx context.Context, name string) (unlock func(), err error) {
	name = path.Clean(name)
	l.mu.Lock()
	if l.byName == nil {
		l.byName = map[string]*keyLock{}
	}
	k := l.byName[name]
	if k == nil {
		k = &keyLock{token: make(chan struct{}, 1)}
		l.byName[name] = k
	}
	k.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(l.byName, name)
		}
	}
	select {
	case k.token <- struct{}{}:
		return func() { <-k.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
