package editor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-lsp/agent-lsp/tools"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

var _ tools.Batcher = (*workspace)(nil)

// ApplyAll implements tools.Batcher: the open documents among the edits are changed
// by one workspace edit, which one undo of the editor reverts. A client that declares
// neither versions nor how such an edit fails gets one edit per document: Neovim
// checks the version of the first document only, and would edit the wrong lines of
// another. No editor promises all or nothing, so everything is checked before the
// first change, and earlier edits are reverted when a later one fails.
func (w *workspace) ApplyAll(ctx context.Context, edits []tools.Edit) error {
	unlock, err := w.lockAll(ctx, edits)
	if err != nil {
		return err
	}
	defer unlock()
	var together, apart []tools.Edit
	for _, e := range edits {
		open, err := w.unchanged(e)
		if err != nil {
			return err
		}
		if open && !e.Delete && !e.Create && w.editor.client.Features().ApplyEdit && w.editor.client.Features().Several {
			together = append(together, e)
		} else {
			apart = append(apart, e)
		}
	}
	if len(together) == 1 {
		together, apart = nil, edits
	}
	done, err := w.applyTogether(ctx, together)
	for i := 0; err == nil && i < len(apart); i++ {
		if _, err = w.apply(ctx, apart[i]); err == nil {
			done = append(done, apart[i])
		}
	}
	if err != nil {
		return errors.Join(err, w.revert(ctx, done))
	}
	return nil
}

// lockAll locks all files, in the same order for every caller.
func (w *workspace) lockAll(ctx context.Context, edits []tools.Edit) (unlock func(), err error) {
	var names []string
	for _, e := range edits {
		names = append(names, RealPath(w.abs(e.Path)))
	}
	slices.Sort(names)
	var unlocks []func()
	unlock = func() {
		for _, u := range unlocks {
			u()
		}
	}
	for _, name := range slices.Compact(names) {
		u, err := w.editor.locks.lock(ctx, name)
		if err != nil {
			unlock()
			return nil, err
		}
		unlocks = append(unlocks, u)
	}
	return unlock, nil
}

// unchanged returns tools.ErrStale unless the text is still the one that an edit was
// computed from, and whether it is that of an open document.
func (w *workspace) unchanged(e tools.Edit) (open bool, err error) {
	x := w.document(e.Path)
	if x != nil {
		_, err := w.fits(e, x)
		return true, err
	}
	if e.Create {
		return false, nil // checked when it is made
	}
	disk, err := w.disk.read(e.Path)
	if err != nil {
		return false, fmt.Errorf("%s cannot be read: %w", e.Path, err)
	}
	if disk != e.Before {
		return false, fmt.Errorf("%s changed on disk: %w", e.Path, tools.ErrStale)
	}
	return false, nil
}

// applyTogether changes open documents by one workspace edit and returns those
// that show their new text.
func (w *workspace) applyTogether(ctx context.Context, edits []tools.Edit) (done []tools.Edit, err error) {
	if len(edits) == 0 {
		return nil, nil
	}
	c := w.editor.client.Features()
	var whole protocol.WorkspaceEdit
	watches := make([]*landing, len(edits))
	onDisk := make([]bool, len(edits))
	sent := make([]tools.Edit, len(edits))
	for i, e := range edits {
		x := w.document(e.Path)
		if x == nil {
			return nil, fmt.Errorf("%s was closed in the editor: %w", e.Path, tools.ErrStale)
		}
		one := workspaceEdit(c, x.URI, new(x.Version), x.Text.Edits(e.After, c.Encoding))
		whole.DocumentChanges = append(whole.DocumentChanges, one.DocumentChanges...)
		for name, changes := range one.Changes {
			if whole.Changes == nil {
				whole.Changes = map[uri.URI][]protocol.TextEdit{}
			}
			whole.Changes[name] = changes
		}
		onDisk[i] = w.disk.has(e.Path, e.Before)
		sent[i] = ofBuffer(e, x)
		watches[i] = w.editor.docs.watch(w.abs(e.Path), e.After)
		defer w.editor.docs.unwatch(watches[i])
	}
	replies := make([]chan reply, len(edits))
	for i := range replies {
		replies[i] = make(chan reply, 1)
	}
	params := w.editParams(edits[0], whole)
	asking, stop := context.WithTimeout(ctx, w.editor.limits.Answer)
	defer stop()
	w.editor.client.Spawn("apply edits", func() {
		r := w.request(asking, params)
		for _, to := range replies {
			to <- r
		}
	})
	for i, e := range edits {
		if lerr := w.awaitLanding(ctx, sent[i], watches[i], replies[i]); lerr != nil {
			err = errors.Join(err, lerr)
			continue
		}
		if _, derr := w.reachDisk(ctx, e, onDisk[i]); derr != nil {
			err = errors.Join(err, derr)
		}
		done = append(done, e)
	}
	return done, err
}

// revert reverts edits that landed.
func (w *workspace) revert(ctx context.Context, done []tools.Edit) error {
	var err error
	for _, e := range slices.Backward(done) {
		back := tools.Edit{
			Path: e.Path, Before: e.After, After: e.Before, Create: e.Delete, Delete: e.Create, Label: e.Label,
		}
		if w.document(e.Path) != nil {
			back.Open = true
		}
		if _, berr := w.apply(ctx, back); berr != nil {
			err = errors.Join(err, fmt.Errorf("%s keeps the change: %w", e.Path, berr))
		}
	}
	return err
}
