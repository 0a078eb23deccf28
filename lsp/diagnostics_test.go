package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
)

func TestToolRangesBecomeTheClientsUnits(t *testing.T) {
	const line = "\tx := \"😀é\" + y1 // z"
	doc := text.New("one\n" + line + "\n")
	at := func(l, c int) checker.Position { return checker.Position{Line: l, Column: c} }
	for _, tt := range []struct {
		name     string
		r        checker.Range
		unit     checker.ColumnUnit
		encoding text.Encoding
		want     string
	}{
		{"bytes to UTF-16, word", checker.Range{Start: at(2, 18)}, checker.Bytes, text.UTF16, "1:14-1:16"},
		{"bytes to UTF-8, word", checker.Range{Start: at(2, 18)}, checker.Bytes, text.UTF8, "1:17-1:19"},
		{"UTF-16 to UTF-16", checker.Range{Start: at(2, 15), End: at(2, 16)}, checker.UTF16, text.UTF16, "1:14-1:15"},
		{"UTF-16 to UTF-8", checker.Range{Start: at(2, 15), End: at(2, 16)}, checker.UTF16, text.UTF8, "1:17-1:18"},
		{"runes to UTF-16", checker.Range{Start: at(2, 14), End: at(2, 16)}, checker.Runes, text.UTF16, "1:14-1:16"},
		{"no column covers the content", checker.Range{Start: at(2, 0)}, checker.Bytes, text.UTF16, "1:1-1:21"},
		{"no line is the file's start", checker.Range{}, checker.Bytes, text.UTF16, "0:0-0:0"},
		{"not a word", checker.Range{Start: at(2, 16)}, checker.Bytes, text.UTF16, "1:12-1:13"},
		{"column behind the line", checker.Range{Start: at(1, 99)}, checker.Bytes, text.UTF16, "0:3-0:3"},
		{"line behind the file", checker.Range{Start: at(99, 1)}, checker.Bytes, text.UTF16, "2:0-2:0"},
		{"end over lines", checker.Range{Start: at(1, 2), End: at(2, 2)}, checker.Bytes, text.UTF16, "0:1-1:1"},
		{"end before the start", checker.Range{Start: at(2, 2), End: at(1, 1)}, checker.Bytes, text.UTF16, "1:1-1:2"},
	} {
		s := New(Config{})
		s.client.Encoding = tt.encoding
		r := s.findings.findingRange(doc, tt.r, tt.unit)
		if got := fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// FuzzToolRanges asks for any place of any text: what is answered lies in the text
// and does not end before it starts.
func FuzzToolRanges(f *testing.F) {
	f.Add("\uFEFFé😀\r\n\tx", 1, 2, 2, 1, 0)
	f.Add("a\xffb\n", 1, 2, 0, 0, 1)
	f.Add("\uFEFF\uFEFF", 1, 2, 2, 1, 1)
	f.Add("a\rb", 9, 9, -1, -1, 2)
	f.Fuzz(func(t *testing.T, content string, line, col, endLine, endCol, unit int) {
		s, doc := New(Config{}), text.New(content)
		r := s.findings.findingRange(doc, checker.Range{
			Start: checker.Position{Line: line, Column: col}, End: checker.Position{Line: endLine, Column: endCol},
		}, checker.ColumnUnit(uint(unit)%3))
		if r.End.Line < r.Start.Line || r.End.Line == r.Start.Line && r.End.Character < r.Start.Character {
			t.Fatalf("%v to %v", r.Start, r.End)
		}
		for _, p := range []protocol.Position{r.Start, r.End} {
			if int(p.Line) >= doc.Lines() {
				t.Fatalf("%v is not in %q", p, content)
			}
			row := strings.TrimRight(doc.Line(int(p.Line)), "\r\n")
			if int(p.Character) > len(utf16.Encode([]rune(row))) {
				t.Fatalf("%v is not in %q", p, row)
			}
		}
	})
}

func found(dir string, findings ...checker.Finding) checker.Result {
	return checker.Result{Outcome: checker.Found, Root: dir, Command: []string{"go", "vet"}, Findings: findings}
}

func finding(path string, line int, message string) checker.Finding {
	return checker.Finding{Path: path, Range: checker.Range{Start: checker.Position{Line: line, Column: 1}}, Severity: checker.Error, Code: "E1", Message: message, Tool: "go vet"}
}

func TestFindingsAreReplacedAsAWhole(t *testing.T) {
	r := start(t, lsptest.Options{}, map[string]string{"a.go": "package a\nfoo bar\n", "b.go": "package a\n", "sub/c.go": "package c\n"})
	a, b, c := r.Open(r.path("a.go")), text.URI(r.path("b.go")), text.URI(r.path("sub/c.go"))
	r.Barrier()
	f := finding(r.path("a.go"), 2, "bad")
	f.Related = []checker.Related{{Path: r.path("b.go"), Range: checker.Range{Start: checker.Position{Line: 1, Column: 9}}, Message: "there"}}
	r.side().Findings(r.dir, found(r.dir, f, finding(r.path("a.go"), 1, "too"), finding(r.path("b.go"), 1, "bad")))
	r.side().Findings(r.dir, found(r.path("sub"), finding(r.path("sub/c.go"), 1, "bad"), finding(r.path("b.go"), 1, "of sub")))
	r.WaitDiagnostics(c, 1)
	d := r.WaitDiagnostics(a, 2)
	want := `{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":3}},"severity":1,"code":"E1","source":"agent-lsp go vet","message":"bad","relatedInformation":[{"location":{"uri":"` +
		b + `","range":{"start":{"line":0,"character":8},"end":{"line":0,"character":9}}},"message":"there"}]}`
	if diff := cmp.Diff(canonical(want), canonical(string(d.Raw[0]))); diff != "" {
		t.Error(diff)
	}
	if d.Version == nil || *d.Version != 1 || r.Diagnostics(c).Version != nil {
		t.Errorf("versions %v, %v", d.Version, r.Diagnostics(c).Version)
	}
	r.WaitDiagnostics(b, 2) // of both roots
	other := found(r.dir, finding(r.path("b.go"), 1, "of another tool"))
	other.Ecosystem = "node"
	r.side().Findings(r.dir, other)
	r.WaitDiagnostics(b, 3)
	other.Findings = nil
	r.side().Findings(r.dir, other)
	r.WaitDiagnostics(b, 2)

	r.side().Findings(r.dir, checker.Result{Outcome: checker.Failed, Root: r.dir, Text: "no go"})
	r.side().Findings(r.dir, checker.Result{Outcome: checker.Skipped, Root: r.dir, Text: "no project"})
	r.Wait("the warning", 0, func(m lsptest.Message) bool { return strings.Contains(string(m.Params), "unchecked") })
	if n := len(r.Diagnostics(a).Raw); n != 2 {
		t.Errorf("a check that failed left %d findings of 2", n)
	}
	if s := r.side().State(r.dir); !strings.Contains(s, "Open in the editor:\n- a.go\n") || !strings.Contains(s, "- a.go:2: error: bad\n") {
		t.Errorf("state %q", s)
	}

	r.side().Findings(r.dir, found(r.dir, finding(r.path("a.go"), 1, "left")))
	r.WaitDiagnostics(a, 1)
	r.WaitDiagnostics(b, 1)
	r.side().Findings(r.dir, checker.Result{Outcome: checker.Clean, Root: r.dir})
	r.WaitDiagnostics(a, 0)
	if n := len(r.Diagnostics(c).Raw); n != 1 {
		t.Errorf("the check of another root left %d findings of 1", n)
	}
	r.Notify("workspace/didChangeWorkspaceFolders", `{"event":{"added":[],"removed":[{"uri":"`+text.URI(r.dir)+`","name":"x"}]}}`)
	r.WaitDiagnostics(b, 0)
	r.WaitDiagnostics(c, 0)
}

func TestFindingsOfVanishedFilesAreCleared(t *testing.T) {
	r := start(t, lsptest.Options{}, map[string]string{"a.go": "x\n", "d/b.go": "x\n", "c.go": "x\n", "e.go": "x\n"})
	uri := func(name string) string { return text.URI(r.path(name)) }
	r.side().Findings(r.dir, found(r.dir, finding(r.path("a.go"), 1, "bad"), finding(r.path("d/b.go"), 1, "bad"), finding(r.path("c.go"), 1, "bad"), finding(r.path("e.go"), 1, "bad")))
	r.WaitDiagnostics(uri("e.go"), 1)
	r.Notify("workspace/didChangeWatchedFiles", `{"changes":[{"uri":"`+uri("a.go")+`","type":3},{"uri":"`+uri("e.go")+`","type":2}]}`)
	r.Notify("workspace/didDeleteFiles", `{"files":[{"uri":"`+uri("d")+`"}]}`)
	r.Notify("workspace/didRenameFiles", `{"files":[{"oldUri":"`+uri("c.go")+`","newUri":"`+uri("f.go")+`"}]}`)
	for _, name := range []string{"a.go", "d/b.go", "c.go"} {
		r.WaitDiagnostics(uri(name), 0)
	}
	if n := len(r.Diagnostics(uri("e.go")).Raw); n != 1 {
		t.Error("the findings of a changed file are gone")
	}
}

func TestFindingsBehindASymlinkGoToTheOpenedDocument(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(real, "m.go"), "package m\nx\n")
	write(t, filepath.Join(real, "closed.go"), "package m\nx\n")
	r := startWith(t, lsptest.Options{Folders: []string{link}}, link, func(*Config) {})
	uri := r.Open(filepath.Join(link, "m.go"))
	r.Barrier()
	r.side().Findings(link, found(real, finding(filepath.Join(real, "m.go"), 2, "bad"), finding(filepath.Join(real, "closed.go"), 2, "bad")))
	r.WaitDiagnostics(uri, 1)
	closed := text.URI(filepath.Join(link, "closed.go"))
	r.WaitDiagnostics(closed, 1)
	if s := r.side().State(link); !strings.Contains(s, "- closed.go:2: error: bad\n- m.go:2: error: bad") {
		t.Errorf("state %q", s)
	}
	// Opened under its real path, its findings move there.
	again := r.Open(filepath.Join(real, "closed.go"))
	r.WaitDiagnostics(again, 1)
	r.WaitDiagnostics(closed, 0)
	all := r.AllDiagnostics()
	if len(all) != 3 {
		t.Errorf("%d documents have diagnostics", len(all))
	}
}
