package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnAbsolutePathInsideTheWorkspaceIsTheFile, in every tool that takes a path and
// under every name of the folder; one outside stays as it is, for the core to refuse.
func TestAnAbsolutePathInsideTheWorkspaceIsTheFile(t *testing.T) {
	posix(t)
	w := newWorld(t, map[string]string{"a.txt": "one\n", "d/b.txt": "two\n"})
	other := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.dir, other); err != nil {
		t.Fatal(err)
	}
	linked, err := NewDisk(other)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = linked.Close() })
	through, err := New(Config{Workspace: linked})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ tool, arguments, want string }{
		{"read", `{"path":"ROOT/a.txt"}`, `{"path":"a.txt"}`},
		{"read", `{"path":"ROOT/d/../a.txt","offset":2}`, `{"path":"a.txt","offset":2}`},
		{"read", `{"path":"ROOT"}`, `{"path":"."}`},
		{"read", `{"path":"ROOT/"}`, `{"path":"."}`},
		{"write", `{"path":"ROOT/new","text":"x"}`, `{"path":"new","text":"x"}`},
		{"patch", `{"path":"ROOT/a.txt","diff":"d"}`, `{"path":"a.txt","diff":"d"}`},
		{"search", `{"pattern":"ROOT","path":"ROOT/d"}`, `{"pattern":"ROOT","path":"d"}`},
		{"exec", `{"argv":["cat","ROOT/a.txt"],"cwd":"ROOT/d"}`, `{"argv":["cat","ROOT/a.txt"],"cwd":"d"}`},
		{"read", `{"path":"ROOT/../x"}`, `{"path":"ROOT/../x"}`},
		{"read", `{"path":"ROOTx"}`, `{"path":"ROOTx"}`},
		{"read", `{"path":"/etc/passwd"}`, `{"path":"/etc/passwd"}`},
		{"read", `{"path":"a.txt"}`, `{"path":"a.txt"}`},
	} {
		for root, e := range map[string]*Executor{w.dir: w.Executor, other: through} {
			op, err := e.Typed(tt.tool, strings.ReplaceAll(tt.arguments, "ROOT", root))
			name, got := Untyped(op)
			if want := strings.ReplaceAll(tt.want, "ROOT", root); err != nil || name != tt.tool || !cmp.Equal(got, want) {
				t.Errorf("%s %s becomes %s %s (%v), want %s", tt.tool, tt.arguments, name, got, err, want)
			}
		}
	}
}
