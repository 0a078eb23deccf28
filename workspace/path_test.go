package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestBelow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("POSIX paths")
	}
	for _, tt := range []struct {
		dir, name, rel string
		ok             bool
		relative       string
	}{
		{"/w", "/w", ".", true, "."},
		{"/w", "/w/a/b", "a/b", true, "a/b"},
		{"/w", "/w/", ".", true, "."},
		{"/w/", "/w/a/../b", "b", true, "b"},
		{"/w", "/w/..a", "..a", true, "..a"},
		{"/w", "/w/...", "...", true, "..."},
		{"/w", "/wx", "", false, "/wx"},
		{"/w", "/", "", false, "/"},
		{"/w", "/w/../x", "", false, "/w/../x"},
		{"/w", "a", "", false, "a"},
		{"/", "/a", "a", true, "a"},
	} {
		if rel, ok := Below(tt.dir, tt.name); rel != tt.rel || ok != tt.ok {
			t.Errorf("below %s is %s as %q, %t; want %q, %t", tt.dir, tt.name, rel, ok, tt.rel, tt.ok)
		}
		if got := Relative(tt.dir, tt.name); got != tt.relative {
			t.Errorf("%s relative to %s is %q, want %q", tt.name, tt.dir, got, tt.relative)
		}
	}
}

func TestRealPath(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(top, "d", "e"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"l": "d", "d/up": "..", "dangling": "none", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(top, filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]string{
		"d": "d", "l": "d", "l/e": "d/e", "l/new/file": "d/new/file", "d/up/l/e": "d/e", "none/x": "none/x",
		"dangling": "dangling", "dangling/x": "dangling/x", "loop/x": "loop/x",
	} {
		if got := RealPath(filepath.Join(top, filepath.FromSlash(name))); got != filepath.Join(top, filepath.FromSlash(want)) {
			t.Errorf("%s is really %s, want %s", name, got, want)
		}
	}
}
