package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/caches"
)

func TestCacheShowsAndClearsWhatCommandsWrote(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	files, err := caches.Open(filepath.Join(home, "agent-lsp", "caches"), "/w/shop", nil)
	if err != nil {
		t.Fatal(err)
	}
	place(t, map[string]string{filepath.Join(files, "npm", "x"): strings.Repeat("x", 12_345)})
	out, log, code := runHere(t, "cache")
	if code != exitDone || !strings.Contains(out, "12KB  npm             /w/shop") || !strings.Contains(out, "sandbox.cache_size is 5GB") {
		t.Errorf("exit code %d\n%s\n%s", code, out, log)
	}
	if out, log, code = runHere(t, "cache", "clear"); code != exitDone || !strings.Contains(out, "12KB removed") {
		t.Errorf("exit code %d\n%s\n%s", code, out, log)
	}
	if _, err := os.Stat(filepath.Join(files, "npm")); err == nil {
		t.Error("the cache is still there")
	}
}
