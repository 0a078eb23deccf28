package sandbox

import (
	"os"
	"path/filepath"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// obeyed are files and directories at the top of a work tree that editors, shells,
// hooks and agents obey merely because they are there.
var obeyed = []string{
	".vscode", ".idea", ".zed", ".husky", ".envrc", ".agent-lsp.yaml", ".mcp.json", ".cursor", ".cursorrules", ".windsurfrules", ".clinerules",
	"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".claude", ".github/copilot-instructions.md", ".devcontainer",
}

// obeyedGit are those of git's directory.
var obeyedGit = []string{"config", "config.worktree", "hooks", "info"}

// ProtectTree keeps programs from changing what is obeyed at the top of a work
// tree.
func ProtectTree(box *proc.Sandbox, top string) {
	for _, name := range obeyed {
		box.Protected = append(box.Protected, filepath.Join(top, filepath.FromSlash(name)))
	}
	if info, err := os.Lstat(filepath.Join(top, ".git")); err == nil && !info.IsDir() {
		box.Protected = append(box.Protected, filepath.Join(top, ".git"))
	}
}

// ProtectGit keeps programs from changing what git obeys in its own directory, and
// in those of submodules, and from moving that away. Moved away it could be made
// anew, with other settings.
func ProtectGit(box *proc.Sandbox, dir string) {
	box.Pinned = append(box.Pinned, dir)
	for _, name := range obeyedGit {
		box.Protected = append(box.Protected, filepath.Join(dir, name))
	}
	modules, _ := filepath.Glob(filepath.Join(dir, "modules", "*")) // the pattern is sound
	for _, m := range modules {
		for _, name := range obeyedGit {
			box.Protected = append(box.Protected, filepath.Join(m, name))
		}
	}
}
