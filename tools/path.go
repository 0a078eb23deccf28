package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// maxLinks bounds how many symbolic links one path may lead through.
const maxLinks = 40

// relative converts a path that a model names to a clean, slash separated path
// below the root. The path is relative to the root, or absolute below it, with the
// root spelled as the editor or as the disk spells it. Only names are checked; the
// file system below the root is confined by os.Root.
func relative(dir, name string) (string, error) {
	if name == "" {
		return "", errors.New("the path is empty")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("the path %q has a control character in it", name)
	}
	if filepath.IsAbs(name) {
		rel, ok := workspace.Below(dir, name)
		if !ok {
			if target, err := filepath.EvalSymlinks(dir); err == nil {
				rel, ok = workspace.Below(target, name)
			}
		}
		if !ok {
			return "", fmt.Errorf("%s is outside the workspace %s; use paths relative to it", name, dir)
		}
		name = rel
	}
	slashed := filepath.ToSlash(name)
	p := path.Clean(slashed)
	if p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") {
		return "", fmt.Errorf("%s is outside the workspace; use paths relative to it", name)
	}
	if p != "." && !filepath.IsLocal(filepath.FromSlash(p)) {
		return "", fmt.Errorf("%s is not a path that the system allows below a directory", name)
	}
	return p, nil
}

// resolve follows the symbolic links in a clean path below the root and returns the
// clean path of the target, which need not exist. A link that leads out of the root
// is an error. The result is only good for decisions: whoever opens the path does so
// through root, which checks again.
func resolve(root *os.Root, dir, p string) (string, error) {
	done := "."
	rest := strings.Split(p, "/")
	links := 0
	for len(rest) > 0 {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		if next == ".." || strings.HasPrefix(next, "../") {
			return "", fmt.Errorf("%s leads out of the workspace through a symbolic link", p)
		}
		info, err := root.Lstat(filepath.FromSlash(next))
		if errors.Is(err, fs.ErrNotExist) {
			return path.Join(append([]string{next}, rest...)...), nil
		}
		if err != nil {
			return "", pathError(p, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s leads through too many symbolic links", p)
		}
		target, err := root.Readlink(filepath.FromSlash(next))
		if err != nil {
			return "", pathError(p, err)
		}
		if filepath.IsAbs(target) {
			// The system's root follows no absolute target, but one that lies inside
			// can be walked by its own path.
			target, err = relative(dir, target)
			if err != nil {
				return "", fmt.Errorf("%s leads out of the workspace through a symbolic link", p)
			}
			done = "."
		}
		rest = append(strings.Split(path.Clean(filepath.ToSlash(target)), "/"), rest...)
	}
	return done, nil
}

// leadsOut reports whether a program that runs in dir, the root or a directory below
// it, would leave the root by opening name. Unlike a tool's path, name is walked as
// the system does: what follows a link is relative to the link's target.
func leadsOut(ws Workspace, dir, name string) bool {
	name = filepath.ToSlash(name)
	at, err := relative(ws.Dir(), dir)
	if err != nil {
		return true
	}
	if filepath.IsAbs(filepath.FromSlash(name)) || strings.HasPrefix(name, "/") {
		if at, err = relative(ws.Dir(), filepath.FromSlash(name)); err != nil || slices.Contains(strings.Split(name, "/"), "..") {
			return true
		}
		name, at = at, "."
	}
	for element := range strings.SplitSeq(name, "/") {
		switch {
		case element == "..":
			if at == "." {
				return true
			}
			at = path.Dir(at)
		case element != "" && element != ".":
			next, err := resolve(ws.Root(), ws.Dir(), path.Join(at, element))
			if err != nil && strings.Contains(err.Error(), "symbolic link") {
				return true
			}
			if err != nil {
				return false // there is no such path: it is something else's name
			}
			at = next
		}
	}
	return false
}

// pathError returns an error that says in one clause what is wrong with a path.
func pathError(p string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", p)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be accessed: permission denied", p)
	case strings.Contains(err.Error(), "escapes from parent"):
		return fmt.Errorf("%s leads out of the workspace through a symbolic link", p)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", p, err)
}

// plainName folds a path element as case-insensitive and name-mangling file systems
// do: it drops case, characters that some ignore, trailing dots and spaces, and
// stream suffixes.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	return strings.TrimRight(name, ". ")
}

// isGitDir reports whether a path element is git's directory under any spelling
// that a file system might take for it.
func isGitDir(name string) bool {
	switch plainName(name) {
	case ".git", "git~1":
		return true
	}
	return false
}
