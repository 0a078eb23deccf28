package checker_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
)

// toolsVar names the directory that scripts/install-check-tools.sh filled.
const toolsVar = "AGENT_LSP_TEST_TOOLS"

// realEnv is an environment in which a real tool is found; the test is skipped
// where the tool is not installed.
func realEnv(t *testing.T, tool string) []string {
	t.Helper()
	path := os.Getenv("PATH")
	if tool == "tsc" || tool == "pyright" || tool == "deno" {
		dir := os.Getenv(toolsVar)
		if dir == "" {
			t.Skipf("%s is not set: no %s to run", toolsVar, tool)
		}
		bin := filepath.Join(dir, "node_modules", ".bin")
		if _, err := os.Stat(filepath.Join(bin, tool)); err != nil {
			t.Fatalf("%s holds no %s: %v", toolsVar, tool, err)
		}
		path = bin + string(filepath.ListSeparator) + path
	} else if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("%s is not on PATH", tool)
	}
	return append(os.Environ(), "PATH="+path)
}

// kit is what the same seven situations look like for one tool.
type kit struct {
	tool      string
	ecosystem string
	clean     []string
	own       []string // replaces files: an error in the edited one
	ownAt     string
	ownSays   string
	other     []string // an error in a file that was not edited
	otherAt   string
	warning   []string // what an editor would warn of
	warningAt string   // empty where the tool passes over it or only mentions it
	warnedIn  string   // the edited file of the warning, where it is another one
	broken    []string // a configuration that the tool cannot read
	brokenSay string
	edited    string
}

var kits = []kit{
	{
		tool: "go", ecosystem: checker.Go, edited: "lib/lib.go",
		clean: []string{
			"go.mod", goMod,
			"lib/lib.go", "package lib\n\nfunc F(n int) int { return n }\n",
			"main.go", "package main\n\nimport \"example.test/m/lib\"\n\nfunc main() { lib.F(1) }\n",
		},
		own:   []string{"lib/lib.go", "package lib\n\nfunc F(n int) int { return é }\n"},
		ownAt: "lib/lib.go:3:28 error", ownSays: "lib/lib.go:3:28: undefined: é",
		other:    []string{"lib/lib.go", "package lib\n\nfunc F(n string) string { return n }\n"},
		otherAt:  "main.go:5:21 error",
		warning:  []string{"lib/lib_test.go", "package lib\n\nfunc f(p *int) { p = p }\n"}, // a build knows no warnings, vet does
		warnedIn: "lib/lib_test.go", warningAt: "lib/lib_test.go:3:18 warning",
		broken: []string{"go.mod", goMod + "nonsense here\n"}, brokenSay: "unknown directive: nonsense",
	},
	{
		tool: "cargo", ecosystem: checker.Cargo, edited: "src/lib.rs",
		clean: []string{
			"Cargo.toml", "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/lib.rs", "pub fn f(n: i32) -> i32 { n }\n",
			"src/main.rs", "fn main() { m::f(1); }\n",
		},
		own:   []string{"src/lib.rs", "pub fn f(n: i32) -> i32 { let _ = \"é\"; n + missing }\n"},
		ownAt: "src/lib.rs:1:44 error", ownSays: "cannot find value `missing`",
		other:   []string{"src/lib.rs", "pub fn f(n: &str) -> &str { n }\n"},
		otherAt: "src/main.rs:1:18 error",
		warning: []string{"src/lib.rs", "pub fn f(n: i32) -> i32 { n }\nfn unused() {}\n"}, warningAt: "src/lib.rs:2:4 warning",
		broken: []string{"Cargo.toml", "[package\n"}, brokenSay: "Cargo.toml",
	},
	{
		tool: "tsc", ecosystem: checker.Node, edited: "src/lib.ts",
		clean: []string{
			"package.json", "{\"name\":\"m\"}", "tsconfig.json", "{\"compilerOptions\":{\"strict\":true,\"pretty\":true},\"include\":[\"src\"]}",
			"src/lib.ts", "export function f(n: number): number { return n; }\n",
			"src/main.ts", "import { f } from \"./lib\";\nf(1);\n",
		},
		own:   []string{"src/lib.ts", "export function f(n: number): number { const s = \"😀\"; return missing + n; }\n"},
		ownAt: "src/lib.ts:1:63 error", ownSays: "src/lib.ts(1,63): error TS2304",
		other:   []string{"src/lib.ts", "export function f(n: string): string { return n; }\n"},
		otherAt: "src/main.ts:2:3 error",
		warning: []string{"src/lib.ts", "export function f(n: number): number { const unused = n; return n; }\n"},
		broken:  []string{"tsconfig.json", "{\"include\":[\"nowhere\"]}"}, brokenSay: "TS18003",
	},
	{
		tool: "deno", ecosystem: checker.Deno, edited: "lib.ts",
		clean: []string{
			"deno.json", "{}",
			"lib.ts", "export function f(n: number): number { return n; }\n",
			"main.ts", "import { f } from \"./lib.ts\";\nf(1);\n",
		},
		own:   []string{"lib.ts", "export function f(n: number): number { const s = \"😀\"; return missing + n; }\n"},
		ownAt: "lib.ts:1:63 error", ownSays: "TS2304 [ERROR]",
		other:   []string{"lib.ts", "export function f(n: string): string { return n; }\n"},
		otherAt: "main.ts:2:3 error",
		warning: []string{"deno.json", "{\"compilerOptions\": {\"nonsense\": true}}"}, // "Unsupported compiler options"
		broken:  []string{"deno.json", "{"}, brokenSay: "Failed deserializing config file",
	},
	{
		tool: "pyright", ecosystem: checker.Python, edited: "lib.py",
		clean: []string{
			"pyproject.toml", "[project]\nname = \"m\"\n\n[tool.pyright]\nreportUnusedImport = \"warning\"\n",
			"lib.py", "def f(n: int) -> int:\n    return n\n",
			"main.py", "from lib import f\n\nf(1)\n",
		},
		own:   []string{"lib.py", "def f(n: int) -> int:\n    return \"😀\", missing\n"},
		ownAt: "lib.py:2:18 error", ownSays: "lib.py:2:18 - error: \"missing\" is not defined (reportUndefinedVariable)",
		other:   []string{"lib.py", "def f(n: str) -> str:\n    return n\n"},
		otherAt: "main.py:3:3 error",
		warning: []string{"lib.py", "import os\n\n\ndef f(n: int) -> int:\n    return n\n"}, warningAt: "lib.py:1:8 warning",
		broken: []string{"pyproject.toml", "[tool.pyright\n"}, brokenSay: "could not be parsed",
	},
}

// TestRealTools runs every tool that is installed through the situations that its
// outcomes have to be told apart in.
func TestRealTools(t *testing.T) {
	for _, k := range kits {
		t.Run(k.tool, func(t *testing.T) {
			env := realEnv(t, k.tool)
			c := start(t, checker.Config{Env: env})
			run := func(name, edited string, files []string, w want) {
				t.Run(name, func(t *testing.T) {
					dir := project(t, k.clean...)
					write(t, dir, files...)
					got := edit(t, c, dir, edited)
					if got.Ecosystem != k.ecosystem || got.Root != dir {
						t.Errorf("root %s of %s", got.Root, got.Ecosystem)
					}
					if w.outcome == checker.Found && k.tool == "pyright" {
						got.Findings = at(got.Findings, w.at)
					}
					check(t, dir, got, w)
				})
			}
			run("clean", k.edited, nil, want{outcome: checker.Clean})
			run("error in the edited file", k.edited, k.own, want{outcome: checker.Found, at: []string{k.ownAt}, says: []string{k.ownSays}})
			run("error in another file", k.edited, k.other, want{outcome: checker.Found, at: []string{k.otherAt}})
			warned := want{outcome: checker.Clean}
			if k.warningAt != "" {
				warned = want{outcome: checker.Found, at: []string{k.warningAt}}
			}
			run("warning only", cmp.Or(k.warnedIn, k.edited), k.warning, warned)
			run("broken configuration", k.edited, k.broken, want{outcome: checker.Failed, says: []string{k.brokenSay}})
		})
	}
}

// at keeps the findings that stand where one of the wanted does.
func at(findings []checker.Finding, wanted []string) []checker.Finding {
	return slices.DeleteFunc(findings, func(f checker.Finding) bool {
		return !slices.Contains(wanted, shown(filepath.Dir(f.Path), f))
	})
}

// TestMissingToolIsNamedWithoutThePath needs no tool at all. The text is the same on
// every machine.
func TestMissingToolIsNamedWithoutThePath(t *testing.T) {
	for _, k := range kits {
		t.Run(k.tool, func(t *testing.T) {
			empty := t.TempDir()
			dir := project(t, k.clean...)
			got := edit(t, start(t, checker.Config{Env: []string{"PATH=" + empty}}), dir, k.edited)
			check(t, dir, got, want{outcome: checker.Failed, says: []string{"`" + k.tool + "`", "on PATH"}})
			if strings.Contains(got.Text, empty) {
				t.Errorf("the PATH is in %s", got.Text)
			}
		})
	}
}

// TestHangingToolTimesOut replaces each tool by one that never ends.
func TestHangingToolTimesOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the tools of this test are shell scripts")
	}
	for _, k := range kits {
		t.Run(k.tool, func(t *testing.T) {
			t.Parallel()
			c := start(t, checker.Config{Timeout: 100 * time.Millisecond, Env: []string{"PATH=" + fakeTool(t, k.tool, "sleep 600 & sleep 600")}})
			dir := project(t, k.clean...)
			got := edit(t, c, dir, k.edited)
			check(t, dir, got, want{outcome: checker.Failed, says: []string{"did not finish within 0.1s", k.tool}, silent: []string{"Diagnostics from"}})
		})
	}
}

// TestTheTimeIsForAllOfACheck edits a member of a cargo workspace: a cargo that
// hangs when it is asked where that is gets no more time for the check.
func TestTheTimeIsForAllOfACheck(t *testing.T) {
	needShell(t)
	dir := project(t, "Cargo.toml", "[workspace]\nmembers = [\"in\"]\n", "in/Cargo.toml", cargoManifest("in"), "in/src/lib.rs", "")
	starts := filepath.Join(t.TempDir(), "starts")
	path := fakeTool(t, "cargo", "echo $1 >> "+starts+"; sleep 600")
	c := start(t, checker.Config{Timeout: 300 * time.Millisecond, Env: []string{"PATH=" + path}})
	check(t, dir, edit(t, c, dir, "in/src/lib.rs"), want{outcome: checker.Failed, says: []string{"cargo check", "did not finish within 0.3s"}})
	if got, err := os.ReadFile(starts); err != nil || string(got) != "locate-project\n" {
		t.Errorf("cargo was started for %q, %v", got, err)
	}
}

// fakeTool makes a directory with a program of a tool's name that runs a shell
// script, and returns a PATH of it and the system's programs.
func fakeTool(t *testing.T, name, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + ":/usr/bin:/bin"
}

func TestTwoRootsAreCheckedEachForItself(t *testing.T) {
	for _, k := range kits {
		t.Run(k.tool, func(t *testing.T) {
			env := realEnv(t, k.tool)
			dir := t.TempDir()
			write(t, filepath.Join(dir, "a"), k.clean...)
			write(t, filepath.Join(dir, "b"), k.clean...)
			write(t, filepath.Join(dir, "b"), k.own...)
			c := start(t, checker.Config{Env: env})
			got := c.AfterEdit(t.Context(), dir, []string{"b/" + k.edited, filepath.Join(dir, "a", k.edited), "b/" + k.edited})
			if len(got) != 2 {
				t.Fatalf("%d results, want 2", len(got))
			}
			check(t, filepath.Join(dir, "a"), got[0], want{outcome: checker.Clean})
			got[1].Findings = at(got[1].Findings, []string{k.ownAt, filepath.Base(k.ownAt)})
			check(t, filepath.Join(dir, "b"), got[1], want{outcome: checker.Found, at: []string{k.ownAt}})
		})
	}
}
