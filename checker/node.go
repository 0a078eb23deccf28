package checker

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// Node names projects of npm, pnpm, yarn and bun; those with a tsconfig.json can be
// checked.
const Node = "node"

// scripts are the files that node and deno run and tsc reads.
var scripts = []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}

func node() ecosystem {
	return ecosystem{
		name:      Node,
		markers:   []string{"package.json"},
		sources:   scripts,
		looks:     []string{".vue", ".svelte", ".astro"},
		toolchain: nodeToolchain,
		has:       func(root string) bool { return isFile(filepath.Join(root, "tsconfig.json")) },
		plan:      (*Checker).nodePlan,
		parse:     func(job, string) parser { return parseTSC },
		home: func(_ *Checker, _ context.Context, workspace, root string, _ time.Duration) string {
			return nodeWorkspace(workspace, root)
		},
	}
}

func nodeToolchain(names map[string]bool) Toolchain {
	manager := "npm"
	for _, lock := range []struct{ file, manager string }{
		{"bun.lockb", "bun"},
		{"bun.lock", "bun"},
		{"pnpm-lock.yaml", "pnpm"},
		{"yarn.lock", "yarn"},
	} {
		if names[lock.file] {
			manager = lock.manager
			break
		}
	}
	return Toolchain{
		Manager: manager,
		Install: []string{manager, "install"},
		Check:   argv("tsc --noEmit"),
		Build:   []string{manager, "run", "build"},
		Test:    []string{manager, "test"},
		Lint:    []string{manager, "run", "lint"},
		Format:  []string{manager, "run", "format"},
		Run:     []string{manager, "start"},
	}
}

// nodePlan type-checks with the project's own tsc.
func (c *Checker) nodePlan(_ context.Context, j job) plan {
	if !isFile(filepath.Join(j.root, "tsconfig.json")) {
		return plan{skip: "the node project has no tsconfig.json, so there is no type check to run"}
	}
	looked := tscLooked{files: fileSet{}}
	p := plan{dir: j.root, parse: looked.parse, readsDisk: true, unseen: looked.files.whyNot}
	p.shown = slices.Concat(j.tc.Check, []string{"--pretty", "false"})
	program := "tsc"
	if found, ok := c.local(j, "tsc", "node_modules/.bin"); ok {
		program = found
	}
	p.where = "in node_modules/.bin of the root or above it"
	if isFile(filepath.Join(j.root, ".pnp.cjs")) {
		p.where += " (Yarn Plug'n'Play keeps programs elsewhere: configure the check as `yarn tsc --noEmit --pretty false`)"
	}
	p.argv = slices.Concat([]string{program}, p.shown[1:], []string{"--listFiles"})
	projects, ok := tsProjects(j.root)
	if !ok {
		return p
	}
	// tsc looks at none of the references by itself, and -b would write beside them.
	b, err := newTSBuild(c.cfg.Temp, j.workspace, projects)
	if err != nil {
		p.fail = fmt.Sprintf("the projects that tsconfig.json refers to could not be prepared for tsc -b (%v), so %s", err, j.unchecked())
		return p
	}
	p.release = b.remove
	p.shown = argv("tsc -b --pretty false")
	p.argv = []string{program, "-b", b.config(0), "--pretty", "false", "--listFiles"}
	p.stale = func(edited []string) []Unseen { return b.stale(looked.files, edited) }
	return p
}

// local finds a program in one of the subdirectories of the root or of a
// directory above it, inside the workspace; the nearest wins.
func (c *Checker) local(j job, name string, subdirs ...string) (path string, ok bool) {
	env := c.cfg.env(j.root)
	for dir := j.root; within(j.workspace, dir); dir = filepath.Dir(dir) {
		for _, sub := range subdirs {
			if found, err := proc.Look(filepath.Join(dir, filepath.FromSlash(sub), name), dir, env); err == nil {
				return found, true
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return "", false
}

// withoutComments makes JSON of the JSON with comments and trailing commas that a
// tsconfig.json may be.
func withoutComments(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte(workspace.ByteOrderMark))
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := 1
		switch {
		case text[0] == '"':
			n = stringLen(text)
			out = append(out, text[:n]...)
		case bytes.HasPrefix(text, []byte("//")):
			if n = bytes.IndexByte(text, '\n'); n < 0 {
				n = len(text)
			}
		case bytes.HasPrefix(text, []byte("/*")):
			if n = bytes.Index(text, []byte("*/")) + 2; n < 2 {
				n = len(text)
			}
		case text[0] == ']' || text[0] == '}':
			out = append(bytes.TrimSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(",")), text[0])
		default:
			out = append(out, text[0])
		}
		text = text[n:]
	}
	return out
}

// stringLen is the length of the JSON string that text begins with.
func stringLen(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
