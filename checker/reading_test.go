package checker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
)

// TestPlacesOfConfiguredCommandsAreFiles has a configured command print what looks
// like places: only what is a file is one, and all of the text is told.
func TestPlacesOfConfiguredCommandsAreFiles(t *testing.T) {
	needShell(t)
	for _, x := range []struct {
		name, says string
		at         []string
	}{
		{"a time", "ERROR 12:30:45: x", nil},
		{"an address", "127.0.0.1:8080: refused", nil},
		{"a runtime's own module", "node:internal/modules:12:5", nil},
		{"make", "make: *** [Makefile:3: all] Error 1", nil},
		{"a file that is not there", "gone.go:1:2: bad", nil},
		{"a directory", "web:1:2: bad", nil},
		{"a file", "a.go:1:2: bad", []string{"a.go:1:2 error"}},
		{"a file beside what is none", "ERROR 12:30:45: x\na.go:1:2: bad", []string{"a.go:1:2 error"}},
		{"make in a directory", "make[1]: Entering directory 'DIR/web'\nin.go:3:1: bad\nmake[1]: Leaving directory 'DIR/web'\na.go:1:2: bad", []string{"a.go:1:2 error", "web/in.go:3:1 error"}},
		{"make two deep", "make: Entering directory 'DIR/web'\nmake[1]: Entering directory 'DIR/web/sub'\nsame.go:3:1: bad\nmake[1]: Leaving directory 'DIR/web/sub'\nsame.go:4:1: bad", []string{"web/same.go:4:1 error", "web/sub/same.go:3:1 error"}},
		{"another directory unsaid", "in.go:3:1: bad", []string{"web/in.go:3:1 error"}},
		{"two files that fit", "same.go:3:1: bad", nil},
		{"part of a path", "sub/same.go:3:1: bad", []string{"web/sub/same.go:3:1 error"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := project(t, "go.mod", goMod, "a.go", "package m\n", "Makefile", "all:\n\tfalse\n",
				"web/in.go", "package web\n", "web/same.go", "package web\n", "web/sub/same.go", "package sub\n")
			said := strings.ReplaceAll(x.says, "DIR", dir)
			write(t, dir, "said.txt", said+"\n")
			c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: {Argv: []string{"sh", "-c", "cat said.txt; exit 1"}}}})
			got := edit(t, c, dir, "a.go")
			check(t, dir, got, want{outcome: checker.Found, at: x.at, says: strings.Split(said, "\n")})
		})
	}
}

// TestAConfiguredCommandIsReadAsWhatItIs configures commands that do not print
// what the ecosystem's own does.
func TestAConfiguredCommandIsReadAsWhatItIs(t *testing.T) {
	needShell(t)
	rust := "error[E0425]: cannot find value `missing` in this scope\n --> src/a.rs:1:5\n  |\n1 | x\n  | ^ not found\n\nerror: could not compile `m` (lib) due to 1 previous error\n"
	warned := "warning: unused variable: `x`\n --> src/a.rs:1:9\n  |\n  = note: more\n\nwarning: `m` (lib) generated 1 warning\n    Finished `dev` profile in 0.1s\n"
	for _, x := range []struct {
		name, ecosystem, stdout, stderr string
		code                            string
		want                            want
	}{
		{"cargo's errors", checker.Cargo, "", rust, "101", want{outcome: checker.Found, at: []string{"src/a.rs:1:5 error"}, says: []string{"cannot find value"}}},
		{"cargo's warnings", checker.Cargo, "", warned, "0", want{outcome: checker.Found, at: []string{"src/a.rs:1:9 warning"}}},
		{"cargo without a word", checker.Cargo, "", "    Finished `dev` profile in 0.1s\n", "0", want{outcome: checker.Clean}},
		{"words on stdout", checker.Cargo, "something is wrong\n", "", "1", want{outcome: checker.Found, says: []string{"something is wrong"}}},
		{"a linter for node", checker.Node, "src/a.ts:3:1: bad style\n", "", "1", want{outcome: checker.Found, at: []string{"src/a.ts:3:1 error"}}},
		{"mypy", checker.Python, "a.py:3: error: Incompatible types\nFound 1 error in 1 file\n", "", "1", want{outcome: checker.Found, at: []string{"a.py:3:0 error"}}},
		{"pyright's text", checker.Python, "  a.py:1:2 - error: bad\n1 error, 0 warnings, 0 informations\n", "", "1", want{outcome: checker.Found, at: []string{"a.py:1:2 error"}}},
	} {
		t.Run(x.name, func(t *testing.T) {
			markers := map[string]string{checker.Cargo: "Cargo.toml", checker.Node: "package.json", checker.Python: "setup.py"}
			dir := project(t, markers[x.ecosystem], "", "src/a.rs", "x\n", "src/a.ts", "", "a.py", "", "out", x.stdout, "err", x.stderr)
			c := start(t, checker.Config{Commands: map[string]checker.Command{x.ecosystem: {Argv: []string{"sh", "-c", "cat out; cat err >&2; exit " + x.code}}}})
			edited := map[string]string{checker.Cargo: "src/a.rs", checker.Node: "src/a.ts", checker.Python: "a.py"}[x.ecosystem]
			check(t, dir, edit(t, c, dir, edited), x.want)
		})
	}
}

// TestAToolThatDidNotCheckIsFailed replaces each tool by one that ends without
// having checked: well and without its format, or by a crash.
func TestAToolThatDidNotCheckIsFailed(t *testing.T) {
	needShell(t)
	const node = "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/nope.js'\nRequire stack:\n- internal/preload\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)\n\nNode.js v20.1.0\n"
	for _, x := range []struct{ name, tool, out, code string }{
		{"cargo without a word", "cargo", "", "0"},
		{"cargo's installer", "cargo", "info: syncing channel updates for 'stable'", "0"},
		{"pyright without a word", "pyright", "", "0"},
		{"pyright's installer", "pyright", "added 1 package in 2s", "0"},
		{"pyright's crash", "pyright", node, "1"},
		{"tsc without a word", "tsc", "", "0"},
		{"tsc's help", "tsc", "Version 5.4.5\ntsc: The TypeScript Compiler - Version 5.4.5\n\nCOMMON COMMANDS\n\n  tsc\n", "0"},
		{"tsc's help as an error", "tsc", "Version 5.4.5\ntsc: The TypeScript Compiler\n", "1"},
		{"tsc's crash", "tsc", "/x/_tsc.js:1\n  throw e;\nError: Debug Failure. False expression.\n    at f (/x/_tsc.js:1:2)\n\nNode.js v20.1.0", "1"},
		{"tsc's preload", "tsc", node, "1"},
		{"deno's crash", "deno", "============================================================\nDeno has panicked. This is a bug in Deno.\nthread 'main' panicked at cli/a.rs:1:2:\nboom", "1"},
		{"go's crash", "go", "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/usr/go/main.go:12 +0x1d\nexit status 2", "2"},
		{"go out of memory", "go", "fatal error: runtime: out of memory\n\nruntime stack:", "2"},
	} {
		t.Run(x.name, func(t *testing.T) {
			for _, stream := range []string{"", " >&2"} {
				dir := project(t, append([]string{"said", x.out}, kitOf(x.tool).clean...)...)
				script := "case $1 in locate-project) echo " + dir + "/Cargo.toml; exit 0;; esac; cat " + dir + "/said" + stream + "; exit " + x.code
				c := start(t, checker.Config{Env: []string{"PATH=" + fakeTool(t, x.tool, script)}})
				first, _, _ := strings.Cut(x.out, "\n")
				check(t, dir, edit(t, c, dir, kitOf(x.tool).edited), want{outcome: checker.Failed, says: []string{first, "unchecked"}})
			}
		})
	}
}

func kitOf(tool string) kit {
	for _, k := range kits {
		if k.tool == tool {
			return k
		}
	}
	panic("no kit of " + tool)
}

// TestCommandsOfAPersonsOwnAreRun configures a command under a name that is no
// ecosystem's, and one for a folder without a marker.
func TestCommandsOfAPersonsOwnAreRun(t *testing.T) {
	needShell(t)
	sh := func(script string) checker.Command { return checker.Command{Argv: []string{"sh", "-c", script}} }
	dir := project(t, "scripts/a.lua", "x\n", "b.txt", "y\n")
	t.Run("a name of one's own", func(t *testing.T) {
		c := start(t, checker.Config{Commands: map[string]checker.Command{"lint": sh("echo b.txt:1:1: bad; exit 1")}})
		got := edit(t, c, dir, "scripts/a.lua")
		check(t, dir, got, want{outcome: checker.Found, at: []string{"b.txt:1:1 error"}})
		if got.Root != dir || got.Ecosystem != "lint" {
			t.Errorf("root %s of %s", got.Root, got.Ecosystem)
		}
		if roots, err := c.Roots(t.Context(), dir); err != nil || len(roots) != 1 || c.Check(t.Context(), roots[0]).Outcome != checker.Found {
			t.Errorf("somebody who asks: %v, %v", roots, err)
		}
	})
	t.Run("beside an ecosystem's", func(t *testing.T) {
		dir := project(t, "go.mod", goMod, "a.go", "package m\n")
		c := start(t, checker.Config{Commands: map[string]checker.Command{"lint": sh("exit 0"), "off": {Off: true}}})
		if got := c.AfterEdit(t.Context(), dir, []string{"a.go"}); len(got) != 2 || got[0].Outcome != checker.Clean || got[1].Outcome != checker.Clean {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a folder without a marker", func(t *testing.T) {
		root := filepath.Join(dir, "scripts")
		c := start(t, checker.Config{Roots: map[string]checker.Command{root: sh("echo a.lua:1:1: bad; exit 1")}})
		got := edit(t, c, dir, "scripts/a.lua")
		check(t, dir, got, want{outcome: checker.Found, at: []string{"scripts/a.lua:1:1 error"}})
		check(t, dir, edit(t, c, dir, "b.txt"), want{outcome: checker.Skipped})
		if roots, err := c.Roots(t.Context(), dir); err != nil || len(roots) != 1 || roots[0] != root {
			t.Errorf("roots: %v, %v", roots, err)
		}
	})
}

// TestAResultIsOfTheTextsThatAreThere changes the file while it is checked.
func TestAResultIsOfTheTextsThatAreThere(t *testing.T) {
	needShell(t)
	run := func(script string) (string, checker.Result) {
		dir := project(t, "go.mod", goMod, "a.go", "bad\n")
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "a.go"), old, old); err != nil {
			t.Fatal(err)
		}
		c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: {Argv: []string{"sh", "-c", script}}}})
		return dir, edit(t, c, dir, "a.go")
	}
	const look = "found=$(grep -Hn bad a.go); "
	const tell = "echo \"$found\"; test -z \"$found\""
	t.Run("mended during the check", func(t *testing.T) {
		dir, got := run(look + "[ -e once ] || echo good > a.go; touch once; " + tell)
		check(t, dir, got, want{outcome: checker.Clean})
	})
	t.Run("changed during every check", func(t *testing.T) {
		dir, got := run(look + "echo bad >> a.go; " + tell)
		check(t, dir, got, want{outcome: checker.Found, at: []string{"a.go:1:0 error", "a.go:2:0 error"}, says: []string{"a.go changed while it was checked"}})
	})
	t.Run("left alone", func(t *testing.T) {
		dir, got := run(look + "echo x >> runs; " + tell)
		check(t, dir, got, want{outcome: checker.Found, at: []string{"a.go:1:0 error"}, silent: []string{"changed while"}})
		if runs, err := os.ReadFile(filepath.Join(dir, "runs")); err != nil || len(runs) != 2 {
			t.Errorf("it ran %q, %v", runs, err)
		}
	})
}
