package tools

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// sandbox confines the writing of commands when the configuration wants it and
// the system can; otherwise it is nil.
func (e *Executor) sandbox() *proc.Sandbox {
	if !e.cfg.Exec.Sandbox {
		return nil
	}
	return &proc.Sandbox{Writable: e.writable()}
}

// writable are the places that a confined command may write below: the workspace
// and the repository that it is part of, temporary files, and the caches of
// build tools, without which hardly any build runs.
func (e *Executor) writable() []string {
	out := []string{e.ws.Dir(), os.TempDir()}
	if runtime.GOOS != "windows" {
		out = append(out, "/tmp", "/var/tmp", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm", "/dev/ptmx", "/dev/pts")
	}
	if dir := repository(realPath(e.ws.Dir())); dir != "" {
		out = append(out, dir)
	}
	env := e.env()
	for _, name := range []string{
		"TMPDIR", "XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "GOPATH", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "npm_config_cache",
		"YARN_CACHE_FOLDER", "PIP_CACHE_DIR", "UV_CACHE_DIR", "DENO_DIR", "GRADLE_USER_HOME", "NUGET_PACKAGES", "CCACHE_DIR", "SCCACHE_DIR", "BUN_INSTALL",
	} {
		if v, ok := proc.Getenv(env, name); ok && filepath.IsAbs(v) && filepath.Dir(v) != v {
			out = append(out, v)
		}
	}
	if home, ok := proc.Getenv(env, "HOME"); ok && filepath.IsAbs(home) {
		for _, dir := range []string{
			".cache", ".cargo", ".rustup", ".npm", ".yarn", ".pnpm-store", ".local/share/pnpm", ".gradle", ".m2", ".nuget", ".bun", "go/pkg",
			".local/state", "Library/Caches",
		} {
			out = append(out, filepath.Join(home, filepath.FromSlash(dir)))
		}
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
