package lsp

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/lsp/text"
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
