package editor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/agent-lsp/agent-lsp/tools"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// applyDelete makes a file go away whose text is known: in the buffer, if it is
// open, and on the disk. A client that deletes files is asked to, so that its own
// undo brings the file back; else the server removes it.
func (w *workspace) applyDelete(ctx context.Context, e tools.Edit, x *Document) error {
	if x != nil {
		switch v := w.view(e.Path, x); {
		case v.clash != nil:
			return v.clash
		case v.text != e.Before:
			return fmt.Errorf("%s changed in the editor: %w", e.Path, tools.ErrStale)
		}
	}
	// A buffer's unsaved text that is the edit's base may go; text on the disk that
	// nobody looked at may not.
	if err := w.expectDisk(e, x != nil); err != nil {
		return err
	}
	if !w.editor.client.Features().Remove {
		if err := w.remove(e, x != nil); err != nil {
			return err
		}
		if x != nil {
			w.editor.docs.giveUp(x)
		}
		return nil
	}
	params := w.editParams(e, protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{&protocol.DeleteFile{
		Kind: string(protocol.ResourceOperationKindDelete), URI: uri.URI(w.uri(e.Path)),
		Options: &protocol.DeleteFileOptions{Recursive: new(false), IgnoreIfNotExists: new(false)},
	}}})
	return w.land(ctx, e, params)
}

// expectDisk answers tools.ErrStale unless a file holds what an edit deletes.
func (w *workspace) expectDisk(e tools.Edit, open bool) error {
	disk, err := w.readDisk(e.Path)
	switch {
	case open && errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is gone already: %w", e.Path, tools.ErrStale)
	case err != nil:
		return fmt.Errorf("delete %s: %w", e.Path, err)
	case disk != e.Before && (!open || !holds(disk, e.Before)):
		return fmt.Errorf("%s changed on disk: %w", e.Path, tools.ErrStale)
	}
	return nil
}

// remove deletes a file that still holds what the edit deletes.
func (w *workspace) remove(e tools.Edit, open bool) error {
	if err := w.expectDisk(e, open); err != nil {
		return err
	}
	// The name itself goes, were it a link.
	if err := w.root.Remove(filepath.FromSlash(e.Path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", e.Path, err)
	}
	return nil
}

// removed reports that nothing is at an edit's path.
func (w *workspace) removed(e tools.Edit) bool {
	_, err := w.root.Lstat(filepath.FromSlash(e.Path))
	return errors.Is(err, fs.ErrNotExist)
}
