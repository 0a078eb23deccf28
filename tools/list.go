package tools

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// searched is how many entries are looked at for a name like a missing one.
const searched = 5000

// directory lists a directory's entries, folders with a slash behind.
func (t readTool) directory(p string, op readArgs) Outcome {
	names, err := entries(t.ws, p)
	if err != nil {
		return failed(pathError(p, err))
	}
	if len(names) == 0 {
		return Outcome{State: Completed, Text: "[the directory is empty]"}
	}
	pg, err := t.page(strings.NewReader(strings.Join(names, "\n")), op)
	if err != nil {
		return failed(pathError(p, err))
	}
	return pageOutcome(p, pg, "entries")
}

// entries are the names in a directory in order, folders with a slash behind,
// those that are reached through a link included.
func entries(ws Workspace, p string) ([]string, error) {
	root := ws.Root()
	d, err := root.Open(filepath.FromSlash(p))
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	list, err := d.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list))
	for _, entry := range list {
		name := workspace.Listed(entry.Name())
		isDir := entry.IsDir()
		if entry.Type()&fs.ModeSymlink != 0 {
			if target, err := resolve(root, ws.Dir(), path.Join(p, entry.Name())); err == nil {
				info, err := root.Stat(filepath.FromSlash(target))
				isDir = err == nil && info.IsDir()
			}
		}
		if isDir {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// nearNames says which existing paths a missing one may have meant, "" for none:
// files of the same name elsewhere, then names alike in the nearest directory
// that exists.
func nearNames(ctx context.Context, ws Workspace, p string) string {
	var near []string
	add := func(name string) {
		if len(near) < 5 && !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	dir := path.Dir(p)
	want := path.Base(p)
	for {
		names, err := entries(ws, dir)
		if err == nil {
			for _, n := range names {
				if alike(strings.TrimSuffix(n, "/"), want) {
					add(path.Join(dir, n) + strings.Repeat("/", strings.Count(n, "/")))
				}
			}
			break
		}
		if dir == "." {
			break
		}
		want, dir = path.Base(dir), path.Dir(dir)
	}
	for _, found := range sameName(ctx, ws, path.Base(p)) {
		add(found)
	}
	if len(near) == 0 {
		return ""
	}
	return ". There is: " + strings.Join(near, ", ")
}

// sameName looks through a bounded part of the tree for files of a name.
func sameName(ctx context.Context, ws Workspace, name string) []string {
	var found []string
	looked := 0
	_ = fs.WalkDir(ws.Root().FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if looked++; looked > searched || ctx.Err() != nil || len(found) == 3 {
			return fs.SkipAll
		}
		if err != nil {
			return nil // what cannot be listed has no names to offer
		}
		if d.IsDir() && (isGitDir(d.Name()) || d.Name() == "node_modules" || d.Name() == "target") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.EqualFold(d.Name(), name) {
			found = append(found, workspace.Listed(p))
		}
		return nil
	})
	return found
}

// alike reports whether two names are a slip apart: other case, or at most two
// letters (one in a short name) added, dropped or changed.
func alike(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	most := 2
	if min(len(a), len(b)) < 4 {
		most = 1
	}
	return a == b || distance(a, b, most) <= most
}

// distance counts single changes from a to b; beyond most it is just more.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			up := row[j+1]
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(up+1, row[j]+1, diag+cost)
			diag = up
		}
	}
	return row[len(b)]
}
