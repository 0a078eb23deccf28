package lsp

import (
	"fmt"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/lsp/text"
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
		s.client.encoding = tt.encoding
		r := s.findingRange(doc, tt.r, tt.unit)
		if got := fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
