package editor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/tools"
)

// Folder is one workspace folder, the root of its own workspace.
type Folder struct {
	editor *Editor
	uri    string // as the client spelled it
	dir    string // absolute, as spelled
	real   string // without symlinks

	mu     sync.Mutex // guards what follows
	work   *workspace
	closed bool
}

// Folders are the client's workspace folders, in its order.
type Folders struct {
	editor *Editor

	mu   sync.Mutex // guards list
	list []*Folder
}

// All returns the folders.
func (f *Folders) All() []*Folder {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// Dirs returns the folders' absolute paths.
func (f *Folders) Dirs() []string {
	dirs := []string{}
	for _, x := range f.All() {
		dirs = append(dirs, x.dir)
	}
	return dirs
}

// Add appends the folder of a URI unless it is there under some spelling.
func (f *Folders) Add(uri string) error {
	dir, err := text.Path(uri)
	if err != nil {
		return fmt.Errorf("workspace folder: %w", err)
	}
	x := &Folder{editor: f.editor, uri: strings.Clone(uri), dir: dir, real: RealPath(dir)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.ContainsFunc(f.list, func(y *Folder) bool { return text.Key(y.uri) == text.Key(x.uri) }) {
		f.list = append(f.list, x)
	}
	return nil
}

// Remove removes a folder and returns it, nil when it was not there.
func (f *Folders) Remove(uri string) *Folder {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(y *Folder) bool { return text.Key(y.uri) == text.Key(uri) })
	if i < 0 {
		return nil
	}
	x := f.list[i]
	f.list = slices.Delete(f.list, i, i+1)
	return x
}

// Named returns the folder that a path or URI spells, also through symlinks.
func (f *Folders) Named(name string) *Folder {
	dir := name
	if strings.Contains(name, "://") {
		p, err := text.Path(name)
		if err != nil {
			return nil
		}
		dir = p
	}
	if !filepath.IsAbs(dir) {
		return nil
	}
	dir = filepath.Clean(dir)
	all := f.All()
	for _, x := range all {
		if text.Key(text.URI(dir)) == text.Key(x.uri) {
			return x
		}
	}
	real := RealPath(dir)
	for _, x := range all {
		if x.real == real {
			return x
		}
	}
	return nil
}

// Holding returns the innermost folder that a file is in and the file's path
// relative to it with slashes. A folder that contains the file's path as spelled is
// preferred to one that contains it only through symlinks. A path below a folder that
// a link leads out of it is none of that folder's.
func (f *Folders) Holding(path string) (*Folder, string) {
	all := f.All()
	slices.SortStableFunc(all, func(a, b *Folder) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	real := RealPath(path)
	for _, x := range all {
		if rel, ok := Below(x.dir, path); ok && x.contains(real) {
			return x, rel
		}
	}
	slices.SortStableFunc(all, func(a, b *Folder) int { return cmp.Compare(len(b.real), len(a.real)) })
	for _, x := range all {
		if rel, ok := Below(x.real, real); ok {
			return x, rel
		}
	}
	return nil, ""
}

// contains reports whether a real path is in the folder.
func (x *Folder) contains(real string) bool {
	_, ok := Below(x.real, real)
	return ok
}

// workspace opens the folder's root on first use.
func (x *Folder) workspace() (*workspace, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, fmt.Errorf("workspace folder %s was removed", x.dir)
	}
	if x.work == nil {
		root, err := os.OpenRoot(x.dir)
		if err != nil {
			return nil, fmt.Errorf("open workspace folder %s: %w", x.dir, err)
		}
		x.work = &workspace{editor: x.editor, folder: x, disk: files{folder: x, root: root}}
		x.editor.client.Spawn("remove leftovers", func() { x.editor.removeLeftovers(root) })
	}
	return x.work, nil
}

// removeLeftovers removes what a server left that was killed as it wrote a file.
func (ed *Editor) removeLeftovers(root *os.Root) {
	removed, all := tools.RemoveLeftovers(root, ed.client.Gone())
	if len(removed) > 0 {
		ed.log.Info("removed the temporary files of a server that was killed", "folder", root.Name(), "files", removed)
	}
	if !all && !ed.disconnected() {
		ed.log.Info("not all of a large folder was searched for temporary files of a server that was killed", "folder", root.Name())
	}
}

// Close releases the folder's root; a workspace that is in use returns errors
// from then on.
func (x *Folder) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	if x.work != nil {
		_ = x.work.disk.root.Close() // nothing is written through a root itself
	}
}
