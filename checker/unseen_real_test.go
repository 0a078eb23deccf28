package checker_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/google/go-cmp/cmp"
)

// unseenCase is an edit of a project and what the real tool looks at of it.
type unseenCase struct {
	name    string
	files   []string // besides the kit's
	edited  []string // the kit's edited file when empty
	outcome checker.Outcome
	unseen  []string // path and reason
	at      []string
	says    string
}

var unseenCases = map[string][]unseenCase{
	"go": {
		{
			name: "another system", files: []string{"lib/main_windows.go", "package lib\n\nvar X = missing\n"}, edited: []string{"lib/main_windows.go"},
			outcome: checker.Skipped, unseen: []string{"lib/main_windows.go is not part of this build"}, says: "not looked at: lib/main_windows.go is not part of this build",
		},
		{
			name: "a build tag", files: []string{"lib/tag.go", "//go:build never\n\npackage lib\n\nvar X = missing\n"}, edited: []string{"lib/tag.go"},
			outcome: checker.Skipped, unseen: []string{"lib/tag.go is not part of this build"},
		},
		{
			name: "a folder that packages leave out", files: []string{"testdata/x/x.go", "package x\n\nvar X = missing\n"}, edited: []string{"testdata/x/x.go"},
			outcome: checker.Skipped, unseen: []string{"testdata/x/x.go is not part of this build"},
		},
		{
			name: "beside one that is looked at", files: []string{"lib/tag.go", "//go:build never\n\npackage lib\n"}, edited: []string{"lib/lib.go", "lib/tag.go"},
			outcome: checker.Clean, unseen: []string{"lib/tag.go is not part of this build"}, says: "not looked at: lib/tag.go is not part of this build",
		},
		{
			name: "beside findings", files: []string{"lib/tag.go", "//go:build never\n\npackage lib\n", "lib/bad.go", "package lib\n\nvar X = missing\n"}, edited: []string{"lib/tag.go"},
			outcome: checker.Found, at: []string{"lib/bad.go:3:9 error"}, unseen: []string{"lib/tag.go is not part of this build"}, says: "not looked at: lib/tag.go is not part of this build",
		},
		{
			name: "a test of the same package that no longer compiles", files: []string{"lib/lib_test.go", "package lib\n\nvar _ int = F(\"\")\n"},
			outcome: checker.Found, at: []string{"lib/lib_test.go:3:15 error"},
		},
		{
			name: "a test outside the package", files: []string{"lib/x_test.go", "package lib_test\n\nimport \"example.test/m/lib\"\n\nvar _ int = lib.F(\"\")\n"},
			outcome: checker.Found, at: []string{"lib/x_test.go:5:19 error"},
		},
		{
			name: "a test that compiles", files: []string{"lib/x_test.go", "package lib_test\n\nimport \"example.test/m/lib\"\n\nvar _ int = lib.F(1)\n"}, edited: []string{"lib/x_test.go"},
			outcome: checker.Clean,
		},
		{name: "what vet warned of before", files: []string{"lib/y.go", "package lib\n\nfunc y(p *int) { p = p }\n"}, outcome: checker.Clean},
		{
			name: "what vet warns of in the edited file", files: []string{"lib/y.go", "package lib\n\nfunc y(p *int) { p = p }\n"}, edited: []string{"lib/y.go"},
			outcome: checker.Found, at: []string{"lib/y.go:3:18 warning"},
		},
		{name: "a file that is gone", edited: []string{"lib/none.go"}, outcome: checker.Clean},
		{name: "no source file", files: []string{"README.md", "x\n"}, edited: []string{"README.md"}, outcome: checker.Clean},
	},
	"cargo": {
		{
			name: "a file that no module names", files: []string{"src/orphan.rs", "fn x() { missing() }\n"}, edited: []string{"src/orphan.rs"},
			outcome: checker.Skipped, unseen: []string{"src/orphan.rs is not part of this build"}, says: "not looked at: src/orphan.rs is not part of this build",
		},
		{
			name: "a module of another system", files: []string{"src/lib.rs", "#[cfg(windows)]\nmod win;\n" + cargoLib, "src/win.rs", "fn x() { missing() }\n"}, edited: []string{"src/win.rs"},
			outcome: checker.Skipped, unseen: []string{"src/win.rs is not part of this build"},
		},
		{name: "a module", files: []string{"src/lib.rs", "mod a;\n" + cargoLib, "src/a.rs", "\n"}, edited: []string{"src/a.rs"}, outcome: checker.Clean},
		{name: "a name with a blank", files: []string{"src/lib.rs", "#[path = \"a b.rs\"]\nmod a;\n" + cargoLib, "src/a b.rs", "\n"}, edited: []string{"src/a b.rs"}, outcome: checker.Clean},
		{name: "a build script", files: []string{"build.rs", "fn main() {}\n"}, edited: []string{"build.rs"}, outcome: checker.Clean},
		{
			name: "a broken test", files: []string{"tests/t.rs", "#[test]\nfn t() { missing() }\n"}, edited: []string{"tests/t.rs"},
			outcome: checker.Found, at: []string{"tests/t.rs:2:10 error"},
		},
		{
			name: "a broken example", files: []string{"examples/e.rs", "fn main() { missing() }\n"}, edited: []string{"examples/e.rs"},
			outcome: checker.Found, at: []string{"examples/e.rs:1:13 error"},
		},
		{
			name: "a broken bench", files: []string{"benches/b.rs", "fn main() { missing() }\n"}, edited: []string{"benches/b.rs"},
			outcome: checker.Found, at: []string{"benches/b.rs:1:13 error"},
		},
		{
			name: "a broken test inside", files: []string{"src/lib.rs", cargoLib + "#[cfg(test)]\nmod tests { fn t() { missing() } }\n"},
			outcome: checker.Found, at: []string{"src/lib.rs:3:22 error"},
		},
		{
			name: "a test, an example and a bench", files: []string{"tests/t.rs", "#[test]\nfn t() { m::f(1); }\n", "examples/e.rs", "fn main() {}\n", "benches/b.rs", "fn main() {}\n"},
			edited: []string{"tests/t.rs", "examples/e.rs", "benches/b.rs"}, outcome: checker.Clean,
		},
		{
			name: "a test whose dependencies are missing", files: []string{"Cargo.toml", cargoManifest("m") + "[dev-dependencies]\nnone = { path = \"none\" }\n", "tests/t.rs", "fn t() {}\n"},
			edited: []string{"tests/t.rs"}, outcome: checker.Failed,
		},
		{name: "a crate without the standard library", files: []string{
			"src/lib.rs", "#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n" + cargoLib, "src/main.rs", "fn main() {}\n",
			"Cargo.toml", cargoManifest("m") + "autobins = false\n[profile.dev]\npanic = \"abort\"\n",
		}, outcome: checker.Clean},
	},
	"tsc": {
		{
			name: "outside include", files: []string{"other/o.ts", "let x: string = 1;\n"}, edited: []string{"other/o.ts"},
			outcome: checker.Skipped, unseen: []string{"other/o.ts is not part of this build"}, says: "not looked at: other/o.ts is not part of this build",
		},
		{
			name: "JavaScript that does not parse", files: []string{"src/j.js", "let = (\n"}, edited: []string{"src/j.js"},
			outcome: checker.Skipped, unseen: []string{"src/j.js is not part of this build"},
		},
		{
			name: "JavaScript that is allowed", files: []string{"tsconfig.json", "{\"compilerOptions\":{\"allowJs\":true},\"include\":[\"src\"]}", "src/j.js", "export const a = 1;\n"}, edited: []string{"src/j.js"},
			outcome: checker.Clean,
		},
		{
			name: "a component", files: []string{"src/c.vue", "<script lang=\"ts\">let x: string = 1</script>\n"}, edited: []string{"src/c.vue"},
			outcome: checker.Skipped, unseen: []string{"src/c.vue is not part of this build"},
		},
		{
			name: "outside include but imported", files: []string{"other/o.ts", "export const o = 1;\n", "src/main.ts", "import { o } from \"../other/o\";\no;\n"}, edited: []string{"other/o.ts"},
			outcome: checker.Clean,
		},
		{
			name: "beside findings", files: []string{"src/bad.ts", "let x: string = 1;\n", "other/o.ts", ""}, edited: []string{"other/o.ts"},
			outcome: checker.Found, at: []string{"src/bad.ts:1:5 error"}, unseen: []string{"other/o.ts is not part of this build"}, says: "not looked at: other/o.ts",
		},
		{name: "its configuration", edited: []string{"tsconfig.json"}, outcome: checker.Clean},
	},
	"deno": {
		{
			name: "excluded", files: []string{"deno.json", "{\"exclude\": [\"gen\"]}", "gen/g.ts", "let x: number = \"\";\n"}, edited: []string{"gen/g.ts"},
			outcome: checker.Skipped, unseen: []string{"gen/g.ts is excluded by deno.json"},
		},
		{name: "JavaScript that does not parse", files: []string{"j.js", "let = (\n"}, edited: []string{"j.js"}, outcome: checker.Found, at: []string{"j.js:1:8 error"}},
	},
	"pyright": {
		{
			name: "excluded", files: []string{"pyproject.toml", "[tool.pyright]\nexclude = [\"gen/**/old\"]\n", "gen/a/old/b.py", "x: int = \"\"\n"}, edited: []string{"gen/a/old/b.py"},
			outcome: checker.Skipped, unseen: []string{"gen/a/old/b.py is excluded by pyproject.toml"}, says: "not looked at: gen/a/old/b.py is excluded by pyproject.toml",
		},
		{
			name: "not included", files: []string{"pyrightconfig.json", "{// only\n\"include\": [\"src\"]}", "src/a.py", "", "b.py", "x: int = \"\"\n"}, edited: []string{"b.py"},
			outcome: checker.Skipped, unseen: []string{"b.py is not included by pyrightconfig.json"},
		},
		{
			name: "ignored", files: []string{"pyrightconfig.json", "{\"ignore\": [\"*/g*\"]}", "src/gen.py", "x: int = \"\"\n"}, edited: []string{"src/gen.py"},
			outcome: checker.Skipped, unseen: []string{"src/gen.py is ignored by pyrightconfig.json"},
		},
		{name: "included", files: []string{"pyrightconfig.json", "{\"include\": [\"s?c\"], \"exclude\": [\"**/old\"]}", "src/a.py", "x: int = 1\n"}, edited: []string{"src/a.py"}, outcome: checker.Clean},
		{name: "a stub", files: []string{"a.pyi", "x: int\n"}, edited: []string{"a.pyi"}, outcome: checker.Clean},
	},
}

const cargoLib = "pub fn f(n: i32) -> i32 { n }\n"

func TestCleanIsSaidOnlyOfWhatWasLookedAt(t *testing.T) {
	for _, k := range kits {
		for _, x := range unseenCases[k.tool] {
			t.Run(k.tool+"/"+x.name, func(t *testing.T) {
				env := realEnv(t, k.tool)
				dir := project(t, k.clean...)
				write(t, dir, x.files...)
				edited := x.edited
				if len(edited) == 0 {
					edited = []string{k.edited}
				}
				c := start(t, checker.Config{Env: env})
				got := edit(t, c, dir, edited...)
				check(t, dir, got, want{outcome: x.outcome, at: x.at})
				if d := cmp.Diff(x.unseen, unseenOf(dir, got)); d != "" {
					t.Error(d)
				}
				if x.says != "" && !strings.Contains(got.ForModel(), x.says) {
					t.Errorf("the model reads %q, want %q in it", got.ForModel(), x.says)
				}
				if len(x.unseen) == 0 && x.outcome == checker.Clean && got.ForModel() != "" {
					t.Errorf("a clean check says %q", got.ForModel())
				}
				// Somebody who asks is told as well, as long as nothing looked.
				if asked := c.Check(t.Context(), dir); len(x.unseen) > 0 {
					if d := cmp.Diff(x.unseen, unseenOf(dir, asked)); d != "" {
						t.Errorf("a check without an edit: %s", d)
					}
					if !strings.Contains(asked.ForPerson(), "not looked at: ") {
						t.Errorf("the person reads %q", asked.ForPerson())
					}
				}
			})
		}
	}
}

func unseenOf(dir string, r checker.Result) []string {
	var all []string
	for _, u := range r.Unseen {
		rel, err := filepath.Rel(dir, u.Path)
		if err != nil {
			rel = u.Path
		}
		all = append(all, filepath.ToSlash(rel)+" "+u.Reason)
	}
	return all
}

// TestWhatWasThereBeforeIsOneLine edits a file of a project with very many errors
// that the check before found, too.
func TestWhatWasThereBeforeIsOneLine(t *testing.T) {
	needShell(t)
	var old strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&old, "a.go:%d:1: undefined: x%d\n", i+1, i)
	}
	dir := project(t, "go.mod", goMod, "a.go", "package m\n", "said", old.String())
	c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: {Argv: []string{"sh", "-c", "cat said; exit 1"}}}})
	if got := edit(t, c, dir, "a.go"); len(got.Text) < 10_000 {
		t.Fatalf("the first time:\n%s", got.Text)
	}
	for range 2 {
		got := edit(t, c, dir, "a.go")
		check(t, dir, checker.Result{Outcome: got.Outcome, Text: got.Text}, want{outcome: checker.Found, says: []string{"0 are new; 5000 were there before, as a.go:1:1: undefined: x0"}})
		if strings.Contains(got.Text, "\n") || len(got.Text) > 500 || len(got.Findings) != 5000 || got.New != 0 {
			t.Errorf("%d new of %d: %s", got.New, len(got.Findings), got.Text)
		}
	}
	write(t, dir, "said", old.String()+"a.go:9999:1: undefined: y\n")
	if got := edit(t, c, dir, "a.go"); got.New != 1 || !strings.Contains(got.Text, "undefined: y") {
		t.Errorf("%d new: %s", got.New, got.Text)
	}
	write(t, dir, "said", old.String()+"a word that no parser reads\n")
	if got := edit(t, c, dir, "a.go"); !strings.Contains(got.Text, "a word that no parser reads") {
		t.Errorf("what is no finding is lost: %s", got.Text)
	}
}

// references is a solution of two projects of which one imports the other by way.
func references(t *testing.T, way string) string {
	t.Helper()
	return project(t, "package.json", "{}", "tsconfig.json", `{"files": [], "references": [{"path": "packages/lib"}, {"path": "packages/app"}]}`,
		"base.json", `{"compilerOptions": {"strict": true, "composite": true, "module": "nodenext", "moduleResolution": "nodenext", "outDir": "${configDir}/dist"}}`,
		"packages/lib/package.json", `{"name": "lib", "types": "dist/src/index.d.ts"}`, "packages/lib/tsconfig.json", `{"extends": "../../base.json", "compilerOptions": {"outDir": "dist"}, "include": ["src"]}`,
		"packages/lib/src/index.ts", "export function f(n: number): number { return n; }\n",
		"packages/lib/dist/src/index.d.ts", "export declare function f(n: number): number;\n",
		"packages/app/package.json", `{"name": "app"}`, "packages/app/tsconfig.json", `{"extends": "../../base.json", "references": [{"path": "../lib"}], /* last */ }`,
		"packages/app/main.ts", "import { f } from \""+way+"\";\nf(1);\n",
	)
}

// TestTypeScriptProjectsThatDependOnTheEditedOneAreChecked edits a project of a
// solution whose dependants were built before.
func TestTypeScriptProjectsThatDependOnTheEditedOneAreChecked(t *testing.T) {
	env := realEnv(t, "tsc")
	t.Run("by its source", func(t *testing.T) {
		dir := references(t, "../lib/src/index.js")
		c := start(t, checker.Config{Env: env})
		got := edit(t, c, dir, "packages/lib/src/index.ts")
		check(t, dir, got, want{outcome: checker.Clean})
		if got.Root != dir || got.Note != "" {
			t.Errorf("root %s: %s", got.Root, got.Note)
		}
		write(t, dir, "packages/lib/src/index.ts", "export function f(n: string): string { return n; }\n")
		check(t, dir, edit(t, c, dir, "packages/lib/src/index.ts"), want{outcome: checker.Found, at: []string{"packages/app/main.ts:2:3 error"}})
		for _, made := range []string{"packages/app/dist", "tsconfig.tsbuildinfo", "packages/lib/tsconfig.tsbuildinfo"} {
			if _, err := os.Stat(filepath.Join(dir, made)); err == nil {
				t.Errorf("the check left %s", made)
			}
		}
	})
	t.Run("by its output", func(t *testing.T) {
		dir := references(t, "lib")
		link := filepath.Join(dir, "node_modules", "lib")
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(filepath.Join(dir, "packages", "lib"), link)); err != nil {
			t.Skip(err)
		}
		write(t, dir, "packages/lib/src/index.ts", "export function f(n: string): string { return n; }\n")
		got := edit(t, start(t, checker.Config{Env: env}), dir, "packages/lib/src/index.ts")
		if got.Outcome != checker.Clean || !strings.Contains(got.ForModel(), "not looked at: packages/app depends on lib's build output") {
			t.Errorf("%v: %q", got.Outcome, got.ForModel())
		}
	})
}

// TestARootsOwnEnvironmentIsItsInterpreter imports what only the root's .venv has.
func TestARootsOwnEnvironmentIsItsInterpreter(t *testing.T) {
	env := realEnv(t, "pyright")
	dir := project(t, "setup.py", "", "a.py", "import only_here\n\nx: int = only_here.n\n")
	if out, err := exec.CommandContext(t.Context(), "python3", "-m", "venv", "--without-pip", filepath.Join(dir, ".venv")).CombinedOutput(); err != nil {
		t.Skipf("no python3 that makes environments: %s", out)
	}
	c := start(t, checker.Config{Env: env})
	check(t, dir, edit(t, c, dir, "a.py"), want{outcome: checker.Found, at: []string{"a.py:1:8 error"}})
	sites, err := filepath.Glob(filepath.Join(dir, ".venv", "lib", "python3*", "site-packages"))
	if err != nil || len(sites) != 1 {
		t.Fatal(sites, err)
	}
	write(t, sites[0], "only_here/__init__.py", "n: int = 1\n", "only_here/py.typed", "")
	check(t, dir, edit(t, c, dir, "a.py"), want{outcome: checker.Clean})
}
