// Package text is the pure part of document handling in a language server:
// positions in the three encodings, incremental changes, minimal line edits
// between two texts, and the spelling of URIs. It does no I/O, keeps no state
// and starts no goroutine; every value may be shared between goroutines.
//
// A line ends with "\n", "\r\n" or "\r", as the protocol says, whatever else
// the document holds; a byte that is not UTF-8 counts as one character.
package text

import (
	"fmt"
	"sort"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// Encoding is the unit in which a client and a server agreed to count the
// characters of a line. The zero value is UTF16, the protocol's default.
type Encoding uint8

// The encodings of the protocol.
const (
	UTF16 Encoding = iota
	UTF8
	UTF32
)

// Negotiate returns the encoding to use with a client's offer: UTF-8 where it is
// offered, since it costs nothing here, else UTF-16, which every client supports.
func Negotiate(offered []protocol.PositionEncodingKind) Encoding {
	for _, k := range offered {
		if k == protocol.PositionEncodingKindUTF8 {
			return UTF8
		}
	}
	return UTF16
}

// ParseEncoding reads the wire's name of an encoding; "" is UTF-16.
func ParseEncoding(kind protocol.PositionEncodingKind) (Encoding, error) {
	switch kind {
	case "", protocol.PositionEncodingKindUTF16:
		return UTF16, nil
	case protocol.PositionEncodingKindUTF8:
		return UTF8, nil
	case protocol.PositionEncodingKindUTF32:
		return UTF32, nil
	}
	return 0, fmt.Errorf("unknown position encoding %q: use utf-8, utf-16 or utf-32", kind)
}

// Kind returns the encoding's name on the wire.
func (e Encoding) Kind() protocol.PositionEncodingKind {
	switch e {
	case UTF8:
		return protocol.PositionEncodingKindUTF8
	case UTF32:
		return protocol.PositionEncodingKindUTF32
	}
	return protocol.PositionEncodingKindUTF16
}

// String returns the encoding's name on the wire.
func (e Encoding) String() string { return string(e.Kind()) }

// Doc is an immutable text with its table of lines. Copying the pointer is a
// snapshot.
type Doc struct {
	text string
	// starts has the offset of each line's first byte; starts[0] is 0. An
	// int32 halves the table of a big document; New has no limit, because the
	// transport caps a message far below 2 GiB.
	starts []int32
}

// New returns the document of a text, with the table of lines built in one pass.
func New(s string) *Doc {
	return &Doc{text: s, starts: appendStarts(append(make([]int32, 0, 16+len(s)/32), 0), s, 0, len(s))}
}

// appendStarts appends the starts of the lines that follow the terminators which
// begin in s[from:to]. For a "\r" at the region's end, the byte behind
// it decides.
func appendStarts[S string | []byte](dst []int32, s S, from, to int) []int32 {
	for i := from; i < to; i++ {
		switch s[i] {
		case '\n':
			dst = append(dst, int32(i+1))
		case '\r':
			if i+1 < len(s) && s[i+1] == '\n' {
				i++
			}
			dst = append(dst, int32(i+1))
		}
	}
	return dst
}

// String returns the whole text.
func (d *Doc) String() string { return d.text }

// Len returns the text's length in bytes.
func (d *Doc) Len() int { return len(d.text) }

// Lines returns the number of lines: an empty text has one, and a text that ends
// with a terminator has an empty last one.
func (d *Doc) Lines() int { return len(d.starts) }

// LineSpan returns where a line's bytes are: its first byte, the end of its
// content, and the end of its terminator. For line numbers beyond the last it
// returns the end of the text, for negative ones its start.
func (d *Doc) LineSpan(line int) (start, end, next int) {
	return lineSpan(d.text, d.starts, line)
}

func lineSpan[S string | []byte](s S, starts []int32, line int) (start, end, next int) {
	switch {
	case line < 0:
		return 0, 0, 0
	case line >= len(starts):
		return len(s), len(s), len(s)
	case line+1 < len(starts):
		next = int(starts[line+1])
	default:
		next = len(s)
	}
	start, end = int(starts[line]), next
	if end > start && s[end-1] == '\n' {
		end--
	}
	if end > start && s[end-1] == '\r' {
		end--
	}
	return start, end, next
}

// Line returns a line's content without its terminator, "" where there is no such line.
func (d *Doc) Line(line int) string {
	start, end, _ := d.LineSpan(line)
	return d.text[start:end]
}

// LineAt returns the number of the line of the byte at an offset; offsets
// outside of the text are clamped.
func (d *Doc) LineAt(offset int) int {
	return lineAt(d.starts, min(max(offset, 0), len(d.text)))
}

func lineAt(starts []int32, offset int) int {
	return sort.Search(len(starts), func(i int) bool { return int(starts[i]) > offset }) - 1
}

// Offset returns the byte offset of a position. A character beyond the line is the
// line's end, a line beyond the last is the text's end, and a character inside
// of a surrogate pair or of a UTF-8 sequence is that character's start.
func (d *Doc) Offset(p protocol.Position, e Encoding) int {
	if uint64(p.Line) >= uint64(len(d.starts)) {
		return len(d.text)
	}
	start, end, _ := d.LineSpan(int(p.Line))
	return start + unitsToBytes(d.text[start:end], uint64(p.Character), e)
}

// Position returns the position of a byte offset. Offsets outside of the text are
// clamped, those inside of a character or of a terminator give its start.
func (d *Doc) Position(offset int, e Encoding) protocol.Position {
	line := d.LineAt(offset)
	start, end, _ := d.LineSpan(line)
	content := d.text[start:end]
	return protocol.Position{
		Line:      uint32(line),
		Character: uint32(bytesToUnits(content, floor(content, offset-start), e)),
	}
}

// Range returns the range of the bytes from start to end.
func (d *Doc) Range(start, end int, e Encoding) protocol.Range {
	return protocol.Range{Start: d.Position(start, e), End: d.Position(end, e)}
}

// Span returns the bytes of a range. If a range's end is before its start, the two
// are swapped, as clients do.
func (d *Doc) Span(r protocol.Range, e Encoding) (start, end int) {
	start, end = d.Offset(r.Start, e), d.Offset(r.End, e)
	return min(start, end), max(start, end)
}

// floor rounds an offset in s down to the start of a character, and clamps it.
func floor(s string, offset int) int {
	if offset <= 0 {
		return 0
	}
	if offset >= len(s) {
		return len(s)
	}
	for back := 0; back < utf8.UTFMax && offset-back >= 0; back++ {
		at := offset - back
		if !utf8.RuneStart(s[at]) {
			continue
		}
		if _, n := utf8.DecodeRuneInString(s[at:]); back < n {
			return at
		}
		break
	}
	return offset // a stray byte is a character of its own
}

// unitsToBytes returns the byte offset in a line of its units-th unit, rounded down.
func unitsToBytes(line string, units uint64, e Encoding) int {
	if e == UTF8 {
		if units >= uint64(len(line)) {
			return len(line)
		}
		return floor(line, int(units))
	}
	i := 0
	for i < len(line) && units > 0 {
		if line[i] < utf8.RuneSelf {
			i++
			units--
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		w := width(r, e)
		if w > units {
			break
		}
		i += n
		units -= w
	}
	return i
}

// bytesToUnits returns the number of units of line[:offset]; offset is a character's start.
func bytesToUnits(line string, offset int, e Encoding) int {
	if e == UTF8 {
		return offset
	}
	units := 0
	for i := 0; i < offset; {
		if line[i] < utf8.RuneSelf {
			i++
			units++
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		i += n
		units += int(width(r, e))
	}
	return units
}

func width(r rune, e Encoding) uint64 {
	if e == UTF16 && r > 0xFFFF {
		return 2
	}
	return 1
}
