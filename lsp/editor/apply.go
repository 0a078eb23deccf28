package editor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/tools"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// Apply implements tools.Workspace. Only the client changes an open
// document; a file that is not open is written here, unless it is new and the
// client creates files.
func (w *workspace) Apply(ctx context.Context, e tools.Edit) (tools.Applied, error) {
	if w.editor.disconnected() {
		return tools.Applied{}, orphaned(ctx, e)
	}
	unlock, err := w.editor.locks.lock(ctx, RealPath(w.abs(e.Path)))
	if err != nil {
		return tools.Applied{}, err
	}
	defer unlock()
	return w.apply(ctx, e)
}

// apply is Apply for a caller that has locked the file.
func (w *workspace) apply(ctx context.Context, e tools.Edit) (tools.Applied, error) {
	x := w.document(e.Path)
	switch {
	case x != nil && x.lost:
		return tools.Applied{}, fmt.Errorf("edit of %s: the editor sent a change of it that cannot be read: close it and open it again", e.Path)
	case e.Delete:
		return tools.Applied{}, w.applyDelete(ctx, e, x)
	case x != nil:
		return w.applyOpen(ctx, e, x)
	case e.Open:
		return tools.Applied{}, fmt.Errorf("%s was closed in the editor: %w", e.Path, tools.ErrStale)
	case e.Create && w.editor.client.Features().Create:
		return w.applyCreate(ctx, e)
	}
	return tools.Applied{}, w.disk.write(e)
}

// applyOpen edits a document that the client has open.
func (w *workspace) applyOpen(ctx context.Context, e tools.Edit, x *Document) (tools.Applied, error) {
	v, err := w.fits(e, x)
	if err == nil && v.behind && x.onDisk && w.editor.client.SavesEdits() {
		if x = w.awaitReload(ctx, e.Path, x); x == nil {
			return tools.Applied{}, fmt.Errorf("%s was closed in the editor: %w", e.Path, tools.ErrStale)
		}
		v, err = w.fits(e, x)
	}
	if err != nil {
		return tools.Applied{}, err
	}
	if !w.editor.client.Features().ApplyEdit {
		return tools.Applied{}, w.writeUnder(e)
	}
	c := w.editor.client.Features()
	onDisk := v.deleted || w.disk.has(e.Path, e.Before)
	edits := x.Text.Edits(e.After, c.Encoding)
	if len(edits) == 0 { // only the file differs
		if onDisk && !w.disk.has(e.Path, e.After) {
			return tools.Applied{}, w.writeUnder(e)
		}
		return tools.Applied{Unsaved: !w.disk.has(e.Path, e.After)}, nil
	}
	params := w.editParams(e, workspaceEdit(c, x.URI, new(x.Version), edits))
	if err := w.land(ctx, ofBuffer(e, x), params); err != nil {
		return tools.Applied{}, err
	}
	return w.reachDisk(ctx, e, onDisk)
}

// fits checks a document before an edit of it, and its file, which will be
// overwritten. The error is tools.ErrStale if the text differs from the edit's, else
// it says why the edit cannot be made.
func (w *workspace) fits(e tools.Edit, x *Document) (view, error) {
	v := w.view(e.Path, x)
	switch {
	case v.clash != nil:
		return v, v.clash
	case e.Create != v.deleted || v.text != e.Before:
		return v, fmt.Errorf("%s changed in the editor: %w", e.Path, tools.ErrStale)
	}
	return v, nil
}

// ofBuffer returns an edit relative to its document's text, which may lack changes
// that were made on the disk.
func ofBuffer(e tools.Edit, x *Document) tools.Edit {
	e.Before, e.Open, e.Create = x.Text.String(), true, false
	return e
}

// applyCreate lets the client create a file with its text.
func (w *workspace) applyCreate(ctx context.Context, e tools.Edit) (tools.Applied, error) {
	name := filepath.FromSlash(e.Path)
	if _, err := w.disk.root.Lstat(name); err == nil {
		return tools.Applied{}, fmt.Errorf("%s exists by now: %w", e.Path, tools.ErrStale)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return tools.Applied{}, fmt.Errorf("create %s: %w", e.Path, err)
	}
	undo, err := w.disk.makeParents(name)
	if err != nil {
		return tools.Applied{}, fmt.Errorf("create %s: %w", e.Path, err)
	}
	u := uri.URI(w.folder.FileURI(e.Path))
	changes := []protocol.DocumentChange{&protocol.CreateFile{
		Kind: string(protocol.ResourceOperationKindCreate), URI: u,
		Options: &protocol.CreateFileOptions{Overwrite: new(false), IgnoreIfExists: new(false)},
	}}
	if e.After != "" {
		// The range ends on the next line because an editor shows an empty buffer as
		// one line.
		changes = append(changes, textEdit(string(u), nil, []protocol.TextEdit{{
			Range: protocol.Range{End: protocol.Position{Line: 1}}, NewText: e.After,
		}}))
	}
	params := w.editParams(e, protocol.WorkspaceEdit{DocumentChanges: changes})
	err = w.land(ctx, e, params)
	if errors.Is(err, errUnseen) && w.fill(e) == nil {
		return tools.Applied{}, nil
	}
	if err != nil {
		undo()
		return tools.Applied{}, err
	}
	return w.reachDisk(ctx, e, true)
}

// errUnseen is an edit that the client reported as applied and that did not appear.
var errUnseen = errors.New("the editor said that it was applied")

// fill writes the text of a new file that the client created and left empty, because
// it has the text in a buffer that it does not report to any server.
func (w *workspace) fill(e tools.Edit) error {
	if w.document(e.Path) != nil {
		return fmt.Errorf("%s is open by now: %w", e.Path, tools.ErrStale)
	}
	return w.disk.replace(e.Path, e.After, func(disk string, exists bool) bool { return exists && disk == "" })
}

func (w *workspace) editParams(e tools.Edit, edit protocol.WorkspaceEdit) *protocol.ApplyWorkspaceEditParams {
	params := &protocol.ApplyWorkspaceEditParams{Edit: edit}
	if e.Label != "" {
		params.Label = new(e.Label)
	}
	if w.editor.client.Features().EditMetadata {
		params.Metadata = &protocol.WorkspaceEditMetadata{IsRefactoring: new(true)}
	}
	return params
}

// workspaceEdit returns an edit of one document in the form that the client accepts.
func workspaceEdit(c Features, document string, version *int32, edits []protocol.TextEdit) protocol.WorkspaceEdit {
	if !c.DocumentChanges {
		return protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{uri.URI(document): edits}}
	}
	return protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{textEdit(document, version, edits)}}
}

func textEdit(document string, version *int32, edits []protocol.TextEdit) *protocol.TextDocumentEdit {
	out := &protocol.TextDocumentEdit{}
	out.TextDocument.URI, out.TextDocument.Version = uri.URI(document), version
	for i := range edits {
		out.Edits = append(out.Edits, &edits[i])
	}
	return out
}

// land sends an edit and returns nil only after its text appeared in the buffer or,
// if the file is not open, in the file. The client's reply only decides how long to
// wait for that.
func (w *workspace) land(ctx context.Context, e tools.Edit, params *protocol.ApplyWorkspaceEditParams) error {
	watch := w.editor.docs.watch(w.abs(e.Path), e.After)
	defer w.editor.docs.unwatch(watch)
	replies := make(chan reply, 1)
	asking, stop := context.WithTimeout(ctx, w.editor.limits.Answer)
	defer stop()
	w.editor.client.Spawn("apply edit", func() { replies <- w.request(asking, params) })
	return w.awaitLanding(ctx, e, watch, replies)
}

// orphaned returns the error of an edit whose editor has disconnected.
func orphaned(ctx context.Context, e tools.Edit) error {
	return fmt.Errorf("edit of %s: %w: %w", e.Path, ErrGone, awaitDone(ctx))
}

// reply is the client's reply to an edit.
type reply struct {
	applied bool
	reason  string
	err     error
}

func (r reply) refused() bool { return r.err != nil || !r.applied }

// request sends an edit to the client and returns its reply.
func (w *workspace) request(ctx context.Context, params *protocol.ApplyWorkspaceEditParams) (r reply) {
	r.applied, r.reason, r.err = w.editor.client.ApplyEdit(ctx, params)
	return r
}

// missed returns the error of an edit whose text did not appear.
func (w *workspace) missed(e tools.Edit, r reply) error {
	seen := w.describe(e)
	switch {
	case errors.Is(r.err, context.DeadlineExceeded):
		return fmt.Errorf("edit of %s: the editor did not answer within %v; %s", e.Path, w.editor.limits.Answer, seen)
	case r.err != nil:
		return fmt.Errorf("edit of %s: the editor answered with an error: %w; %s", e.Path, r.err, seen)
	case !r.applied && w.overtaken(e):
		// The caller computes it again from the present text, whether the person or
		// the editor changed it.
		return fmt.Errorf("edit of %s: the editor refused it (%s); %s: %w", e.Path, r.reason, seen, tools.ErrStale)
	case !r.applied && r.reason != "":
		return fmt.Errorf("edit of %s: the editor refused it (%s); %s", e.Path, r.reason, seen)
	case !r.applied:
		return fmt.Errorf("edit of %s: the editor refused it; %s", e.Path, seen)
	}
	return fmt.Errorf("edit of %s: %w, but %s", e.Path, errUnseen, seen)
}

// overtaken reports whether an open document no longer has the text that an edit was
// computed from.
func (w *workspace) overtaken(e tools.Edit) bool {
	x := w.document(e.Path)
	return x != nil && e.Open && !e.Delete && x.Text.String() != e.Before
}

// describe returns what an edit's document or file has in place of the edit's text.
func (w *workspace) describe(e tools.Edit) string {
	where, now := "the file", ""
	if x := w.document(e.Path); x != nil {
		where, now = fmt.Sprintf("its document (version %d)", x.Version), x.Text.String()
	} else {
		disk, err := w.disk.read(e.Path)
		if errors.Is(err, fs.ErrNotExist) {
			if e.Delete {
				return "the file is gone"
			}
			return "there is no such file"
		}
		if err != nil {
			return "the file cannot be read: " + err.Error()
		}
		now = disk
	}
	switch {
	case now == e.Before && e.Delete:
		return where + " is still there"
	case now == e.After && !e.Delete:
		return where + " holds the new text"
	case e.Create && now == "":
		return where + " was created without its text"
	case now == e.Before:
		return where + " still holds the text from before"
	}
	return fmt.Sprintf("%s holds another text, which differs from the edit's in line %d: read it again", where, firstDifference(now, e.After))
}

// firstDifference returns the number, from 1, of the first line that differs.
func firstDifference(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return text.New(a).LineAt(n) + 1
}
