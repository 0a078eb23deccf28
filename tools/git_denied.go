package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// What follows keeps a rule that denies reading in git, too, which shows the texts
// of files by path, by revision and by the names of objects.

// gitShows are the reading subcommands that show the texts of files and take paths
// to leave out.
var gitShows = append([]string{"grep"}, gitDiffs...)

// readDenials returns the patterns of the rules that deny reading; everything is true
// when one of them has no pattern.
func (p Policy) readDenials() (patterns []string, everything bool) {
	for _, r := range p.Deny {
		if r.Family == FamilyRead {
			patterns = append(patterns, r.Match...)
			everything = everything || len(r.Match) == 0
		}
	}
	return patterns, everything
}

var errMayShow = errors.New("it may show files that a rule of the configuration keeps from being read")

// withoutDenied returns a reading command that shows nothing of the files that no
// tool may read, or why it is not run.
func (t gitTool) withoutDenied(ctx context.Context, c gitCommand, r repository, dir string) (gitCommand, error) {
	patterns, everything := t.policy().readDenials()
	if len(patterns) == 0 && !everything {
		return c, nil
	}
	if c.showsAny() {
		return c, errMayShow
	}
	filtered := slices.Contains(gitShows, c.name) // takes paths that are left out
	if !filtered && !slices.Contains([]string{"blame", "annotate", "cat-file"}, c.name) {
		return c, nil
	}
	if everything || slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(a, "--batch") || a == "-" || a == "--stdin" }) {
		return c, errMayShow
	}
	if err := t.namesDenied(ctx, c, r, dir); err != nil {
		return c, err
	}
	if filtered {
		c.args = append(slices.Clone(c.args), t.leftOut(patterns, r)...)
	}
	return c, nil
}

// showsAny reports whether a command may show any file, whatever its paths are.
func (c gitCommand) showsAny() bool {
	switch c.name {
	case "range-diff":
		return true
	case "stash":
		return len(c.args) > 0 && c.args[0] == "show"
	case "status":
		return slices.ContainsFunc(c.args, func(a string) bool {
			return strings.HasPrefix(a, "--v") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "v")
		})
	case "for-each-ref", "branch", "tag":
		return slices.ContainsFunc(c.args, func(a string) bool { return strings.Contains(a, "%(") && strings.Contains(a, "raw") })
	}
	return false
}

// namesDenied fails when an argument names a denied file, or an object of which the
// path is not known.
func (t gitTool) namesDenied(ctx context.Context, c gitCommand, r repository, dir string) error {
	blames := c.name == "blame" || c.name == "annotate"
	paths := false
	for _, a := range c.args {
		// REV:PATH, :0:PATH, -L1,5:PATH; of blame every argument may be one.
		rest, more := a, blames
		for {
			if more && t.deniesReading(r, dir, rest) {
				return fmt.Errorf("a rule of the configuration denies reading %s", clip(rest))
			}
			if _, rest, more = strings.Cut(rest, ":"); !more {
				break
			}
		}
		if paths = paths || a == "--"; paths || strings.HasPrefix(a, "-") {
			continue
		}
		for side := range strings.SplitSeq(strings.ReplaceAll(a, "...", ".."), "..") {
			kind, err := t.kindOfObject(ctx, r, dir, side)
			if err != nil {
				return err
			}
			listed := c.name == "show" || c.name == "cat-file"
			if kind == "blob" && (!listed || !strings.Contains(side, ":")) || kind == "tree" && !listed {
				return fmt.Errorf("%s names a %s: %w", clip(side), kind, errMayShow)
			}
		}
	}
	return nil
}

// kindOfObject returns the kind of object that a revision names, with tags followed;
// "" when it names nothing.
func (t gitTool) kindOfObject(ctx context.Context, r repository, dir, revision string) (string, error) {
	for _, name := range []string{revision + "^{}", revision} {
		_, res, err := t.repos.run(ctx, r, dir, []string{"cat-file", "-t", name}, statusTimeout, 0)
		if err != nil {
			return "", err
		}
		if kind := strings.TrimSpace(res.Stdout.String()); res.OK() {
			return kind, nil
		}
	}
	return "", nil
}

// deniesReading reports whether a rule denies reading a path that git is given in
// dir: from there, or from the top of the work tree.
func (t gitTool) deniesReading(r repository, dir, name string) bool {
	root := workspace.RealPath(t.ws.Dir())
	for _, from := range []string{workspace.RealPath(dir), r.top} {
		rel, ok := workspace.Below(root, rooted(from, name))
		if !ok {
			continue
		}
		s := subject{family: FamilyRead, paths: append(t.spellings(filepath.ToSlash(rel)), filepath.ToSlash(rel))}
		if _, denied := t.policy().denied(s); denied || t.policy().otherName(t.ws.Root(), filepath.ToSlash(rel)) {
			return true
		}
	}
	return false
}

// leftOut returns arguments that make git leave out what patterns of rules match.
func (t gitTool) leftOut(patterns []string, r repository) []string {
	prefix, plain := "", ""
	if rel, ok := workspace.Below(r.top, workspace.RealPath(t.ws.Dir())); ok && rel != "." {
		plain = filepath.ToSlash(rel) + "/"
		prefix = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(plain)
	}
	const magic = ":(top,exclude,icase,glob)"
	var out []string
	for _, name := range t.policy().otherNames(t.ws.Root()) {
		out = append(out, ":(top,exclude,literal)"+plain+name)
	}
	for _, p := range patterns {
		p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
		if p == "." {
			p = "**"
		}
		out = append(out, magic+prefix+p, magic+prefix+p+"/**")
		if !strings.Contains(p, "/") && strings.ContainsAny(p, "*?[") {
			out = append(out, magic+prefix+"**/"+p)
		}
	}
	return out
}

// otherNames returns every name, in the workspace, of the files with several hard
// links of which a rule denies reading one.
func (p Policy) otherNames(root *os.Root) []string {
	if patterns, _ := p.readDenials(); len(patterns) == 0 {
		return nil
	}
	var denied []fs.FileInfo
	eachLinked(root, func(name string, info fs.FileInfo) {
		if _, is := p.denied(subject{family: FamilyRead, paths: []string{name}}); is {
			denied = append(denied, info)
		}
	})
	if len(denied) == 0 {
		return nil
	}
	var out []string
	eachLinked(root, func(name string, info fs.FileInfo) {
		if slices.ContainsFunc(denied, func(other fs.FileInfo) bool { return os.SameFile(info, other) }) {
			out = append(out, name)
		}
	})
	return out
}

// otherName reports whether a rule denies reading the file under another of its
// names.
func (p Policy) otherName(root *os.Root, name string) bool {
	info, err := root.Stat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular() && links(info) > 1 && slices.Contains(p.otherNames(root), name)
}

// eachLinked calls visit for each file of the workspace that has several hard links.
func eachLinked(root *os.Root, visit func(name string, info fs.FileInfo)) {
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // what cannot be listed cannot be read either
		}
		if info, err := d.Info(); err == nil && links(info) > 1 {
			visit(name, info)
		}
		return nil
	})
}
