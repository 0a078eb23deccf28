package checker

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// mark is the byte order mark. Columns of a Finding never count it, because no
// editor's document holds it.
const mark = "\uFEFF"

// Column converts a tool's column of a line into the units counted before it, as
// an editor counts characters: the result is 0-based and never past the line's
// end. A col of 0 (unknown) is the line's start. A byte order mark and a line
// ending in line do not count; a tab counts as one; a column inside a character
// is moved to its start.
func Column(line string, col int, from, to ColumnUnit) int {
	line = strings.TrimPrefix(line, mark)
	line = strings.TrimRight(line, "\r\n")
	units, out := 0, 0
	for i, r := range line {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(line[i:])
		}
		next := units + width(r, size, from)
		if next > col-1 {
			return out
		}
		units, out = next, out+width(r, size, to)
	}
	return out
}

// width is how many units a character of size bytes has.
func width(r rune, size int, unit ColumnUnit) int {
	switch unit {
	case Bytes:
		return size
	case UTF16:
		if r > 0xFFFF {
			return 2
		}
	}
	return 1
}

// Spot is a place as editors count: line and character 0-based.
type Spot struct{ Line, Character int }

// Locate converts a tool's range in a text into an editor's, in the given unit.
// Where the tool named no end, the range covers the word at its start, or one
// character where there is no word; places past the text's end are moved to it.
// An unknown line is the first, and an unknown column means the whole line
// without its indentation.
func Locate(text string, r Range, from, to ColumnUnit) (start, end Spot) {
	row, last := lineAt(text, r.Start.Line)
	start = Spot{row, Column(last, r.Start.Column, from, to)}
	if r.Start.Column <= 0 {
		trimmed := strings.TrimLeft(strings.TrimPrefix(last, mark), " \t")
		indent := len(strings.TrimPrefix(last, mark)) - len(trimmed)
		start.Character = Column(last, indent+1, Bytes, to)
		return start, Spot{row, Column(last, len(last)+1, Bytes, to)}
	}
	if r.End != (Position{}) {
		endRow, endLine := lineAt(text, r.End.Line)
		end = Spot{endRow, Column(endLine, r.End.Column, from, to)}
		if end.Line > start.Line || end.Line == start.Line && end.Character >= start.Character {
			return start, end
		}
	}
	whole := strings.TrimRight(last, "\r\n")
	line := strings.TrimPrefix(whole, mark)
	at := Column(last, r.Start.Column, from, Bytes)
	stop := at
	for stop < len(line) && wordByte(line[stop]) {
		stop++
	}
	if stop == at && at < len(line) {
		_, size := utf8.DecodeRuneInString(line[at:])
		stop += size
	}
	return start, Spot{row, Column(whole, stop+1, Bytes, to)}
}

// wordByte reports whether a byte is of an identifier: ASCII letters, digits, the
// underscore and all that is not ASCII.
func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= utf8.RuneSelf
}

// lineAt finds the line numbered n from 1, or the nearest that there is.
func lineAt(text string, n int) (row int, line string) {
	for row = 0; ; row++ {
		line, rest, more := strings.Cut(text, "\n")
		if row >= n-1 || !more {
			return row, line
		}
		text = rest
	}
}

// withoutMark takes a byte order mark, which some tools count as columns of the
// first line, out of a finding's range.
func withoutMark(f *Finding, width int, texts map[string]string) {
	if f.Range.Start.Line != 1 || f.Range.Start.Column <= width || !startsWithMark(f.Path, texts) {
		return
	}
	f.Range.Start.Column -= width
	if f.Range.End.Line == 1 && f.Range.End.Column > width {
		f.Range.End.Column -= width
	}
}

func startsWithMark(path string, texts map[string]string) bool {
	if text, ok := texts[path]; ok {
		return strings.HasPrefix(text, mark)
	}
	if !isFile(path) {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // only read
	head := make([]byte, len(mark))
	_, err = io.ReadFull(file, head)
	return err == nil && string(head) == mark
}
