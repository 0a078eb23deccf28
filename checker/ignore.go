package checker

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// maxDirs bounds how many directories of a workspace are looked at.
const maxDirs = 50_000

// skippedDirs are directories without sources of the project: data of version
// control, installed packages, caches.
var skippedDirs = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".jj": true,
	"node_modules": true, ".yarn": true, ".pnpm-store": true,
	".venv": true, "venv": true, ".tox": true, "__pycache__": true,
	".mypy_cache": true, ".pytest_cache": true, ".ruff_cache": true,
	".gradle": true, ".cache": true,
}

// skipDir reports whether a directory has nothing that a check depends on. A
// directory named target is one of build output only beside a manifest of a tool
// that makes it.
func skipDir(path string) bool {
	name := filepath.Base(path)
	if name != "target" {
		return skippedDirs[name]
	}
	up := filepath.Dir(path)
	return isFile(filepath.Join(up, "Cargo.toml")) || isFile(filepath.Join(up, "pom.xml"))
}

// skipFile reports whether a file is an editor's own: a backup, a swap file, a
// lock, a probe.
func skipFile(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, "~") || strings.HasPrefix(name, ".#") || name == "4913" ||
		strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".swp") || strings.HasSuffix(name, ".swx"))
}

// walk calls visit for dir and all directories below it that are not skipped.
// Links below dir are not followed. What cannot be read is skipped, since nothing in it
// can be watched or checked.
func walk(ctx context.Context, dir string, visit func(dir string) error) error {
	seen := 0
	// The separator makes a dir that is itself a link count as what it leads to.
	return filepath.WalkDir(dir+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() {
			return nil
		}
		if path != dir && skipDir(path) {
			return fs.SkipDir
		}
		if seen++; seen > maxDirs {
			return fmt.Errorf("%s has more than %d directories: open a part of it", dir, maxDirs)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return visit(path)
	})
}

// Roots lists the roots in a workspace that can be checked, for a request to check
// all of them; each can be given to Check. A root that is a member of a
// workspace of its ecosystem is not listed beside that one. An error, for a
// workspace too large to be looked through or a done ctx, comes with what was
// found until then.
func (c *Checker) Roots(ctx context.Context, workspace string) ([]string, error) {
	workspace = absolute(workspace)
	ctx, leave, ok := c.enter(ctx)
	if !ok {
		return nil, fmt.Errorf("look for roots: %w", errClosed)
	}
	defer leave()
	var roots []string
	err := walk(ctx, workspace, func(dir string) error {
		tc, ok := c.cfg.checkable(dir)
		if !ok || !c.cfg.checks(dir, tc) {
			return nil
		}
		root := dir
		if c.mayRun(ctx, func() bool { return true }) {
			root, _ = c.promote(ctx, workspace, dir, tc, c.cfg.timeout())
		}
		if !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
		return nil
	})
	if len(c.cfg.named()) > 0 && !slices.Contains(roots, workspace) {
		roots = append(roots, workspace)
	}
	slices.Sort(roots)
	if err != nil {
		return roots, fmt.Errorf("look for roots: %w", err)
	}
	return roots, nil
}

// sameText stores the texts of files, to distinguish a change from a write of the same
// text.
type sameText map[string][32]byte

// maxHashed is the size up to which a file's text is compared.
const maxHashed = 4 << 20

// changed reports whether a file differs from when it was last asked about. A
// file seen for the first time, a large one and one that cannot be read count as
// changed.
func (s sameText) changed(path string) bool {
	text, err := workspace.ReadFile(nil, path, maxHashed)
	if err != nil {
		delete(s, path)
		return true
	}
	sum := hash(text)
	if len(s) >= maxDirs {
		clear(s)
	}
	old, known := s[path]
	s[path] = sum
	return !known || old != sum
}
