package tools

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// statusTimeout bounds each look at git's status: in a huge work tree the files
// that the model knows must do.
const statusTimeout = 5 * time.Second

// changeDetector finds the files that change while a command runs, among those that
// the model has read and those that git reports as changed.
type changeDetector struct {
	e     *Executor
	seen  map[string]stamp
	dirty map[string]stamp // what git reports as changed; nil without git
}

// stamp is a file's state, compared to see whether the file may have changed.
type stamp struct {
	size  int64
	mod   time.Time
	mode  fs.FileMode
	hash  string // of files that the model knows and that are not too big
	there bool
}

func newChangeDetector(ctx context.Context, e *Executor) *changeDetector {
	w := &changeDetector{e: e, seen: map[string]stamp{}}
	for p := range e.seen.hashes() {
		w.seen[p] = w.stamp(p, true)
	}
	w.dirty = w.status(ctx)
	return w
}

func (w *changeDetector) stamp(p string, hash bool) stamp {
	info, err := w.e.ws.Root().Lstat(filepath.FromSlash(p))
	if err != nil {
		return stamp{}
	}
	s := stamp{size: info.Size(), mod: info.ModTime(), mode: info.Mode(), there: true}
	if hash {
		if text, err := readFile(w.e.ws.Root(), p, w.e.cfg.MaxRead); err == nil {
			s.hash = hashText(text)
		}
	}
	return s
}

// changed returns the files that changed since newChangeDetector, in order.
func (w *changeDetector) changed(ctx context.Context) []string {
	found := map[string]bool{}
	for p, was := range w.seen {
		now := w.stamp(p, false)
		if now == (stamp{size: was.size, mod: was.mod, mode: was.mode, there: was.there}) {
			continue
		}
		// A new time alone is no change: the text decides where it is known.
		if now = w.stamp(p, true); now.hash == "" || now.hash != was.hash || now.mode != was.mode {
			found[p] = true
		}
	}
	if w.dirty != nil {
		now := w.status(ctx)
		for p := range now {
			if !has(w.dirty, p) && !has(w.seen, p) {
				found[p] = true
			}
		}
		// Another status from git, or none, does not mean that the file changed: it may
		// have been added or committed.
		for p, was := range w.dirty {
			if now != nil && !has(w.seen, p) && w.stamp(p, false) != was {
				found[p] = true
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(found))
}

func has(m map[string]stamp, p string) bool {
	_, ok := m[p]
	return ok
}

// status returns the files below the root that git reports as changed, each with its
// stamp to notice a further change; nil without git.
func (w *changeDetector) status(ctx context.Context) map[string]stamp {
	root := workspace.RealPath(w.e.ws.Dir())
	r, ok, err := w.e.repos.find(root)
	if err != nil || !ok {
		return nil
	}
	prefix := ""
	if rel, ok := workspace.Below(r.top, root); ok && rel != "." {
		prefix = filepath.ToSlash(rel) + "/"
	}
	_, res, err := w.e.repos.run(ctx, r, root, []string{
		"status", "--ignore-submodules=dirty", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--", ".",
	}, statusTimeout, 4<<20)
	if err != nil || !res.OK() || res.Stdout.Elided > 0 {
		return nil
	}
	out := map[string]stamp{}
	for entry := range strings.SplitSeq(string(res.Stdout.Bytes()), "\x00") {
		if len(entry) < 4 {
			continue
		}
		p, ok := strings.CutPrefix(strings.TrimSuffix(entry[3:], "/"), prefix)
		if !ok || p == "" {
			continue
		}
		out[p] = w.stamp(p, false)
	}
	return out
}
