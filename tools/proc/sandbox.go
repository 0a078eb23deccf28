package proc

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// errNoSandbox refuses to run a program unconfined that was to be confined.
var errNoSandbox = errors.New("programs cannot be confined on this system; switch the sandbox off to run them unconfined")

// cacheVariables name directories that build tools keep caches in.
var cacheVariables = []string{
	"TMPDIR", "GOCACHE", "GOMODCACHE", "GOPATH", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "npm_config_cache", "YARN_CACHE_FOLDER",
	"PIP_CACHE_DIR", "UV_CACHE_DIR", "DENO_DIR", "GRADLE_USER_HOME", "NUGET_PACKAGES", "CCACHE_DIR", "SCCACHE_DIR", "BUN_INSTALL",
}

// homeCaches are where build tools keep them below the home directory.
var homeCaches = []string{
	".cargo", ".rustup", ".npm", ".yarn", ".pnpm-store", ".local/share/pnpm", ".gradle", ".m2", ".nuget", ".bun", "go/pkg",
}

// ownCache is the server's own directory among the caches: what stands there it
// runs, so that a confined program must not write it.
const ownCache = "agent-lsp"

// Scratch answers absolute paths that a confined program should be able to write
// besides its workspace, since hardly any build runs without: temporary files,
// the harmless devices, and the caches of build tools as the environment and the
// home directory in it place them. The server's own cache is not among them.
func Scratch(env []string) []string {
	out := []string{os.TempDir()}
	if runtime.GOOS != "windows" {
		out = append(out, "/tmp", "/var/tmp", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/shm", "/dev/ptmx", "/dev/pts")
	}
	add := func(dir string) {
		if filepath.IsAbs(dir) && filepath.Dir(dir) != dir && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	for _, name := range cacheVariables {
		if dir, ok := Getenv(env, name); ok {
			add(dir)
		}
	}
	home, _ := Getenv(env, "HOME")
	caches, ok := Getenv(env, "XDG_CACHE_HOME")
	if !ok && filepath.IsAbs(home) {
		caches = filepath.Join(home, ".cache")
	}
	entries, _ := os.ReadDir(caches) // none is like an empty one
	for _, e := range entries {
		if e.IsDir() && e.Name() != ownCache {
			add(filepath.Join(caches, e.Name()))
		}
	}
	if filepath.IsAbs(home) {
		for _, dir := range homeCaches {
			add(filepath.Join(home, filepath.FromSlash(dir)))
		}
	}
	return out
}
