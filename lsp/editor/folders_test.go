package editor

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/text"
)

func TestAFileBelongsToTheInnermostFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	dir := t.TempDir()
	real := filepath.Join(dir, "real [x]")
	if err := os.MkdirAll(filepath.Join(real, "inner"), 0o777); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	var f Folders
	for _, d := range []string{link, filepath.Join(link, "inner")} {
		if err := f.Add(text.URI(d)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ path, dir, rel string }{
		{filepath.Join(link, "a.go"), link, "a.go"},
		{filepath.Join(real, "a.go"), link, "a.go"},
		{filepath.Join(link, "inner", "b", "c.go"), filepath.Join(link, "inner"), "b/c.go"},
		{filepath.Join(real, "inner", "c.go"), filepath.Join(link, "inner"), "c.go"},
		{filepath.Join(dir, "linked"), "", ""},
		{filepath.Join(dir, "link", "..", "x"), "", ""},
	} {
		x, rel := f.Holding(tt.path)
		got := ""
		if x != nil {
			got = x.dir
		}
		if got != tt.dir || rel != tt.rel {
			t.Errorf("%s is %q in %q, want %q in %q", tt.path, rel, got, tt.rel, tt.dir)
		}
	}
	for _, name := range []string{link, link + "/", real, text.URI(link), text.URI(link) + "/", "file://" + link} {
		if x := f.Named(name); x == nil || x.dir != link {
			t.Errorf("%s names %v", name, x)
		}
	}
	for _, name := range []string{dir, "link", "", "untitled:x", "file:///nowhere"} {
		if x := f.Named(name); x != nil {
			t.Errorf("%s names %s", name, x.dir)
		}
	}
	if x := f.Remove("file://" + link); x == nil || len(f.All()) != 1 {
		t.Errorf("removed %v, left %d", x, len(f.All()))
	}
}
