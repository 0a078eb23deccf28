package checker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// home is where cargo says that a package's workspace is, as long as no manifest
// above the package changes.
type home struct {
	manifests string
	dir       string
}

// cargoPlan checks all members of a cargo workspace. It shares the project's
// target directory, so that what a person built is not built again; while another
// cargo has its lock the check waits, within the time limit.
func (c *Checker) cargoPlan(ctx context.Context, j job) plan {
	args := j.tc.Check
	if wholeWorkspace(j.root) {
		args = slices.Insert(slices.Clone(args), 2, "--workspace")
	}
	looked := &cargoLooked{base: j.root}
	p := plan{argv: args, shown: args, dir: j.root, parse: looked.parse, readsDisk: true, unseen: looked.whyNot}
	p.beside = []step{{
		argv: slices.Concat(args, []string{"--all-targets"}), read: looked.targets,
		skip: func(rep *report) bool { return rep.findings(Error) > 0 || rep.partial != "" },
	}}
	p.also = argv("cargo check --all-targets")
	dir, ran, ok := c.cargoHome(ctx, j.root, c.left(j))
	switch {
	case ok:
		p.base, looked.base = dir, dir
	case ran.TimedOut || ran.Cancelled:
		p.fail = c.noOutput(ctx, j, p, ran, nil)
	}
	return p
}

// wholeWorkspace reports whether cargo needs an option to check every member: a
// root package would else be checked alone, while a manifest that names its
// default members knows better.
func wholeWorkspace(root string) bool {
	manifest, err := readText(filepath.Join(root, "Cargo.toml"))
	return err == nil && strings.Contains(string(manifest), "[workspace") &&
		!strings.Contains(string(manifest), "default-members")
}

// cargoWorkspace finds the root of the cargo workspace that a package is a member
// of, inside the workspace; without one it is the package's own.
func (c *Checker) cargoWorkspace(ctx context.Context, workspace, root string, limit time.Duration) string {
	above := false
	for dir := filepath.Dir(root); within(workspace, dir) && dir != root && !above; dir = filepath.Dir(dir) {
		above = isFile(filepath.Join(dir, "Cargo.toml"))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if !above {
		return root
	}
	dir, _, ok := c.cargoHome(ctx, root, limit)
	if !ok {
		return root
	}
	if dir, ok = newPlaces(workspace).resolve(workspace, dir); !ok {
		return root
	}
	return dir
}

// cargoHome runs cargo to find the root of a package's workspace, to which rustc's
// file names are relative; ok is false when cargo does not know, as with a manifest
// that cannot be read; ran is false when cargo could not be run.
func (c *Checker) cargoHome(ctx context.Context, root string, limit time.Duration) (dir string, ran proc.Result, ok bool) {
	manifests := manifestsAbove(root)
	c.mu.Lock()
	known, is := c.homes[root]
	c.mu.Unlock()
	if is && known.manifests == manifests {
		return known.dir, ran, true
	}
	ran, err := proc.Run(ctx, proc.Spec{
		Argv:    argv("cargo locate-project --workspace --message-format plain"),
		Dir:     root,
		Env:     c.cfg.env(root),
		Timeout: limit,
		Policy:  c.cfg.Policy,
	})
	if err != nil || !ran.OK() {
		return "", ran, false
	}
	dir = filepath.Dir(strings.TrimSpace(ran.Stdout.String()))
	if !filepath.IsAbs(dir) {
		return "", ran, false
	}
	c.mu.Lock()
	c.homes[root] = home{manifests, dir}
	c.mu.Unlock()
	return dir, ran, true
}

// manifestsAbove returns a key of the states of all Cargo.toml files at and above a
// directory.
func manifestsAbove(dir string) string {
	var b strings.Builder
	for {
		if info, err := os.Stat(filepath.Join(dir, "Cargo.toml")); err == nil {
			fmt.Fprintln(&b, dir, info.Size(), info.ModTime().UnixNano())
		}
		up := filepath.Dir(dir)
		if up == dir {
			return b.String()
		}
		dir = up
	}
}
