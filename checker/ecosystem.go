package checker

import (
	"context"
	"slices"
	"strings"
	"time"
)

// ecosystems are all that the checker knows, in the order in which their markers
// are tried: a deno project may carry a package.json as well, and a Makefile often
// only wraps the real build beside it. One more is a file with its value and a
// line here.
func ecosystems() []ecosystem {
	return []ecosystem{
		cargo(),
		deno(),
		node(),
		golang(),
		python(),
		maven(),
		gradle(),
		elixir(),
		ruby(),
		php(),
		swift(),
		cmake(),
		dotnet(),
		makefile(),
	}
}

// ecosystem is one kind of project: how it is recognised, checked and read. Only
// name, markers and toolchain are required.
type ecosystem struct {
	name string
	// markers are the names of the files that make a directory a root, as *.sln or
	// whole, the first that is there winning.
	markers []string
	// sources are the extensions, in lower case, of the files that are its source
	// code, so that a package.json or Makefile nearer to one does not hide its root.
	sources []string
	// looks are extensions of further files that a person expects to be checked: it
	// is reported when a check does not read one.
	looks []string
	// toolchain sets the commands. names are the files beside the marker: a lockfile
	// shows which package manager is in use.
	toolchain func(names map[string]bool) Toolchain
	// has reports whether a root has what the check command needs; nil means always.
	has func(root string) bool
	// plan says how a root is checked; nil means that no check is cheap enough.
	plan func(c *Checker, ctx context.Context, j job) plan
	// parse reads what a configured command of the name tool prints; nil means as
	// file:line:column: message. bom is the width of a byte order mark in its columns.
	parse func(j job, tool string) parser
	bom   int
	// home finds the root of the workspace of its kind that a root is a member of,
	// inside the workspace, or the root itself; nil means that there is none.
	home func(c *Checker, ctx context.Context, workspace, root string, limit time.Duration) string
	// also lists directories elsewhere whose files a check of the root depends on.
	also func(root string) []string
}

// Ecosystems names those that have a check command of their own.
func Ecosystems() []string {
	var names []string
	for _, e := range ecosystems() {
		if e.plan != nil {
			names = append(names, e.name)
		}
	}
	return names
}

// ecosystemOf returns the ecosystem of a name, the zero one when there is none.
func ecosystemOf(name string) ecosystem {
	all := ecosystems()
	if at := slices.IndexFunc(all, func(e ecosystem) bool { return e.name == name }); at >= 0 {
		return all[at]
	}
	return ecosystem{}
}

// sourceOf lists the ecosystems that a file with an extension is source code of.
func sourceOf(ext string) []string {
	var names []string
	for _, e := range ecosystems() {
		if slices.Contains(e.sources, strings.ToLower(ext)) {
			names = append(names, e.name)
		}
	}
	return names
}

// fixed returns the toolchain of an ecosystem whose commands are always the same.
func fixed(tc Toolchain) func(map[string]bool) Toolchain {
	return func(map[string]bool) Toolchain { return tc }
}

func argv(line string) []string { return strings.Fields(line) }
