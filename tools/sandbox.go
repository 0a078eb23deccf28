package tools

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// confinement confines the writing of commands when the configuration wants it
// and the system can.
func (e *Executor) confinement() proc.Policy {
	if !e.cfg.Exec.Sandbox {
		return proc.Unconfined("the person switched the sandbox off, or the system has none")
	}
	return proc.Confined(proc.Sandbox{Writable: e.writable()})
}

// looking is the policy of the git that the server itself runs to look at a
// repository.
func looking() proc.Policy {
	return proc.Unconfined("settings on its command line keep it from running programs")
}

// writable are the places that a confined command may write below: the workspace
// and the repository that it is part of, temporary files and caches.
func (e *Executor) writable() []string {
	out := append([]string{e.ws.Dir()}, proc.Scratch(e.env())...)
	if dir := repository(realPath(e.ws.Dir())); dir != "" {
		out = append(out, dir)
	}
	return append(out, e.cfg.Exec.Writable...)
}

// repository is git's own directory for a work tree that dir lies in, when it is
// not below dir itself.
func repository(dir string) string {
	prefix, ok := gitTop(dir)
	if !ok {
		return ""
	}
	top := filepath.Clean(filepath.Join(dir, filepath.FromSlash(upward(prefix))))
	git := filepath.Join(top, ".git")
	info, err := os.Lstat(git)
	if err != nil {
		return ""
	}
	if info.IsDir() {
		if prefix == "" {
			return ""
		}
		return git
	}
	return linkedRepository(top, git)
}

// upward leads from a directory to the one that prefix starts at.
func upward(prefix string) string {
	return "." + strings.Repeat("/..", strings.Count(prefix, "/"))
}

// linkedRepository follows the file that stands for git's directory in a linked
// work tree to the common directory of all of them.
func linkedRepository(top, file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if !ok {
		return ""
	}
	dir := filepath.FromSlash(name)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	if common, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		return filepath.Join(dir, filepath.FromSlash(strings.TrimSpace(string(common))))
	}
	return dir
}
