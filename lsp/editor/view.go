package editor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/tools"
)

// view is an open document together with its file on the disk: a command, a build or another program may have changed it behind the editor.
type view struct {
	// text is the current text: the buffer's, or the file's where that was changed
	// behind a buffer without unsaved changes. Where the client saves the files
	// of an edit, and so would overwrite the file with its unsaved buffer, it is both
	// merged.
	text string
	// behind says that the file was changed and that the buffer lacks it.
	behind bool
	// deleted says that the file was deleted below a buffer without unsaved changes.
	deleted bool
	// clash says why text is only the buffer's: the person and somebody else changed
	// the same lines. Nothing may be written then.
	clash error
}

// view returns the view of a document and its file.
func (w *workspace) view(name string, x *Document) view {
	buffer := x.Text.String()
	disk, err := w.disk.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && x.onDisk:
		return view{deleted: true}
	case err != nil: // a new document, or its path is not a text file
		return view{text: buffer}
	case matches(disk, buffer):
		w.editor.docs.inStep(x, disk, true)
		return view{text: buffer}
	case !x.known || disk == x.disk:
		return view{text: buffer}
	}
	now, base := disk, x.disk
	if !strings.HasPrefix(buffer, byteOrderMark) { // the editor hides it
		now, base = strings.TrimPrefix(now, byteOrderMark), strings.TrimPrefix(base, byteOrderMark)
	}
	switch {
	case x.onDisk:
		return view{text: now, behind: true}
	case !w.editor.client.SavesEdits():
		return view{text: buffer} // the person saves, and is warned then
	}
	merged, clashes := "", []tools.Lines{}
	if utf8.ValidString(base) && utf8.ValidString(now) {
		merged, clashes = tools.Merge(base, buffer, now)
	} else {
		clashes = append(clashes, tools.Lines{}) // the editor decodes it in its own way
	}
	if len(clashes) == 0 {
		return view{text: merged, behind: true}
	}
	where := ""
	for _, c := range clashes {
		if c.First > 0 {
			where += fmt.Sprintf(" %d-%d", c.First, max(c.First, c.Last))
		}
	}
	if where != "" {
		where = " in the lines" + where
	}
	return view{text: buffer, clash: fmt.Errorf("%s has changes in the editor that are not saved, and the file on the disk was changed since as well%s, by a command or another program: nothing was written; whoever sits at the editor must save it or read it again from the disk first", name, where)}
}

// awaitReload waits a moment for an editor that saves the files of an edit to reload
// a file that was changed behind its buffer: such an editor may refuse to save
// over a file that is newer than its buffer.
func (w *workspace) awaitReload(ctx context.Context, name string, x *Document) *Document {
	l := w.editor.limits
	watch := w.editor.docs.watch(w.abs(name), "")
	defer w.editor.docs.unwatch(watch)
	late := time.NewTimer(l.Landing)
	defer late.Stop()
	for x != nil && x.onDisk && w.view(name, x).behind {
		select {
		case <-watch.wake:
		case <-late.C:
			return x
		case <-ctx.Done():
			return x
		case <-w.editor.client.Gone():
			return x
		}
		x = w.document(name)
	}
	return x
}
