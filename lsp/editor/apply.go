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

// Apply implements tools.Workspace. An open document is changed by the client and
// nobody else; a file that is not open is written here, unless it is new and the
// client creates files.
func (w *workspace) Apply(ctx context.Context, e tools.Edit) (tools.Applied, error) {
	if w.editor.gone() {
		return tools.Applied{}, orphaned(ctx, e)
	}
	unlock, err := w.editor.locks.lock(ctx, RealPath(w.abs(e.Path)))
	if err != nil {
		return tools.Applied{}, err
	}
	defer unlock()
	return w.apply(ctx, e)
}

// apply is Apply for a caller that holds the file's lock.
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
	if err == nil && v.behind && x.held && w.editor.client.SavesEdits() {
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
	onDisk := v.gone || w.disk.has(e.Path, e.Before)
	edits := x.Text.Edits(e.After, c.Encoding)
	if len(edits) == 0 { // only the file is another
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

// fits looks at a document before an edit of it, and at the file below, which is
// about to be written over. The error is tools.ErrStale for another text than the
// edit's, and else says why it cannot be made.
func (w *workspace) fits(e tools.Edit, x *Document) (view, error) {
	v := w.view(e.Path, x)
	switch {
	case v.clash != nil:
		return v, v.clash
	case e.Create != v.gone || v.text != e.Before:
		return v, fmt.Errorf("%s changed in the editor: %w", e.Path, tools.ErrStale)
	}
	return v, nil
}

// ofBuffer is an edit as its document sees it, which may lack what was changed on
// the disk.
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
		// The end on the next line takes the one line along that an editor gives to
		// an empty buffer.
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

// errUnseen is an edit that the client answered with a yes and that did not show.
var errUnseen = errors.New("the editor said that it was applied")

// fill writes the text of a new file that the client made, and left empty because it
// keeps the text in a buffer that it tells no server of.
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

// workspaceEdit is an edit of one document in the form that the client takes.
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

// land sends an edit and answers nil only after its text was seen in the buffer
// or, where the file is not open, in the file. What the client answers only says
// how long to look.
func (w *workspace) land(ctx context.Context, e tools.Edit, params *protocol.ApplyWorkspaceEditParams) error {
	watch := w.editor.docs.watch(w.abs(e.Path), e.After)
	defer w.editor.docs.unwatch(watch)
	answered := make(chan answer, 1)
	asking, stop := context.WithTimeout(ctx, w.editor.limits.Answer)
	defer stop()
	w.editor.client.Spawn("apply edit", func() { answered <- w.ask(asking, params) })
	return w.awaitLanding(ctx, e, watch, answered)
}

// orphaned is the error of an edit whose editor is gone.
func orphaned(ctx context.Context, e tools.Edit) error {
	return fmt.Errorf("edit of %s: %w: %w", e.Path, ErrGone, untilDone(ctx))
}

// answer is what a client said to an edit.
type answer struct {
	applied bool
	reason  string
	err     error
}

func (a answer) refused() bool { return a.err != nil || !a.applied }

func (w *workspace) ask(ctx context.Context, params *protocol.ApplyWorkspaceEditParams) (a answer) {
	a.applied, a.reason, a.err = w.editor.client.ApplyEdit(ctx, params)
	return a
}

// missed is the error of an edit whose text did not show.
func (w *workspace) missed(e tools.Edit, a answer) error {
	seen := w.look(e)
	switch {
	case errors.Is(a.err, context.DeadlineExceeded):
		return fmt.Errorf("edit of %s: the editor did not answer within %v; %s", e.Path, w.editor.limits.Answer, seen)
	case a.err != nil:
		return fmt.Errorf("edit of %s: the editor answered with an error: %w; %s", e.Path, a.err, seen)
	case !a.applied && w.overtaken(e):
		// It is computed again from what is there now, be it what the person typed
		// or what the editor did of it.
		return fmt.Errorf("edit of %s: the editor refused it (%s); %s: %w", e.Path, a.reason, seen, tools.ErrStale)
	case !a.applied && a.reason != "":
		return fmt.Errorf("edit of %s: the editor refused it (%s); %s", e.Path, a.reason, seen)
	case !a.applied:
		return fmt.Errorf("edit of %s: the editor refused it; %s", e.Path, seen)
	}
	return fmt.Errorf("edit of %s: %w, but %s", e.Path, errUnseen, seen)
}

// overtaken tells that an open document is no longer the text that an edit was
// computed from.
func (w *workspace) overtaken(e tools.Edit) bool {
	x := w.document(e.Path)
	return x != nil && e.Open && !e.Delete && x.Text.String() != e.Before
}

// look describes what stands in the place of an edit's text.
func (w *workspace) look(e tools.Edit) string {
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

// firstDifference is the number from 1 of the first line that differs.
func firstDifference(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return text.New(a).LineAt(n) + 1
}
