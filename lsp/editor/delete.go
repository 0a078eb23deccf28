package editor

import (
	"context"
	"fmt"

	"github.com/agent-lsp/agent-lsp/tools"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// applyDelete deletes a file whose text is known: that of the buffer, if it is open,
// and that on the disk. A client that supports it deletes the file, so that its undo
// restores it; else the server does.
func (w *workspace) applyDelete(ctx context.Context, e tools.Edit, x *Document) error {
	if x != nil {
		switch v := w.view(e.Path, x); {
		case v.clash != nil:
			return v.clash
		case v.text != e.Before:
			return fmt.Errorf("%s changed in the editor: %w", e.Path, tools.ErrStale)
		}
	}
	// A buffer's unsaved text that is the edit's base may be deleted; a text on the
	// disk that the edit does not know may not.
	if err := w.disk.expect(e, x != nil); err != nil {
		return err
	}
	if !w.editor.client.Features().Remove {
		if err := w.disk.remove(e, x != nil); err != nil {
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
