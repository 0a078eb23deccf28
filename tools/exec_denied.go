package tools

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// What follows keeps a rule that denies reading for commands, as far as that goes: one
// that names such a file is refused, and where commands see files of their own the
// file is not among them.

// namesUnread returns the first file that a command names and that a rule denies
// reading. A rule without a pattern is about the tool read alone: every command reads.
func (e decider) namesUnread(u unfolded, cwd string) (string, bool) {
	p := e.policy()
	if patterns, _ := p.readDenials(); len(patterns) == 0 {
		return "", false
	}
	p.Deny = slices.DeleteFunc(slices.Clone(p.Deny), func(r Rule) bool { return len(r.Match) == 0 })
	words := slices.Concat(append(slices.Clone(u.commands), append(u.code, u.files)...)...)
	for _, word := range words {
		// --file=x, user@x, if=x, REV:x: each of the parts may be a path.
		for _, part := range append(strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=@:,", r) }), word) {
			if part != "" && e.isUnread(p, cwd, part) {
				return part, true
			}
		}
	}
	return "", false
}

func (e decider) isUnread(p Policy, cwd, name string) bool {
	root := workspace.RealPath(e.ws.Dir())
	rel, ok := workspace.Below(root, rooted(filepath.Join(root, filepath.FromSlash(cwd)), name))
	if !ok {
		return false
	}
	rel = filepath.ToSlash(rel)
	_, denied := p.denied(subject{family: FamilyRead, paths: append(e.spellings(rel), rel)})
	return denied || p.otherName(e.ws.Root(), rel)
}

// unread returns the absolute paths of the files that a rule denies reading, under all
// of their names, where commands can be kept from seeing them.
func (e *Executor) unread() []string {
	p := e.policy()
	patterns, everything := p.readDenials()
	if len(patterns) == 0 || everything || proc.SandboxSupport().Mechanism != proc.Namespaces {
		return nil
	}
	root := e.ws.Root()
	var names []string
	linked := false
	visit := func(name string) bool {
		_, denied := p.denied(subject{family: FamilyRead, paths: []string{name}})
		info, err := root.Lstat(filepath.FromSlash(name))
		if denied && err == nil && name != "." {
			names = append(names, name)
			linked = linked || info.Mode().IsRegular() && links(info) > 1
		}
		return denied
	}
	if slices.ContainsFunc(patterns, func(m string) bool { return strings.ContainsAny(m, `*?[\`) }) {
		_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == ".git" || visit(name) && d.IsDir() {
				return fs.SkipDir // what cannot be listed cannot be read either
			}
			return nil
		})
	} else {
		for _, m := range patterns {
			visit(path.Clean(m))
		}
	}
	if linked {
		names = append(names, p.otherNames(root)...)
	}
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, filepath.Join(workspace.RealPath(e.ws.Dir()), filepath.FromSlash(name)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
