package checker_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
)

func cargoManifest(name string) string {
	return "[package]\nname = \"" + name + "\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
}

func TestCargoMemberPathsStartAtTheCargoWorkspace(t *testing.T) {
	env := realEnv(t, "cargo")
	dir := project(t,
		"Cargo.toml", cargoManifest("top")+"[workspace]\nmembers = [\"crates/in\"]\nexclude = [\"crates/in/crates\"]\n[dependencies]\nin = { path = \"crates/in\" }\n",
		"src/lib.rs", "pub fn g() { r#in::f(1); }\n",
		"crates/in/Cargo.toml", cargoManifest("in"),
		"crates/in/src/lib.rs", "pub fn f(n: i32) -> i32 { n + missing }\n",
		"crates/in/crates/in/src/lib.rs", "// a decoy\n",
	)
	wanted := want{outcome: checker.Found, at: []string{"crates/in/src/lib.rs:1:31 error"}, says: []string{"crates/in/src/lib.rs:1:31"}}
	c := start(t, checker.Config{Env: env})
	t.Run("after an edit of the member", func(t *testing.T) {
		got := edit(t, c, dir, "crates/in/src/lib.rs")
		check(t, dir, got, wanted)
		if got.Root != dir {
			t.Errorf("root is %s, want the cargo workspace", got.Root)
		}
	})
	t.Run("started in the member", func(t *testing.T) {
		check(t, dir, c.Check(t.Context(), filepath.Join(dir, "crates/in")), wanted)
	})
	t.Run("a member that breaks the package above it", func(t *testing.T) {
		write(t, dir, "crates/in/src/lib.rs", "pub fn f(n: &str) -> &str { n }\n")
		check(t, dir, edit(t, c, dir, "crates/in/src/lib.rs"), want{outcome: checker.Found, at: []string{"src/lib.rs:1:22 error"}})
	})
}

func TestCargoMembersThatNothingDependsOnAreChecked(t *testing.T) {
	dir := project(t,
		"Cargo.toml", cargoManifest("top")+"[workspace]\nmembers = [\"other\"]\n", "src/lib.rs", "",
		"other/Cargo.toml", cargoManifest("other"), "other/src/lib.rs", "pub fn f() { missing() }\n",
	)
	got := edit(t, start(t, checker.Config{Env: realEnv(t, "cargo")}), dir, "other/src/lib.rs")
	check(t, dir, got, want{outcome: checker.Found, at: []string{"other/src/lib.rs:1:14 error"}})
}

func TestGoPathsAreThoseOfTheRootWhereverTheEditWas(t *testing.T) {
	dir := project(t, "go.mod", goMod, "inner/a.go", "package inner\n\nfunc F() { return 1 }\n", "main.go", "package main\n\nfunc main() {}\n")
	c := start(t, checker.Config{})
	for _, edited := range []string{"inner/a.go", "main.go"} {
		check(t, dir, edit(t, c, dir, edited), want{outcome: checker.Found, at: []string{"inner/a.go:3:19 error"}})
	}
}

func TestGoWorkBuildsEveryModule(t *testing.T) {
	dir := project(t,
		"go.work", "go 1.26\n\nuse (\n\t. // the root\n\t\"./sub\"\n)\n",
		"go.mod", goMod, "m.go", "package m\n\nimport _ \"example.test/sub\"\n",
		"sub/go.mod", "module example.test/sub\n\ngo 1.26\n", "sub/s.go", "package sub\n\nvar X = missing\n",
		"stray/go.mod", "module example.test/stray\n\ngo 1.26\n", "stray/s.go", "package stray\n",
	)
	c := start(t, checker.Config{})
	for _, edited := range []string{"m.go", "sub/s.go"} {
		got := edit(t, c, dir, edited)
		check(t, dir, got, want{outcome: checker.Found, at: []string{"sub/s.go:3:9 error"}})
		if got.Root != dir {
			t.Errorf("root is %s, want the one of go.work", got.Root)
		}
	}
	if got := c.AfterEdit(t.Context(), dir, []string{"m.go", "sub/s.go"}); len(got) != 1 {
		t.Errorf("%d checks of one go.work", len(got))
	}
	t.Run("a module that is not used", func(t *testing.T) {
		got := edit(t, c, dir, "stray/s.go")
		check(t, dir, got, want{outcome: checker.Failed, says: []string{"go.work"}})
	})
}

func TestGoWorkWithoutAModuleAtItsRoot(t *testing.T) {
	dir := project(t,
		"go.work", "go 1.26\n\nuse ./a\n",
		"a/go.mod", "module example.test/a\n\ngo 1.26\n", "a/a.go", "package a\n",
		"loose.go", "package loose\n\nvar X = missing\n",
	)
	c := start(t, checker.Config{})
	check(t, dir, c.Check(t.Context(), dir), want{outcome: checker.Clean})
	t.Run("a file outside every module is unchecked", func(t *testing.T) {
		check(t, dir, edit(t, c, dir, "loose.go"), want{outcome: checker.Failed, says: []string{"loose.go", "in no module"}})
	})
	t.Run("and is said to be so beside findings", func(t *testing.T) {
		write(t, dir, "a/a.go", "package a\n\nvar X = missing\n")
		check(t, dir, edit(t, c, dir, "loose.go", "a/a.go"), want{outcome: checker.Found, at: []string{"a/a.go:3:9 error"}, says: []string{"loose.go is unchecked"}})
	})
}

func TestNothingCheckedIsNeverClean(t *testing.T) {
	sh := func(script string) checker.Config {
		return checker.Config{Commands: map[string]checker.Command{checker.Go: {Argv: []string{"/bin/sh", "-c", script}}}}
	}
	cases := []struct {
		name string
		cfg  checker.Config
		want want
	}{
		{"exit without a word", sh("exit 3"), want{outcome: checker.Failed, says: []string{"exited with 3 and reported nothing"}}},
		{"an interpreter that is not there", sh("echo env: node: No such file >&2; exit 127"), want{outcome: checker.Failed, says: []string{"could not be started", "node: No such file"}}},
		{"killed", sh("kill -9 $$"), want{outcome: checker.Failed, says: []string{"SIGKILL"}}},
		{"killed after a finding", sh("echo a.go:1:1: bad; kill -9 $$"), want{outcome: checker.Failed, says: []string{"SIGKILL"}}},
		{"only blanks", sh("echo '  '; exit 1"), want{outcome: checker.Failed}},
		{"words that nothing parses", sh("echo something is wrong; exit 1"), want{outcome: checker.Found, says: []string{"something is wrong"}}},
		{"chatter and exit 0", sh("echo all is well; echo go: downloading x >&2"), want{outcome: checker.Clean}},
		{"findings and exit 0", sh("echo a.go:1:1: bad"), want{outcome: checker.Found, at: []string{"a.go:1:1 error"}}},
		{"no time", checker.Config{Timeout: -1}, want{outcome: checker.Failed, says: []string{"did not finish within 0s", "go build"}, silent: []string{"Diagnostics from"}}},
		{"not executable", checker.Config{Commands: map[string]checker.Command{checker.Go: {Argv: []string{"./a.go"}}}}, want{outcome: checker.Failed, says: []string{"could not be started"}}},
		{"switched off", checker.Config{Commands: map[string]checker.Command{checker.Go: {Off: true}}}, want{outcome: checker.Skipped, says: []string{"switched off"}}},
		{"one finding twice", sh("echo a.go:1:1: bad; echo a.go:1:1: bad; exit 1"), want{outcome: checker.Found, at: []string{"a.go:1:1 error"}, silent: []string{"bad\na.go"}}},
		{"both streams", sh("echo a.go:1:1: out; echo deprecated >&2; exit 1"), want{outcome: checker.Found, at: []string{"a.go:1:1 error"}, says: []string{"deprecated", "a.go:1:1: out"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			needShell(t)
			dir := project(t, "go.mod", goMod, "a.go", "package m\n")
			check(t, dir, edit(t, start(t, c.cfg), dir, "a.go"), c.want)
		})
	}
}

func TestSkippedStartsNothing(t *testing.T) {
	cases := []struct{ name, marker, says string }{
		{"no marker", "", "no project marker"},
		{"make", "Makefile", "make projects"},
		{"maven", "pom.xml", "maven projects"},
		{"dotnet", "app.csproj", "dotnet projects"},
		{"node without a tsconfig", "package.json", "no tsconfig.json"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := project(t, "notes.txt", "")
			if c.marker != "" {
				write(t, dir, c.marker, "{}")
			}
			// With no PATH and no time a process would give another outcome.
			got := edit(t, start(t, checker.Config{Timeout: -1, Env: []string{}}), dir, "notes.txt")
			check(t, dir, got, want{outcome: checker.Skipped, says: []string{c.says}})
			if got.Command != nil {
				t.Errorf("command %v", got.Command)
			}
		})
	}
	t.Run("untrusted", func(t *testing.T) {
		dir := project(t, "go.mod", goMod, "a.go", "package m; var x = y")
		c := checker.New(checker.Config{})
		for _, got := range append(c.AfterEdit(t.Context(), dir, []string{"a.go"}), c.Check(t.Context(), dir)) {
			check(t, dir, got, want{outcome: checker.Skipped, says: []string{"not trusted"}})
		}
	})
}

func TestFindingsOfADeletedFileGo(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a.go", "package m\n\nvar X = missing\n", "b.go", "package m\n")
	c := start(t, checker.Config{})
	check(t, dir, edit(t, c, dir, "a.go"), want{outcome: checker.Found, at: []string{"a.go:3:9 error"}})
	remove(t, dir, "a.go")
	check(t, dir, c.Check(t.Context(), dir), want{outcome: checker.Clean})
	t.Run("renamed", func(t *testing.T) {
		write(t, dir, "a.go", "package m\n\nvar X = missing\n")
		check(t, dir, c.Check(t.Context(), dir), want{outcome: checker.Found, at: []string{"a.go:3:9 error"}})
		if err := os.Rename(filepath.Join(dir, "a.go"), filepath.Join(dir, "c.go")); err != nil {
			t.Fatal(err)
		}
		check(t, dir, c.Check(t.Context(), dir), want{outcome: checker.Found, at: []string{"c.go:3:9 error"}})
	})
	t.Run("a checker that fails says nothing of them", func(t *testing.T) {
		dead := start(t, checker.Config{Env: []string{"PATH=" + t.TempDir()}})
		if got := dead.Check(t.Context(), dir); got.Outcome != checker.Failed || got.Findings != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestMoreErrorsThanTheToolPrintsAreAnnounced(t *testing.T) {
	var body strings.Builder
	for range 14 {
		body.WriteString("\tmissing()\n")
	}
	dir := project(t, "go.mod", goMod, "inner/a.go", "package inner\n\nfunc F() {\n"+body.String()+"}\n")
	got := edit(t, start(t, checker.Config{}), dir, "inner/a.go")
	if len(got.Findings) != 10 {
		t.Errorf("%d findings, want 10", len(got.Findings))
	}
	if !strings.Contains(got.Text, "The list is not complete") || !strings.Contains(got.Text, "too many errors") {
		t.Error(got.Text)
	}
}

func TestWholePackagesAreChecked(t *testing.T) {
	dir := project(t, "mod/go.mod", goMod, "mod/a.go", "package m\n\ntype T struct{}\n", "mod/b.go", "package m\n\nvar X T\n", "readme.md", "")
	got := edit(t, start(t, checker.Config{}), dir, "mod/b.go")
	check(t, dir, got, want{outcome: checker.Clean})
	if got.Root != filepath.Join(dir, "mod") {
		t.Errorf("root is %s", got.Root)
	}
}

func TestTheEditedFilesOwnFindingsComeFirst(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a.go", "package m\n\nvar A = missing\n", "z.go", "package m\n\nvar Z = missing\n")
	got := edit(t, start(t, checker.Config{}), dir, "z.go")
	check(t, dir, got, want{outcome: checker.Found, at: []string{"a.go:3:9 error", "z.go:3:9 error"}})
	own, other := strings.Index(got.Text, "z.go:3:9"), strings.Index(got.Text, "a.go:3:9")
	if !strings.Contains(got.Text, "this edit, which was applied") || own < 0 || other < own {
		t.Error(got.Text)
	}
}

// TestWithoutAnEditNothingIsSaidOfOne asks for checks as a person or a watcher
// does: the words that a model reads behind its edit do not fit there.
func TestWithoutAnEditNothingIsSaidOfOne(t *testing.T) {
	needShell(t)
	dir := project(t, "go.mod", goMod, "go.work", "go 1.26\n", "a.go", "package m\n", "py/pyproject.toml", "", "rs/Cargo.toml", "")
	sh := func(script string) checker.Config {
		return checker.Config{Timeout: 5 * time.Second, Commands: map[string]checker.Command{checker.Go: {Argv: []string{"/bin/sh", "-c", script}}}}
	}
	closed := checker.New(checker.Config{Trusted: true, Policy: anything})
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	nothing := checker.Config{Env: []string{"PATH=" + t.TempDir()}}
	hanging := sh("sleep 600")
	hanging.Timeout = 50 * time.Millisecond
	cases := []struct {
		name string
		c    *checker.Checker
		root string
		want checker.Outcome
	}{
		{"found", start(t, sh("echo a.go:1:1: bad; exit 1")), "", checker.Found},
		{"clean", start(t, sh("true")), "", checker.Clean},
		{"no program", start(t, nothing), "py", checker.Failed},
		{"no cargo", start(t, nothing), "rs", checker.Failed},
		{"hangs", start(t, hanging), "", checker.Failed},
		{"without a word", start(t, sh("exit 3")), "", checker.Failed},
		{"killed", start(t, sh("kill -9 $$")), "", checker.Failed},
		{"cannot be started", start(t, sh("exit 127")), "", checker.Failed},
		{"could not check", start(t, sh("echo go: no; exit 1")), "", checker.Failed},
		{"no module", start(t, checker.Config{}), "", checker.Failed},
		{"no formats", start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: {Argv: []string{"true"}, Formats: []string{"%"}}}}), "", checker.Failed},
		{"closed", closed, "", checker.Failed},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.c.Check(t.Context(), filepath.Join(dir, tc.root))
			if got.Outcome != tc.want {
				t.Fatalf("%v: %s", got.Outcome, got.Text)
			}
			checkTold(t, got)
			if strings.Contains(got.ForPerson(), "edit") {
				t.Errorf("nothing was edited: %s", got.ForPerson())
			}
			if got.Outcome == checker.Failed {
				check(t, dir, got, want{outcome: checker.Failed, says: []string{"this root is unchecked"}})
				for _, r := range tc.c.AfterEdit(t.Context(), dir, []string{filepath.Join(tc.root, "x.go")}) {
					if !strings.Contains(r.Text, "this edit is unchecked") {
						t.Errorf("after an edit: %s", r.Text)
					}
				}
			}
		})
	}
}

// TestToolsAreAskedForWhatIsRead looks at the arguments that each tool gets.
func TestToolsAreAskedForWhatIsRead(t *testing.T) {
	needShell(t)
	for tool, want := range map[string]string{
		"go":      "build -o " + os.DevNull + " ./...",
		"cargo":   "check --message-format=json",
		"tsc":     "--noEmit --pretty false --listFiles",
		"deno":    "check .",
		"pyright": "--outputjson",
	} {
		i := slices.IndexFunc(kits, func(k kit) bool { return k.tool == tool })
		dir := project(t, kits[i].clean...)
		// The first command of cargo prints nothing, with success.
		env := []string{"PATH=" + fakeTool(t, tool, "test $1 = locate-project || { echo \"got: $*\" >&2; exit 1; }")}
		got := edit(t, start(t, checker.Config{Env: env}), dir, kits[i].edited)
		if !strings.Contains(got.Text, "got: "+want+"\n") && !strings.HasSuffix(got.Text, "got: "+want) {
			t.Errorf("%s: %v %s, want %q", tool, got.Outcome, got.Text, want)
		}
		if line := strings.Join(got.Command, " "); line != tool+" "+strings.TrimSuffix(want, " --listFiles") {
			t.Errorf("%s: the command is told as %q", tool, line)
		}
	}
}

// TestToolsRunWithoutColoursAndSecrets looks at the environment of a check.
func TestToolsRunWithoutColoursAndSecrets(t *testing.T) {
	needShell(t)
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	c := start(t, checker.Config{
		Env: []string{
			"PATH=/usr/bin:/bin", "GOFLAGS=-mod=mod", "FORCE_COLOR=1", "CLICOLOR_FORCE=1", "CARGO_TERM_COLOR=always",
			"OPENAI_API_KEY=secret", "KEPT_TOKEN=kept", "PWD=/elsewhere",
		},
		Keep:     []string{"KEPT_TOKEN"},
		Commands: map[string]checker.Command{checker.Go: {Argv: []string{"/bin/sh", "-c", "env; exit 1"}}},
	})
	check(t, dir, edit(t, c, dir, "a.go"), want{
		outcome: checker.Found,
		says:    []string{"GOFLAGS=-mod=mod\n", "NO_COLOR=1\n", "CARGO_TERM_COLOR=never\n", "KEPT_TOKEN=kept", "PWD=" + dir},
		silent:  []string{"FORCE", "secret", "always"},
	})
}
