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

// harmlessDots are dotfiles and dot directories that run nothing by being there, and
// name nothing that is run: a formatter's or linter's settings may name plugins.
var harmlessDots = []string{
	".gitignore", ".gitkeep", ".keep", ".mailmap", ".editorconfig", ".dockerignore", ".npmignore", ".eslintignore",
	".prettierignore", ".stylelintignore", ".clang-format", ".rustfmt.toml", ".nvmrc", ".python-version", ".ruby-version", ".node-version", ".well-known", ".github",
	".browserslistrc", ".swift-format", ".ignore", ".helmignore", ".vscodeignore", ".hgignore",
}

// instructions are files that agents take for instructions, in whatever directory.
var instructions = []string{
	"agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "crush.md", "warp.md", "copilot-instructions.md", "skill.md", "opencode.json",
}

// obeyedGitHub are the directories and files below .github that services run or agents
// obey.
var obeyedGitHub = []string{"workflows", "actions", "copilot-instructions.md", "instructions", "prompts", "chatmodes", "agents", "hooks", "copilot", "dependabot.yml", "dependabot.yaml"}

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
	if slices.Contains(instructions, base) || strings.HasSuffix(base, ".instructions.md") {
		return "agents obey what it says"
	}
	for i, el := range elements {
		if el == ".github" && i+1 < len(elements) && slices.Contains(obeyedGitHub, elements[i+1]) {
			return "services or agents obey what it says"
		}
		if strings.HasPrefix(el, ".") && el != "." && !slices.Contains(harmlessDots, el) {
			return "programs may run what it says"
		}
	}
	return ""
}
