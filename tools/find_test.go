package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

func TestFind(t *testing.T) {
	files := map[string]string{
		"a.go": "", "a_test.go": "", "src/b.go": "", "src/sub/c.ts": "", "src/sub/d.tsx": "", "src/sub/e.md": "", ".hidden.go": "", "bin.go": "\x00",
		".gitignore": "/skip/\n*.log\n", "skip/a.go": "", "a.log": "", ".git/x.go": "",
	}
	docs := map[string]string{"src/new.go": "unsaved", "skip/new.go": "unsaved"}
	w := searchWorld(t, files, docs)
	for _, tt := range []struct {
		args findArgs
		want string
	}{
		{findArgs{Glob: "*.go"}, ".hidden.go\na.go\na_test.go\nbin.go\nsrc/b.go\nsrc/new.go"},
		{findArgs{Glob: "*.go", Path: "src"}, "src/b.go\nsrc/new.go"},
		{findArgs{Glob: "sub/*.{ts,tsx}", Path: "src"}, "src/sub/c.ts\nsrc/sub/d.tsx"},
		{findArgs{Glob: "src/**/*.md"}, "src/sub/e.md"},
		{findArgs{Glob: "src/**/*.md", Path: "src/"}, "src/sub/e.md"},
		{findArgs{Glob: "a.log"}, `no file in the workspace is named like "a.log"`},
		{findArgs{Glob: "*.rs", Path: "src"}, `no file in src is named like "*.rs"`},
		{findArgs{Glob: "*", Path: "gone"}, "gone does not exist"},
		{findArgs{}, "the glob is empty: give a name or a pattern, *.go for instance, or ** for all files"},
	} {
		if got := w.run(toolOp(t, "find", tt.args)).Text; got != tt.want {
			t.Errorf("%+v: got\n%s\nwant\n%s", tt.args, got, tt.want)
		}
	}
}

// TestFindOfManyShowsTheNewest has more files than are shown.
func TestFindOfManyShowsTheNewest(t *testing.T) {
	files := map[string]string{}
	for i := range 400 {
		files[fmt.Sprintf("top%03d.txt", i)] = ""
		files[fmt.Sprintf("d/deep%03d.txt", i)] = ""
	}
	w := newWorld(t, files)
	for i, name := range []string{"top100.txt", "top200.txt", "d/deep399.txt", "d/deep007.txt"} {
		at := time.Now().Add(time.Duration(i+1) * time.Hour)
		if err := os.Chtimes(filepath.Join(w.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Split(w.run(toolOp(t, "find", findArgs{Glob: "*.txt"})).Text, "\n")
	if len(got) != 502 || got[0] != "top200.txt" || got[1] != "top100.txt" || got[400] != "d/deep007.txt" || got[401] != "d/deep399.txt" ||
		got[501] != "[300 more, the newest of each directory level are shown: narrow the glob or the path]" {
		t.Errorf("%d lines: %s … %s", len(got), got[:2], got[400:])
	}
	w.SetBound(1000)
	if text := w.run(toolOp(t, "find", findArgs{Glob: "*.txt"})).Text; len(text) > 1000 || !strings.Contains(text, " more, the newest") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

func TestFindIsNeverAskedAndNamesNothingDenied(t *testing.T) {
	files := map[string]string{"a.txt": "", "keys/b.txt": "", "c.pem": ""}
	for _, mode := range []Mode{ModeAsk, ModeEdits, ModeReadOnly, ModeAll} {
		w := newWorld(t, files, func(c *Config) {
			c.Policy = Policy{Mode: mode, Deny: []Rule{{Family: FamilyRead, Match: []string{"keys"}}, {Family: "find", Match: []string{"*.pem"}}}}
		})
		op := toolOp(t, "find", findArgs{Glob: "**"})
		if d := w.Decide(t.Context(), op); d.Verdict != Allow || d.Effect != Read || d.Title != "Find **" {
			t.Errorf("%s: %+v", mode, d)
		}
		if got := w.Run(t.Context(), op, "").Text; got != "a.txt" {
			t.Errorf("%s: %s", mode, got)
		}
	}
	w := newWorld(t, files)
	if d := w.Decide(t.Context(), toolOp(t, "find", findArgs{Glob: "x", Path: "../x"})); d.Verdict != Deny || d.Reason != abi.Refused("../x") {
		t.Errorf("%+v", d)
	}
}
