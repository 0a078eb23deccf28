package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/tools/sandbox"
)

// TestSecretsAreHidden has a home of its own, and settings that add and take away.
func TestSecretsAreHidden(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	s := sandbox.Settings{
		Env: []string{"HOME=" + home}, State: []string{at(".local/state/agent-lsp")},
		Read: []string{"~/.npmrc"}, DenyRead: []string{"~/private", "relative"},
	}
	hidden := s.Box().Hidden
	for _, name := range []string{
		".ssh", ".aws", ".gnupg", ".netrc", ".pypirc", ".git-credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".gradle/gradle.properties",
		".config/gh", ".config/gcloud", ".config/agent-lsp", ".docker", ".kube", ".azure", ".bash_history", ".mozilla", ".local/state/agent-lsp", "private",
	} {
		if !slices.Contains(hidden, at(name)) {
			t.Errorf("%s is not hidden", name)
		}
	}
	for _, p := range hidden {
		if p == at(".npmrc") || !filepath.IsAbs(p) {
			t.Errorf("%s is hidden", p)
		}
	}
	s.Env = append(s.Env, "XDG_CONFIG_HOME="+at("settings"))
	if hidden := s.Box().Hidden; !slices.Contains(hidden, at("settings/gh")) || slices.Contains(hidden, at(".config/gh")) {
		t.Error("the directory for settings is not the environment's")
	}
}

// TestTemporaryFilesAreTheSessions is about what a directory for temporary files
// takes the place of, and what stays to be seen in it.
func TestTemporaryFilesAreTheSessions(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "gitconfig")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := sandbox.Settings{Env: []string{"PATH=/usr/bin:" + dir + ":relative", "GIT_CONFIG_GLOBAL=" + file, "TMPDIR=" + dir, "X=" + dir + "/none"}}
	if box := s.Box(); !slices.Contains(box.Writable, os.TempDir()) {
		t.Error("without a directory of its own the system's cannot be written")
	}
	s.Temp = "/somewhere"
	box := s.Box()
	if slices.Contains(box.Writable, "/tmp") || slices.Contains(box.Writable, "/var/tmp") || slices.Contains(box.Writable, os.TempDir()) {
		t.Errorf("the system's directory for temporary files can be written: %v", box.Writable)
	}
	want := []string{"/usr/bin", dir}
	if rel, err := filepath.Rel("/tmp", dir); err == nil && filepath.IsLocal(rel) {
		want = append(want, file)
	}
	if !slices.Equal(box.Readable, want) {
		t.Errorf("%v is seen, want %v", box.Readable, want)
	}
}

func TestWhatIsObeyedIsProtected(t *testing.T) {
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, ".git", "modules", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	var box proc.Sandbox
	sandbox.ProtectTree(&box, top)
	sandbox.ProtectGit(&box, filepath.Join(top, ".git"))
	for _, name := range []string{
		".git/config", ".git/config.worktree", ".git/hooks", ".git/info", ".git/modules/sub/config", ".git/modules/sub/hooks",
		".vscode", ".idea", ".husky", ".envrc", ".agent-lsp.yaml", ".mcp.json", "AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md",
	} {
		if !slices.Contains(box.Protected, filepath.Join(top, filepath.FromSlash(name))) {
			t.Errorf("%s is not protected", name)
		}
	}
	if slices.Contains(box.Protected, filepath.Join(top, ".git")) || !slices.Contains(box.Pinned, filepath.Join(top, ".git")) {
		t.Error("git's directory is to be written, and not to be moved")
	}
	linked := t.TempDir()
	if err := os.WriteFile(filepath.Join(linked, ".git"), []byte("gitdir: x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	box = proc.Sandbox{}
	sandbox.ProtectTree(&box, linked)
	if !slices.Contains(box.Protected, filepath.Join(linked, ".git")) {
		t.Error("a .git that is a file is not protected")
	}
}

// TestTheDocumentNamesWhatIsProtected compares SECURITY.md with the policy.
func TestTheDocumentNamesWhatIsProtected(t *testing.T) {
	text, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	var box proc.Sandbox
	sandbox.ProtectTree(&box, "/top")
	if len(box.Protected) < 10 {
		t.Fatal(box.Protected)
	}
	for _, p := range box.Protected {
		if name := "`" + strings.TrimPrefix(filepath.ToSlash(p), "/top/") + "`"; !strings.Contains(string(text), name) {
			t.Errorf("SECURITY.md does not name %s", name)
		}
	}
}
