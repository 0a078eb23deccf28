package checker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/google/go-cmp/cmp"
)

func TestDetect(t *testing.T) {
	cases := []struct {
		files                      string // names, those of directories end in a slash
		ecosystem, marker, manager string
	}{
		{"Cargo.toml", checker.Cargo, "Cargo.toml", "cargo"},
		{"deno.json", checker.Deno, "deno.json", "deno"},
		{"deno.jsonc", checker.Deno, "deno.jsonc", "deno"},
		{"package.json", checker.Node, "package.json", "npm"},
		{"package.json bun.lockb yarn.lock", checker.Node, "package.json", "bun"},
		{"package.json bun.lock", checker.Node, "package.json", "bun"},
		{"package.json pnpm-lock.yaml yarn.lock", checker.Node, "package.json", "pnpm"},
		{"package.json yarn.lock", checker.Node, "package.json", "yarn"},
		{"package.json package-lock.json", checker.Node, "package.json", "npm"},
		{"package.json deno.json", checker.Deno, "deno.json", "deno"},
		{"go.mod", checker.Go, "go.mod", "go"},
		{"go.work", checker.Go, "go.work", "go"},
		{"pyproject.toml", checker.Python, "pyproject.toml", "pip"},
		{"pyproject.toml uv.lock poetry.lock", checker.Python, "pyproject.toml", "uv"},
		{"pyproject.toml poetry.lock", checker.Python, "pyproject.toml", "poetry"},
		{"setup.py", checker.Python, "setup.py", "pip"},
		{"requirements.txt", checker.Python, "requirements.txt", "pip"},
		{"pyrightconfig.json", checker.Python, "pyrightconfig.json", "pip"},
		{"pom.xml", checker.Maven, "pom.xml", "mvn"},
		{"build.gradle", checker.Gradle, "build.gradle", "gradle"},
		{"build.gradle.kts", checker.Gradle, "build.gradle.kts", "gradle"},
		{"mix.exs", checker.Elixir, "mix.exs", "mix"},
		{"Gemfile", checker.Ruby, "Gemfile", "bundler"},
		{"composer.json", checker.PHP, "composer.json", "composer"},
		{"Package.swift", checker.Swift, "Package.swift", "swift"},
		{"CMakeLists.txt Makefile", checker.CMake, "CMakeLists.txt", "cmake"},
		{"Makefile", checker.Make, "Makefile", "make"},
		{"Makefile Cargo.toml", checker.Cargo, "Cargo.toml", "cargo"},
		{"Makefile app.csproj", checker.Dotnet, "*.csproj", "dotnet"},
		{"app.sln", checker.Dotnet, "*.sln", "dotnet"},
		{"lib.fsproj", checker.Dotnet, "*.fsproj", "dotnet"},
		{"go.mod/ Makefile", checker.Make, "Makefile", "make"},
		{"go.mod/", "", "", ""},
		{"readme.md", "", "", ""},
	}
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.files, "/", "-dir"), func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range strings.Fields(c.files) {
				if d, ok := strings.CutSuffix(name, "/"); ok {
					write(t, dir, d+"/x", "")
				} else {
					write(t, dir, name, "")
				}
			}
			tc, ok := checker.Detect(dir)
			if ok != (c.ecosystem != "") || tc.Ecosystem != c.ecosystem || tc.Marker != c.marker || tc.Manager != c.manager {
				t.Errorf("%v %+v", ok, tc)
			}
		})
	}
}

func TestToolchainCommands(t *testing.T) {
	line := func(words []string) string { return strings.Join(words, " ") }
	cases := []struct {
		files string
		want  []string // install, check, build, test, lint, format, run
	}{
		{"Cargo.toml", []string{"cargo fetch", "cargo check --message-format=json", "cargo build", "cargo test", "cargo clippy --all-targets", "cargo fmt", "cargo run"}},
		{"package.json pnpm-lock.yaml", []string{"pnpm install", "tsc --noEmit", "pnpm run build", "pnpm test", "pnpm run lint", "pnpm run format", "pnpm start"}},
		{"deno.json", []string{"", "deno check .", "deno check .", "deno test", "deno lint", "deno fmt", "deno task start"}},
		{"go.mod", []string{"", "go build ./...", "go build ./...", "go test ./...", "go vet ./...", "gofmt -w .", "go run ."}},
		{"setup.py", []string{"python -m pip install -e .", "pyright", "", "python -m pytest", "python -m ruff check", "python -m ruff format", "python -m main"}},
		{"setup.py uv.lock", []string{"uv sync", "pyright", "", "uv run pytest", "uv run ruff check", "uv run ruff format", "uv run python -m main"}},
		{"pom.xml", []string{"mvn -B dependency:go-offline", "", "mvn -B compile", "mvn -B test", "", "mvn -B formatter:format", "mvn -B exec:java"}},
		{"Makefile", []string{"", "", "make", "make test", "make lint", "make format", "make run"}},
	}
	for _, c := range cases {
		dir := t.TempDir()
		for _, name := range strings.Fields(c.files) {
			write(t, dir, name, "")
		}
		tc, _ := checker.Detect(dir)
		got := []string{line(tc.Install), line(tc.Check), line(tc.Build), line(tc.Test), line(tc.Lint), line(tc.Format), line(tc.Run)}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.files, diff)
		}
	}
}

func TestTheRootIsTheNearestThatKnowsTheFile(t *testing.T) {
	needShell(t)
	ok := checker.Command{Argv: []string{"/bin/sh", "-c", "exit 0"}}
	dir := project(t,
		"go.mod", goMod, "package.json", "{}", "tsconfig.json", "{}",
		"web/package.json", "{}", "web/deep/er/x.ts", "", "web/embed.go", "",
		"tools/Makefile", "", "tools/gen.go", "", "tools/notes.txt", "",
		"api/go.mod", goMod, "api/v1/x.go", "",
		"only/Makefile", "", "dir/go.mod/file", "",
	)
	c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: ok, checker.Node: ok}})
	for file, want := range map[string]string{
		"main.go":          ". go",
		"web/deep/er/x.ts": "web node",
		"web/embed.go":     ". go",
		"tools/gen.go":     ". go",
		"api/v1/x.go":      "api go",
		"api/v1/notes.txt": "api go",
		"dir/go.mod/x.go":  ". go",
		"index.ts":         ". node",
	} {
		got := edit(t, c, dir, file)
		rel, _ := filepath.Rel(dir, got.Root)
		if rel+" "+got.Ecosystem != want {
			t.Errorf("%s is checked in %s %s, want %s", file, rel, got.Ecosystem, want)
		}
	}
	t.Run("a tsconfig.json above", func(t *testing.T) {
		c := start(t, checker.Config{Env: []string{"PATH=" + os.TempDir()}})
		if got := edit(t, c, dir, "web/deep/er/x.ts"); got.Root != dir {
			t.Errorf("root is %s", got.Root)
		}
	})
	t.Run("never above the workspace", func(t *testing.T) {
		got := edit(t, c, filepath.Join(dir, "only"), "x.go")
		if got.Root != filepath.Join(dir, "only") || got.Ecosystem != checker.Make || got.Outcome != checker.Skipped {
			t.Errorf("%+v", got)
		}
	})
}
