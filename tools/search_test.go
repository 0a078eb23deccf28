package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/go-json-experiment/json"
)

// opened are buffers of which the workspace can say which there are.
type opened struct{ *buffers }

func (o opened) Opened() (out []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for p := range o.docs {
		out = append(out, p)
	}
	return out
}

func searchOp(t *testing.T, args searchArgs) abi.Call {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return abi.Call{Tool: &abi.Use{Name: "search", Arguments: string(data)}}
}

// searchWorld is a workspace of files and buffers.
func searchWorld(t *testing.T, files, docs map[string]string, change ...func(*Config)) *world {
	b := &buffers{docs: map[string]Document{}}
	w := newWorld(t, files, append([]func(*Config){func(c *Config) {
		b.Disk = c.Workspace.(*Disk)
		c.Workspace = opened{b}
	}}, change...)...)
	for p, text := range docs {
		b.open(p, text)
	}
	return w
}

func TestSearch(t *testing.T) {
	files := map[string]string{
		"a.go": "package a\n\nfunc One() {}\nfunc Two() {}\n", "b/c.go": "func One()\r\nx\r\n", "b/d.txt": "one func\n",
		".gitignore": "/skip/\n*.log\n", "skip/a.go": "func One()\n", "a.log": "func One()\n", "b/.gitignore": "!keep.log\n", "b/keep.log": "func One() kept\n",
		"bin": "func One()\x00", "open.go": "func One() on the disk\n", ".git/x": "func One()", "odd/latin.txt": "caf\xe9 func One\n", "long.txt": "func One " + strings.Repeat("x", 1000) + "\n",
		".hidden": "func One hidden",
	}
	docs := map[string]string{"open.go": "nothing here\n", "new/file.go": "x\nfunc One() unsaved\n", "skip/new.go": "func One() new\n"}
	w := searchWorld(t, files, docs)
	for name, tt := range map[string]struct {
		args searchArgs
		want string
	}{
		"all": {searchArgs{Pattern: `func One`}, ".hidden\n1: func One hidden\n\na.go\n3: func One() {}\n\nb/c.go\n1: func One()\n\nb/keep.log\n1: func One() kept\n\n" +
			"long.txt\n1: func One " + strings.Repeat("x", 291) + " [… line cut]\n\nnew/file.go\n2: func One() unsaved\n\nodd/latin.txt\n1: caf\ufffd func One"},
		"ends of lines":        {searchArgs{Pattern: `One\(\)$`}, "b/c.go\n1: func One()"},
		"in a directory":       {searchArgs{Pattern: `(?i)ONE`, Path: "b"}, "b/c.go\n1: func One()\n\nb/d.txt\n1: one func\n\nb/keep.log\n1: func One() kept"},
		"in a file":            {searchArgs{Pattern: `func`, Path: "skip/a.go"}, "skip/a.go\n1: func One()"},
		"in a buffer":          {searchArgs{Pattern: `func`, Path: "new/file.go"}, "new/file.go\n2: func One() unsaved"},
		"a glob":               {searchArgs{Pattern: `func`, Glob: "*.{txt,md}", Path: "b"}, "b/d.txt\n1: one func"},
		"plain text":           {searchArgs{Pattern: `One() {`, Literal: true}, "a.go\n3: func One() {}"},
		"context":              {searchArgs{Pattern: `One|Two`, Path: "a.go", Context: 1}, "a.go\n2- \n3: func One() {}\n4: func Two() {}"},
		"at most one":          {searchArgs{Pattern: `func`, Path: "a.go", Max: 1}, "a.go\n3: func One() {}\n\n[1 more in 1 files: narrow the pattern, the path or the glob]"},
		"nothing":              {searchArgs{Pattern: `Three`}, `nothing in the workspace matches "Three"`},
		"nothing there":        {searchArgs{Pattern: `Three`, Path: "b/"}, `nothing in b matches "Three"`},
		"only on disk":         {searchArgs{Pattern: `on the disk`}, `nothing in the workspace matches "on the disk"`},
		"look-ahead":           {searchArgs{Pattern: `a(?=b)`}, "the pattern has look-around ((?=…), which RE2 lacks: search for what is always there and look at the lines"},
		"look-behind":          {searchArgs{Pattern: `(?<!a)b`}, "the pattern has look-around ((?<!…), which RE2 lacks: search for what is always there and look at the lines"},
		"back-reference":       {searchArgs{Pattern: `(a)\1`}, `the pattern has a back-reference (\1), which RE2 lacks: search for what is always there and look at the lines`},
		"no pattern":           {searchArgs{}, "the pattern is empty: give the text or the regular expression to look for"},
		"broken":               {searchArgs{Pattern: `a(`}, "the pattern is no regular expression of RE2: missing closing ): `a(`; literal: true searches for plain text"},
		"no such file":         {searchArgs{Pattern: `a`, Path: "gone"}, "gone does not exist"},
		"empty lines":          {searchArgs{Pattern: `^$`, Path: "a.go"}, "a.go\n2: "},
		"look-around, as text": {searchArgs{Pattern: `(?=`, Literal: true}, `nothing in the workspace matches "(?="`},
	} {
		if got := w.Run(t.Context(), searchOp(t, tt.args), "").Text; got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("f%03d.txt", i)] = strings.Repeat("a match with some text around it\n", 3)
	}
	w := searchWorld(t, files, nil)
	first := w.Run(t.Context(), searchOp(t, searchArgs{Pattern: "match", Context: 10}), "")
	if len(first.Text) > 16_000 || !strings.Contains(first.Text, " more in ") || first.State != Completed {
		t.Errorf("%d bytes, ends in %q", len(first.Text), first.Text[max(0, len(first.Text)-100):])
	}
	for range 20 {
		if again := w.Run(t.Context(), searchOp(t, searchArgs{Pattern: "match", Context: 10}), ""); again.Text != first.Text {
			t.Fatal("two searches differ")
		}
	}
	if got := w.Run(t.Context(), searchOp(t, searchArgs{Pattern: "match", Max: 2}), "").Text; !strings.HasSuffix(got, "[898 more in 300 files: narrow the pattern, the path or the glob]") {
		t.Error(got)
	}
}

func TestSearchIsNeverAskedAndNeverReadsWhatIsDenied(t *testing.T) {
	files := map[string]string{"a.txt": "word\n", "keys/b.txt": "word\n", "c.pem": "word\n"}
	for _, mode := range []Mode{ModeAsk, ModeEdits, ModeReadOnly, ModeAll} {
		w := searchWorld(t, files, nil, func(c *Config) {
			c.Policy = Policy{Mode: mode, Deny: []Rule{{Family: FamilyRead, Match: []string{"keys"}}, {Family: "search", Match: []string{"*.pem"}}}}
		})
		op := searchOp(t, searchArgs{Pattern: "word"})
		if d := w.Decide(t.Context(), op); d.Verdict != Allow || d.Effect != Read || d.Title != "Search for word" {
			t.Errorf("%s: %+v", mode, d)
		}
		if got := w.Run(t.Context(), op, "").Text; got != "a.txt\n1: word" {
			t.Errorf("%s: %s", mode, got)
		}
		if got := w.Run(t.Context(), searchOp(t, searchArgs{Pattern: "word", Path: "keys/b.txt"}), "").Text; !strings.HasPrefix(got, "nothing in") {
			t.Errorf("%s: %s", mode, got)
		}
	}
	w := searchWorld(t, files, nil)
	for _, p := range []string{"../x", "/etc", `..\x`, "C:/x", "a/../../x"} {
		if d := w.Decide(t.Context(), searchOp(t, searchArgs{Pattern: "x", Path: p})); d.Verdict != Deny || d.Reason != abi.Refused(p) {
			t.Errorf("%s: %+v", p, d)
		}
	}
}
