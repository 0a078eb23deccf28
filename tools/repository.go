package tools

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// repository is a work tree of git's and where its data is. All paths are real.
type repository struct {
	top    string // the work tree
	dir    string // git's own directory of this work tree
	common string // what all work trees of the repository share; dir but for linked ones
}

// repositories finds the repositories of a workspace and looks at them with a git of
// the server's own, see git_own.go.
type repositories struct {
	ws   Workspace
	exec ExecConfig // the environment of git, and how much of its output counts
}

// maxPointer bounds the small files by which git's directories name each other.
const maxPointer = 64 << 10

// find finds the repository that git would take in dir, a real path. Ok
// is false when there is none. A .git that is a file or a link counts only if its
// target points back at the work tree: the error says so, and git must not be run
// there.
func (g repositories) find(dir string) (r repository, ok bool, err error) {
	ceilings, _ := proc.Getenv(g.exec.baseEnv(), "GIT_CEILING_DIRECTORIES")
	stops := filepath.SplitList(ceilings)
	for at := dir; ; {
		git := filepath.Join(at, ".git")
		info, err := os.Lstat(git)
		switch {
		case err == nil && !info.IsDir():
			r, err = g.linked(at)
			return r, err == nil, err
		case err == nil && gitsOwn(git):
			if _, err := os.Lstat(filepath.Join(git, "commondir")); err == nil {
				r, err = g.linked(at)
				return r, err == nil, err
			}
			return repository{top: at, dir: git, common: git}, true, nil
		case gitsOwn(at):
			return r, false, fmt.Errorf("%s looks like git's own directory, in which git is not run: its settings could start programs", at)
		}
		up := filepath.Dir(at)
		if up == at || slices.Contains(stops, up) {
			return r, false, nil
		}
		at = up
	}
}

// linked follows the .git of a work tree, which is a file, a link or a
// directory with another one behind it, to git's directories. Whatever wrote it may
// be hostile, so that both ends must agree: the target names this work tree, as git
// has it name every linked work tree and submodule.
func (g repositories) linked(top string) (repository, error) {
	git := filepath.Join(top, ".git")
	refused := func(target string) error {
		return fmt.Errorf("%s counts only if its target is a git directory that points back at this workspace, and %s is none: git is not run here. A git directory that is this work tree's own and lies elsewhere (git init --separate-git-dir) points back once its core.worktree is %s", git, target, workspace.CommandLine([]string{top}))
	}
	dir := workspace.RealPath(git)
	if info, err := os.Stat(dir); err != nil {
		return repository{}, refused(dir)
	} else if !info.IsDir() {
		name, ok := strings.CutPrefix(readPointer(dir), "gitdir: ")
		if !ok {
			return repository{}, refused("what it says")
		}
		dir = workspace.RealPath(rooted(top, name))
	}
	r := repository{top: top, dir: dir, common: dir}
	back := ""
	if common := readPointer(filepath.Join(dir, "commondir")); common != "" {
		// A linked work tree: its directory lies in a fixed place of the common one.
		r.common = workspace.RealPath(rooted(dir, common))
		if filepath.Dir(dir) != filepath.Join(r.common, "worktrees") {
			return r, refused(dir)
		}
		if pointer := readPointer(filepath.Join(dir, "gitdir")); filepath.Base(pointer) == ".git" {
			back = filepath.Dir(rooted(dir, pointer))
		}
	} else if tree := workTreeSetting(dir); tree != "" {
		back = rooted(dir, tree)
	}
	home := g.home()
	if back == "" || workspace.RealPath(back) != workspace.RealPath(top) || !isRepository(r.common) || g.encloses(r.dir, top, home) || g.encloses(r.common, top, home) {
		return r, refused(dir)
	}
	return r, nil
}

func (g repositories) home() string {
	home, _ := proc.Getenv(g.exec.baseEnv(), "HOME")
	return home
}

// encloses reports whether a directory is, or lies above, the home directory, the
// workspace or one of its work trees: git's data is never there.
func (g repositories) encloses(dir, top, home string) bool {
	for _, inner := range []string{top, g.ws.Dir(), home} {
		if inner != "" && within(dir, inner) {
			return true
		}
	}
	return false
}

// isRepository reports whether git takes a directory for a repository's.
func isRepository(dir string) bool {
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}

// rooted makes a name of a file in dir absolute.
func rooted(dir, name string) string {
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return filepath.Clean(name)
}

// readPointer reads a small file that names another one, "" when there is none.
func readPointer(name string) string {
	text, err := workspace.ReadFile(nil, name, maxPointer)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(text), "\r\n")
}

// workTreeSetting is core.worktree in the configuration of git's directory dir, as
// git writes it for submodules; "" when it has none.
func workTreeSetting(dir string) string {
	for _, name := range []string{"config.worktree", "config"} {
		section := ""
		for line := range strings.Lines(readPointer(filepath.Join(dir, name))) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "[") {
				section = strings.ToLower(line)
				continue
			}
			key, value, ok := strings.Cut(line, "=")
			if !ok || section != "[core]" || !strings.EqualFold(strings.TrimSpace(key), "worktree") {
				continue
			}
			value = strings.TrimSpace(value)
			if inner, ok := strings.CutPrefix(value, `"`); ok {
				value = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.TrimSuffix(inner, `"`))
			}
			return value
		}
	}
	return ""
}

// outer is git's directory of the work tree that the root belongs to,
// when commands need it and it is not below the root itself; "" for none. Of a work
// tree that the home directory lies in it is none: that one is not the workspace's.
func (g repositories) outer() string {
	root := workspace.RealPath(g.ws.Dir())
	r, ok, err := g.find(root)
	if err != nil || !ok {
		return ""
	}
	home := g.home()
	if _, inside := workspace.Below(root, r.common); inside || home != "" && within(r.top, home) {
		return ""
	}
	return r.common
}

// gitsOwn reports whether a directory is laid out as git's own.
func gitsOwn(dir string) bool {
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return there("HEAD") && (there("objects") || there("commondir"))
}

// ignores reports whether the root is in a git work tree that ignores a path and does
// not track it, so that git could not bring back what was there. It runs no git, and
// knows no rules of the person's own.
func (g repositories) ignores(p string) bool {
	root := workspace.RealPath(g.ws.Dir())
	r, ok, err := g.find(root)
	if err != nil || !ok {
		return false
	}
	name, ok := workspace.Below(r.top, filepath.Join(root, filepath.FromSlash(p)))
	if !ok {
		return false
	}
	name = filepath.ToSlash(name)
	ignore := workspace.NewIgnore(func(rules string) (string, bool) {
		file := filepath.Join(r.top, filepath.FromSlash(rules))
		if rules == ".git/info/exclude" {
			file = filepath.Join(r.common, "info", "exclude")
		}
		text, err := workspace.ReadFile(nil, file, DefaultMaxRead)
		return string(text), err == nil
	})
	return ignore.Skips(name, false) && !r.tracks(name)
}

// tracks reports whether git's index has a path below the work tree. An index in a
// form that shortens its names (version 4) tells of none.
func (r repository) tracks(name string) bool {
	index, err := workspace.ReadFile(nil, filepath.Join(r.dir, "index"), DefaultMaxFile)
	if err != nil || len(index) < 12 || binary.BigEndian.Uint32(index[4:]) > 3 {
		return false
	}
	const lengthBits, extended = 0x0fff, 0x4000
	want := append([]byte(name), 0)
	for at := 0; ; at++ {
		i := bytes.Index(index[at:], want)
		if i < 0 {
			return false
		}
		at += i
		for _, back := range []int{2, 4} { // the flags, with more of them behind where they say so
			if at < 12+back {
				continue
			}
			flags := binary.BigEndian.Uint16(index[at-back:])
			if int(flags&lengthBits) == min(len(name), lengthBits) && (flags&extended != 0) == (back == 4) {
				return true
			}
		}
	}
}
