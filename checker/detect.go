package checker

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// Toolchain is what a directory's marker file says about the project in it. Every
// command is an argument list for a process started in that directory; an empty
// one does not exist for the ecosystem. They are an ecosystem's defaults, not what
// the project's own documents may say.
type Toolchain struct {
	Ecosystem string // one of the package's constants, by which a Config names it, too
	Marker    string // the file's name, or *.csproj and the like for dotnet
	Manager   string // the package manager, e.g. pnpm
	Install   []string
	Check     []string // empty when no check is cheap enough to run after every edit
	Build     []string
	Test      []string
	Lint      []string
	Format    []string
	Run       []string
}

// Detect reads the markers in dir itself, not above it. Only files count: a
// directory named like a marker is none. ok is false when there is no marker or
// dir cannot be read.
func Detect(dir string) (tc Toolchain, ok bool) {
	all := detectAll(dir)
	if len(all) == 0 {
		return Toolchain{}, false
	}
	return all[0], true
}

// fileNames lists the files of dir; a link counts when it leads to a file.
func fileNames(dir string) map[string]bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	names := make(map[string]bool)
	for _, e := range entries {
		mode := e.Type()
		if mode&os.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(dir, e.Name()))
			if err != nil {
				continue
			}
			mode = info.Mode().Type()
		}
		if mode.IsRegular() {
			names[e.Name()] = true
		}
	}
	return names
}

func has(names map[string]bool, pattern string) bool {
	suffix, isPattern := strings.CutPrefix(pattern, "*")
	if !isPattern {
		return names[pattern]
	}
	for name := range names {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// detectAll is Detect for every ecosystem that dir has a marker of, each once.
func detectAll(dir string) []Toolchain {
	names := fileNames(dir)
	var all []Toolchain
	for _, e := range ecosystems() {
		at := slices.IndexFunc(e.markers, func(marker string) bool { return has(names, marker) })
		if at < 0 {
			continue
		}
		tc := e.toolchain(names)
		tc.Ecosystem, tc.Marker = e.name, e.markers[at]
		all = append(all, tc)
	}
	return all
}

// rootOf finds the root that a file is checked in: the nearest one at or above it,
// inside the workspace, of the ecosystem that it is source code of; for other
// files and where there is none, the nearest that can be checked; else the
// nearest. Of its own ecosystem one that can be checked goes before a nearer one
// that cannot, as a package of a workspace without a tsconfig.json of its own.
func (c *Config) rootOf(workspace, path string) (root string, tc Toolchain, ok bool) {
	type candidate struct {
		dir string
		tc  Toolchain
	}
	var all []candidate
	for dir := filepath.Dir(path); within(workspace, dir); dir = filepath.Dir(dir) {
		for _, tc := range c.toolchains(dir) {
			all = append(all, candidate{dir, tc})
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	own := sourceOf(filepath.Ext(path))
	isOwn := func(it candidate) bool { return slices.Contains(own, it.tc.Ecosystem) }
	checks := func(it candidate) bool { return c.checks(it.dir, it.tc) }
	for _, want := range []func(candidate) bool{
		func(it candidate) bool { return isOwn(it) && checks(it) },
		isOwn,
		checks,
		func(candidate) bool { return true },
	} {
		for _, it := range all {
			if want(it) {
				return it.dir, it.tc, true
			}
		}
	}
	return "", Toolchain{}, false
}

// toolchains is detectAll, and for a directory without a marker the command that a
// person configured for it.
func (c *Config) toolchains(dir string) []Toolchain {
	all := detectAll(dir)
	if own, ok := c.Roots[dir]; ok && len(all) == 0 && len(own.Argv) > 0 {
		all = append(all, Toolchain{Ecosystem: "configured", Marker: "checker.roots", Check: own.Argv})
	}
	return all
}

// named are the commands under names of a person's own, which check the workspace.
func (c *Config) named() []Toolchain {
	var all []Toolchain
	for _, name := range slices.Sorted(maps.Keys(c.Commands)) {
		if cmd := c.Commands[name]; ecosystemOf(name).name == "" && !cmd.Off && len(cmd.Argv) > 0 {
			all = append(all, Toolchain{Ecosystem: name, Marker: "checker.commands", Check: cmd.Argv})
		}
	}
	return all
}

// checks reports whether there is a command to check a root with.
func (c *Config) checks(dir string, tc Toolchain) bool {
	if cmd, ok := c.command(dir, tc.Ecosystem); ok && (cmd.Off || len(cmd.Argv) > 0) {
		return !cmd.Off
	}
	e := ecosystemOf(tc.Ecosystem)
	return e.plan != nil && (e.has == nil || e.has(dir))
}

// checkable returns the first toolchain of dir that a check can run for, else its
// first one.
func (c *Config) checkable(dir string) (Toolchain, bool) {
	all := c.toolchains(dir)
	for _, tc := range all {
		if c.checks(dir, tc) {
			return tc, true
		}
	}
	if len(all) == 0 {
		return Toolchain{}, false
	}
	return all[0], true
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// maxText limits the size of files that are read here.
const maxText = 16 << 20

// readText reads a regular file of ordinary size. A workspace may have a FIFO or
// device of any name, which would never end.
func readText(path string) ([]byte, error) {
	text, err := workspace.ReadFile(nil, path, maxText)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("read %s: %w", path, err)
	}
	return []byte(workspace.Decode(text)), err
}

// within reports whether path is dir or below it, by spelling alone.
func within(dir, path string) bool {
	_, ok := workspace.Below(dir, path)
	return ok
}
