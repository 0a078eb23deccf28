package editor

import "github.com/agent-lsp/agent-lsp/lsp/text"

// Opened adds a document that the client opened.
func (ed *Editor) Opened(uri string, version int32, content string) *Document {
	x := ed.docs.opened(uri, version, content)
	ed.compare(x)
	return x
}

// Changed applies changes to a document, each against the result of the one before.
func (ed *Editor) Changed(uri string, version int32, changes []text.Change) error {
	was := ed.docs.named(uri)
	if err := ed.docs.changed(uri, version, changes, ed.client.Features().Encoding); err != nil {
		return err
	}
	if was.onDisk {
		// The first change of a buffer without unsaved ones may be the editor's, which
		// read the file again. Then the two are in step.
		ed.onFile(ed.docs.named(uri), func(w *workspace, name string, x *Document) { w.diskHolds(name, x) })
	}
	return nil
}

// Lost marks a document whose change could not be read: its text is not the
// client's until all of it is sent again.
func (ed *Editor) Lost(uri string) { ed.docs.lose(uri) }

// Saved records that the client saved a document.
func (ed *Editor) Saved(uri string) {
	if x := ed.docs.saved(uri); x != nil {
		ed.compare(x)
	}
}

// Closed removes a document that the client closed.
func (ed *Editor) Closed(uri string) error { return ed.docs.closed(uri) }

// compare reads the file of a buffer that was opened or saved just now, and so is in
// step with it. It does so at once, before the agent can change the file.
func (ed *Editor) compare(x *Document) {
	ed.onFile(x, func(w *workspace, name string, x *Document) {
		if disk, err := w.disk.read(name); err == nil {
			ed.docs.inStep(x, disk, matches(disk, x.Text.String()))
		}
	})
}

// onFile calls a function with the file of a buffer, if it is in a workspace folder.
func (ed *Editor) onFile(x *Document, do func(w *workspace, name string, x *Document)) {
	f, name := ed.Folders.Holding(x.Path)
	if f == nil {
		return
	}
	if w, err := f.workspace(); err == nil {
		do(w, name, x)
	}
}
