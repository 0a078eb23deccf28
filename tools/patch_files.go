package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agent-lsp/agent-lsp/tools/diff"
)

// files returns the edits of all files that a patch names. A file that moves is two:
// one that is deleted and one that is created.
func (t patchTool) files(ctx context.Context, text string) ([]fileEdit, error) {
	files, err := diff.Parse(text)
	if err != nil {
		return nil, err
	}
	var out []fileEdit
	at := map[string]int{}    // of out, by path
	same := map[string]bool{} // paths that are only changed, and so may come again
	patches := map[string]diff.File{}
	for _, p := range files {
		from, to, err := t.names(p)
		if err != nil {
			return nil, err
		}
		key := filepath.Clean(cmp.Or(to, from))
		update := p.Kind == diff.Update && !p.Moved
		if i, ok := at[key]; ok {
			if !update || !same[key] {
				return nil, fmt.Errorf("the diff says more than one thing of %s", key)
			}
			p = diff.Merge([]diff.File{patches[key], p})
			patches[key], out[i].make = p, t.updating(ctx, p)
			continue
		}
		at[key], same[key], patches[key] = len(out), update, p
		switch {
		case p.Moved:
			out = append(out, fileEdit{to, t.moved(ctx, from, p)}, fileEdit{from, deletion(diff.File{})})
		case p.Kind == diff.Delete:
			out = append(out, fileEdit{from, deletion(p)})
		default:
			out = append(out, fileEdit{to, t.updating(ctx, p)})
		}
	}
	return out, nil
}

// names returns the paths of a file of a patch before and after, as far as it has
// them. The prefixes of a diff are left out unless there is a file by the whole name.
func (t patchTool) names(p diff.File) (from, to string, err error) {
	pick := func(name string) string {
		if inside, err := relative(t.ws.Dir(), name); err == nil && filepath.IsAbs(name) {
			return inside
		}
		if p.Exact {
			return name
		}
		all := diff.Names(name)
		for _, n := range all {
			if path, err := t.find(n); err == nil {
				if f, err := t.load(path, DefaultMaxFile); err == nil && f.exists {
					return n
				}
			}
		}
		return slices.Concat(all, []string{""})[0]
	}
	from, to = pick(p.Old), pick(p.New)
	switch {
	case p.Kind == diff.Delete:
		to = ""
	case p.Kind == diff.Update && !p.Moved:
		if from != "" && to != "" && filepath.Clean(from) != filepath.Clean(to) {
			return "", "", fmt.Errorf("the diff names two files, %s and %s, for one change; to rename, say rename from and rename to, or Move to", from, to)
		}
		to = cmp.Or(to, from)
	}
	if cmp.Or(from, to) == "" || p.Moved && (from == "" || to == "") {
		return "", "", errors.New("the diff does not name the file that it changes; give the argument path")
	}
	return from, to, nil
}

// updating returns a drafter that changes or creates a file.
func (t patchTool) updating(ctx context.Context, p diff.File) drafter {
	return func(f file) (draft, error) { return t.draftOf(ctx, f, p) }
}

// deletion returns a drafter that deletes a file whose lines are those that the patch
// shows, if it shows any.
func deletion(p diff.File) drafter {
	return func(f file) (draft, error) {
		d := draft{verb: "deleted", deleted: true}
		if !f.exists {
			return d, fmt.Errorf("%s does not exist, so that it cannot be deleted", f.path)
		}
		if err := textOnly(f); err != nil {
			return d, err
		}
		if !p.Changes() {
			return d, nil
		}
		rest, notes, err := diff.Apply(f.text, p)
		if err == nil && rest != "" {
			err = errors.New("it has more lines than the diff deletes")
		}
		d.note = lenient(notes, "")
		if err != nil {
			return d, fmt.Errorf("%s was not deleted: %w", f.path, err)
		}
		return d, nil
	}
}

// moved returns a drafter for the new name of a file, whose text may change as well.
func (t patchTool) moved(ctx context.Context, from string, p diff.File) drafter {
	return func(f file) (draft, error) {
		d := draft{verb: "created"}
		if f.exists {
			return d, fmt.Errorf("%s exists already, so that %s cannot be renamed to it", f.path, from)
		}
		path, err := t.find(from)
		if err != nil {
			return d, err
		}
		old, err := t.load(path, DefaultMaxFile)
		if err != nil {
			return d, pathError(path, err)
		}
		if !old.exists {
			return d, fmt.Errorf("%s does not exist%s", from, nearNames(ctx, t.ws, path))
		}
		d.after = old.text
		if p.Changes() {
			made, err := t.draftOf(ctx, old, p)
			if err != nil {
				return d, err
			}
			d.after, d.note = made.after, made.note
		}
		_, known := t.seen.lookup(old.path, old.text)
		d.view, d.known = d.after, known
		return d, keepsEncoding(old, d.after)
	}
}
