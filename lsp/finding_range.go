package lsp

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/workspace"
	"go.lsp.dev/protocol"
)

// findingRange converts a tool's range to the client's, by the file's text. A
// finding without an end covers the word at its start; one without a column covers
// the line's content. For a file that cannot be read, whose doc is nil, the columns
// stay as the tool counts them.
func (f *findings) findingRange(doc *text.Doc, r checker.Range, unit checker.ColumnUnit) protocol.Range {
	e := f.client.Encoding
	if r.Start.Line <= 0 {
		return protocol.Range{}
	}
	if doc == nil {
		return protocol.Range{Start: asCounted(r.Start), End: asCounted(cmp.Or(r.End, r.Start))}
	}
	lineStart, lineEnd, _ := doc.LineSpan(r.Start.Line - 1)
	content := doc.String()[lineStart:lineEnd]
	if r.Start.Column <= 0 {
		indent := len(content) - len(strings.TrimLeft(content, " \t"))
		return doc.Range(lineStart+indent, lineEnd, e)
	}
	start := toolOffset(doc, r.Start, unit)
	end := toolOffset(doc, r.End, unit)
	if r.End.Line <= 0 || r.End.Column <= 0 || end < start {
		end = start + wordLength(doc.String()[start:lineEnd])
	}
	return doc.Range(start, end, e)
}

func asCounted(p checker.Position) protocol.Position {
	return protocol.Position{Line: uint32(max(p.Line-1, 0)), Character: uint32(max(p.Column-1, 0))}
}

// toolOffset returns the byte offset of a tool's 1-based position.
func toolOffset(doc *text.Doc, p checker.Position, unit checker.ColumnUnit) int {
	if p.Line <= 0 || p.Column <= 0 {
		return 0
	}
	e := text.UTF8
	switch unit {
	case checker.UTF16:
		e = text.UTF16
	case checker.Runes:
		e = text.UTF32
	}
	return doc.Offset(protocol.Position{Line: uint32(p.Line - 1), Character: uint32(p.Column - 1)}, e)
}

// wordLength returns the length of the word at the start of a text, else of its
// first character.
func wordLength(s string) int {
	for i, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			continue
		}
		if i > 0 {
			return i
		}
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	return len(s)
}

// texts are the texts of files during one conversion.
type texts struct {
	editor *editor.Editor
	given  map[string]string // texts of the checker's input, by path
	docs   map[string]*text.Doc
}

func (f *findings) newTexts(given map[string]string) *texts {
	return &texts{editor: f.editor, given: given, docs: map[string]*text.Doc{}}
}

// of returns the text of a file that the checker read: that of its input, else the
// disk's, since a buffer may be newer, else the buffer's. It is nil for a file that
// is in no workspace folder and not open.
func (t *texts) of(path string) *text.Doc {
	if d, ok := t.docs[path]; ok {
		return d
	}
	var d *text.Doc
	if given, ok := t.given[path]; ok {
		d = text.New(strings.TrimPrefix(given, workspace.ByteOrderMark))
	} else if disk, ok := t.editor.Read(path); ok {
		d = text.New(strings.TrimPrefix(disk, workspace.ByteOrderMark))
	} else if x := t.editor.At(path); x != nil {
		d = x.Text
	}
	t.docs[path] = d
	return d
}
