package main

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
)

// TestCoreIsOpenedByTheFirstSession looks for the compiled core in the user's cache:
// a server that only watches somebody edit does not make it.
func TestCoreIsOpenedByTheFirstSession(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	opened := func() (yes bool) {
		err := filepath.WalkDir(cache, func(path string, _ fs.DirEntry, err error) error {
			yes = yes || strings.HasPrefix(filepath.Base(path), "wazero-")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return yes
	}
	// The second and the third are where macOS and Windows look.
	cmd := program(t, "XDG_CACHE_HOME="+cache, "HOME="+cache, "LocalAppData="+cache)
	e := lsptest.Start(t, cmd, lsptest.Options{Folders: []string{dir}, InitializationOptions: scripted(t, "  - {text: Done.}\n", nil)})
	e.Initialize()
	file := filepath.Join(dir, "a.txt")
	put(t, file, "a\n")
	e.Open(text.URI(file))
	for _, name := range []string{"agent.status", "agent.profiles", "agent.session.list"} {
		if _, err := e.Command(name, map[string]any{}); err != nil {
			t.Fatal(err)
		}
	}
	if opened() {
		t.Error("the core is opened before there is a session")
	}
	if _, err := e.Command("agent.prompt", map[string]any{"text": "go", "wait": true}); err != nil {
		t.Fatal(err)
	}
	if !opened() {
		t.Error("this test does not see that the core is opened")
	}
	if code := e.Shutdown(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
