package tools

import (
	"path"
	"slices"
	"strings"
)

// lockNames are files that record exactly what a build takes in, besides those
// that end in .lock.
var lockNames = []string{
	"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "bun.lockb", "go.sum", "gradle.lockfile",
	"packages.lock.json", "package.resolved", "cartfile.resolved", "pipfile.lock", ".terraform.lock.hcl",
}

// harmlessDots are dotfiles and dot directories that run nothing by being there.
var harmlessDots = []string{
	".gitignore", ".gitkeep", ".keep", ".mailmap", ".editorconfig", ".dockerignore", ".npmignore", ".eslintignore",
	".prettierignore", ".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".prettierrc.yml", ".stylelintignore",
	".clang-format", ".clang-tidy", ".rustfmt.toml", ".golangci.yml", ".golangci.yaml", ".yamllint", ".yamllint.yml",
	".markdownlint.json", ".nvmrc", ".python-version", ".ruby-version", ".node-version", ".well-known", ".github",
	".browserslistrc", ".swift-format", ".ignore", ".helmignore", ".vscodeignore", ".hgignore", ".changeset",
}

// alwaysAsks returns why writing to a path needs approval in every mode, "" when it
// does not: lock files, and what programs, editors or shells run or
// obey merely because it is there.
func alwaysAsks(p string) string {
	elements := strings.Split(strings.ToLower(p), "/")
	base := elements[len(elements)-1]
	if strings.HasSuffix(base, ".lock") || slices.Contains(lockNames, base) {
		return "it is a lock file"
	}
	if path.Ext(base) == ".code-workspace" {
		return "editors run what it says"
	}
	for i, el := range elements {
		if el == ".github" && i+1 < len(elements) && (elements[i+1] == "workflows" || elements[i+1] == "actions") {
			return "services run what it says"
		}
		if strings.HasPrefix(el, ".") && el != "." && !slices.Contains(harmlessDots, el) {
			return "programs may run what it says"
		}
	}
	return ""
}
