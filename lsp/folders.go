package lsp

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/lsp/text"
)

// folder is one workspace folder, the root of its own workspace.
type folder struct {
	uri  string // as the client spelled it
	dir  string // absolute, as spelled
	real string // without symlinks

	mu     sync.Mutex // guards what follows
	work   *workspace
	closed bool
}

// folders are the client's workspace folders, in its order.
type folders struct {
	mu   sync.Mutex // guards list
	list []*folder
}

func newFolder(uri string) (*folder, error) {
	dir, err := text.Path(uri)
	if err != nil {
		return nil, fmt.Errorf("workspace folder: %w", err)
	}
	return &folder{uri: strings.Clone(uri), dir: dir, real: realPath(dir)}, nil
}

func (f *folders) all() []*folder {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// dirs are the folders' absolute paths.
func (f *folders) dirs() []string {
	dirs := []string{}
	for _, x := range f.all() {
		dirs = append(dirs, x.dir)
	}
	return dirs
}

// add appends a folder unless it is there under some spelling.
func (f *folders) add(x *folder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.ContainsFunc(f.list, func(y *folder) bool { return text.Key(y.uri) == text.Key(x.uri) }) {
		f.list = append(f.list, x)
	}
}

// remove takes a folder out and answers it, nil when it was not there.
func (f *folders) remove(uri string) *folder {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(y *folder) bool { return text.Key(y.uri) == text.Key(uri) })
	if i < 0 {
		return nil
	}
	x := f.list[i]
	f.list = slices.Delete(f.list, i, i+1)
	return x
}

// named answers the folder that a path or URI spells, also through symlinks.
func (f *folders) named(name string) *folder {
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
	all := f.all()
	for _, x := range all {
		if text.Key(text.URI(dir)) == text.Key(x.uri) {
			return x
		}
	}
	real := realPath(dir)
	for _, x := range all {
		if x.real == real {
			return x
		}
	}
	return nil
}

// holding answers the innermost folder that a file is in and the file's path
// relative to it with slashes. A folder that spells the file's path as it is goes
// before one that only holds it behind symlinks.
func (f *folders) holding(path string) (*folder, string) {
	all := f.all()
	slices.SortStableFunc(all, func(a, b *folder) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	for _, x := range all {
		if rel, ok := below(x.dir, path); ok {
			return x, rel
		}
	}
	real := realPath(path)
	slices.SortStableFunc(all, func(a, b *folder) int { return cmp.Compare(len(b.real), len(a.real)) })
	for _, x := range all {
		if rel, ok := below(x.real, real); ok {
			return x, rel
		}
	}
	return nil, ""
}

// below answers a path relative to a directory, with slashes.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// workspace opens the folder's root on first use.
func (x *folder) workspace(s *Server) (*workspace, error) {
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
		x.work = &workspace{server: s, folder: x, root: root}
	}
	return x.work, nil
}

// close releases the folder's root; a workspace that is in use answers errors
// from then on.
func (x *folder) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	if x.work != nil {
		_ = x.work.root.Close() // nothing is written through a root itself
	}
}
