package checker

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// buildFiles are the names and endings of files that a check may run, or take from
// them what it runs: build scripts, and the manifests that name them.
var buildFiles = []string{
	"build.rs", "cargo.toml", "makefile", "gnumakefile", "*.mk", "cmakelists.txt", "*.cmake", "meson.build", "configure",
	"*.gradle", "*.gradle.kts", "pom.xml", "*.csproj", "*.fsproj", "*.vbproj", "*.props", "*.targets", "mix.exs",
	"gemfile", "rakefile", "*.gemspec", "package.swift", "setup.py", "conftest.py", "composer.json",
}

// manifests are the other files that say what belongs to a project and how it is
// checked.
var manifests = []string{
	"package.json", "tsconfig*.json", "jsconfig.json", "deno.json", "deno.jsonc", "go.mod", "go.work", "pyproject.toml", "setup.cfg",
	"requirements.txt", "pyrightconfig.json",
}

func named(file string, patterns []string) bool {
	base := strings.ToLower(filepath.Base(file))
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, base)
		return err == nil && ok
	})
}

// RunsInCheck reports whether a check of its root may run what a file says: it is a
// build script, names one, or is the source of a compiler plugin. The path is absolute.
func RunsInCheck(file string) bool {
	return named(file, buildFiles) || strings.EqualFold(filepath.Ext(file), ".rs") && inProcMacro(file)
}

// IsManifest reports whether a file says what belongs to a project and how it is
// checked, without naming code that a check runs.
func IsManifest(file string) bool { return named(file, manifests) }

// procMacro is how a crate's manifest says that it is a plugin of the compiler.
var procMacro = regexp.MustCompile(`(?m)^\s*proc[-_]macro\s*=\s*true`)

// inProcMacro reports whether the nearest Cargo.toml above a file is one of a plugin.
func inProcMacro(file string) bool {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		text, err := workspace.ReadFile(nil, filepath.Join(dir, "Cargo.toml"), maxText)
		if err == nil {
			return procMacro.Match(text)
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
