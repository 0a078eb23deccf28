// Package caches keeps the private caches that confined programs write instead of the
// person's: who can write a build cache runs code in the person's next build. Each
// workspace has caches of its own, so that what a build leaves there reaches no other.
// Below the directory of all there is one for each workspace, with a text file of the
// workspace's path, which programs cannot write, and the directory that they can.
package caches

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// The entries of a workspace's directory.
const (
	ofFile   = "workspace"
	filesDir = "files"
)

// notInName are the characters of a workspace's name that are left out of a file's.
var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Open makes the private caches of a workspace below base where they are not there
// yet, and returns the directory that programs may write. Env is the environment that
// tells where the person's are.
func Open(base, workspace string, env []string) (string, error) {
	sum := sha256.Sum256([]byte(workspace))
	name := notInName.ReplaceAllString(filepath.Base(workspace), "_") + "-" + hex.EncodeToString(sum[:6])
	dir := filepath.Join(base, name)
	files := filepath.Join(dir, filesDir)
	err := os.MkdirAll(files, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ofFile), []byte(workspace+"\n"), 0o600)
	}
	if err == nil {
		err = showPersons(files, env)
	}
	if err != nil {
		return "", fmt.Errorf("make the private caches of %s: %w", workspace, err)
	}
	return files, nil
}

// fresh are the directories among the person's caches whose tools write at every use
// and find their things again elsewhere: they begin empty. So do those that the server
// itself has there.
var fresh = []string{
	"agent-lsp", "go-build", "pip", "uv", "yarn", "golangci-lint", "staticcheck", "ccache", "sccache", "composer", "node-gyp", "typescript",
	"mypy", "black", "pylint", "ruff", "zig", "jedi",
}

// showPersons links what else is among the person's caches into the private directory
// that XDG_CACHE_HOME names: programs see it there and cannot write it. A program may
// have changed the directory, so that nothing in it is followed.
func showPersons(files string, env []string) error {
	root, err := os.OpenRoot(files)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll("xdg", 0o700); err != nil {
		return err
	}
	home := cacheHome(env)
	if home == "" {
		return nil
	}
	entries, err := os.ReadDir(home)
	if err != nil {
		return nil //nolint:nilerr // nothing is there to be shown
	}
	for _, e := range entries {
		if slices.Contains(fresh, e.Name()) {
			continue
		}
		err := root.Symlink(filepath.Join(home, e.Name()), filepath.Join("xdg", e.Name()))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
