//go:build unix

package server

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhatKilledServersLeftIsSwept has directories of a living server, of one that is
// gone, and of nobody's.
func TestWhatKilledServersLeftIsSwept(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	var living boxes
	used, err := living.temp("/w")
	if err != nil {
		t.Fatal(err)
	}
	make := func(name string, files ...string) string {
		dir := filepath.Join(temp, name)
		for _, f := range append(files, "tmp/x") {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	killed := make("agent-lsp-killed", markName)
	begun := make("agent-lsp-begun", "mark123")
	other := make("other", markName)
	outside := make("outside-file")
	linked := make("agent-lsp-linked")
	if err := os.Symlink(filepath.Join(outside, "tmp/x"), filepath.Join(linked, markName)); err != nil {
		t.Fatal(err)
	}
	var next boxes
	defer next.close()
	if _, err := next.temp("/w"); err != nil {
		t.Fatal(err)
	}
	for dir, there := range map[string]bool{used: true, killed: false, begun: true, other: true, outside: true, linked: true} {
		if _, err := os.Stat(dir); (err == nil) != there {
			t.Errorf("%s: %v, want it to be there: %t", dir, err, there)
		}
	}
	living.close()
	if _, err := os.Stat(used); err == nil {
		t.Error("a server that ends leaves its directory behind")
	}
}
