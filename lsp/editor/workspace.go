package editor

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/tools"
)

// workspace is one workspace folder as the tools see it: the client's open
// buffers over the disk.
type workspace struct {
	editor *Editor
	folder *Folder
	disk   files
}

var _ tools.Workspace = (*workspace)(nil)

// Dir implements tools.Workspace.
func (w *workspace) Dir() string { return w.folder.dir }

// Root implements tools.Workspace.
func (w *workspace) Root() *os.Root { return w.disk.root }

// Buffer implements tools.Workspace. What was changed on the disk behind the editor
// is in the text, and a file that was deleted behind it is not there.
func (w *workspace) Buffer(path string) (tools.Document, bool) {
	x := w.document(path)
	if x == nil {
		return tools.Document{}, false
	}
	v := w.view(path, x)
	return tools.Document{Text: v.text}, !v.deleted
}

// Opened implements tools.Opener.
func (w *workspace) Opened() []string {
	var out []string
	for _, d := range w.editor.docs.snapshot() {
		if d.Path == "" {
			continue
		}
		if f, rel := w.editor.Folders.Holding(d.Path); f == w.folder {
			out = append(out, rel)
		}
	}
	return out
}

// document returns the open buffer of a file of the folder, nil when there is none.
func (w *workspace) document(path string) *Document {
	x := w.editor.docs.at(w.abs(path))
	if x == nil || !w.folder.contains(RealPath(w.abs(path))) { // a link leads out of the folder
		return nil
	}
	return x
}

// abs returns the path of a file of the folder, as the client spells the folder.
func (w *workspace) abs(path string) string { return w.folder.Abs(path) }

// Dir returns the absolute path of the folder, as the client spells it.
func (x *Folder) Dir() string { return x.dir }

// Abs returns the path of a file of the folder, as the client spells the folder.
func (x *Folder) Abs(path string) string {
	return filepath.Join(x.dir, filepath.FromSlash(path))
}

// uri returns the URI of a file of the folder: in the client's spelling if it has the
// file open, else below its spelling of the folder.
func (w *workspace) uri(path string) string {
	if x := w.editor.docs.at(w.abs(path)); x != nil {
		return x.URI
	}
	return w.folder.FileURI(path)
}

// FileURI returns the URI of a file of the folder, below the client's spelling of it.
func (x *Folder) FileURI(path string) string {
	return strings.TrimSuffix(x.uri, "/") + strings.TrimPrefix(text.URI("/"+path), "file://")
}

// matches reports whether a file's text is a buffer's text, as editors save it.
func matches(s, buffer string) bool {
	if s == buffer {
		return true
	}
	if rest, ok := strings.CutPrefix(s, byteOrderMark); ok && rest == buffer {
		return true
	}
	// Neovim shows an empty file as a buffer with one empty line.
	return s == "" && buffer == "\n"
}
