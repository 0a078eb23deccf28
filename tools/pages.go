package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	pageLines = 2000     // lines of one read, at most
	pageBytes = 64 << 10 // bytes of one read, at most
	pageWidth = 2000     // characters of a line that are shown
	pageChunk = 256 << 10
)

// errBinary says that a file has NUL bytes in it.
var errBinary = errors.New("the file is binary")

// page is a part of a text: whole lines with their ends, in order.
type page struct {
	from, to int // lines, from 1; to is from-1 when there is none
	total    int // lines of the whole text
	cut      int // lines of the page that are longer than they are shown
	text     []byte
}

// whole reports whether the page is all of its text as it is.
func (p page) whole() bool { return p.from == 1 && p.to == p.total && p.cut == 0 }

// note says which part of a text the page is and what is left out, and is empty for
// a whole text. What names the lines.
func (p page) note(what string) string {
	if p.whole() {
		return ""
	}
	text := fmt.Sprintf("%s %d–%d of %s", what, p.from, p.to, thousands(p.total))
	if p.to < p.total {
		text += fmt.Sprintf("; go on with offset %d", p.to+1)
	}
	if p.cut > 0 {
		text += fmt.Sprintf("; %s over %s characters, cut", count(p.cut, "line"), thousands(pageWidth))
	}
	return "[" + text + "]"
}

// thousands spells a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// pager reads a page of a text in chunks: it keeps the page and one chunk in memory,
// whatever the size of the text.
type pager struct {
	page
	last  int // the last line that is wanted
	room  int // bytes that the page may have
	line  int // the line that comes next, or is under way
	begun bool
	full  bool
	row   []byte // of a wanted line, what is shown of it so far
	width int    // bytes of that line
}

// readPage reads lines offset to offset+limit-1 of a text, as many as fit into room
// bytes, at least one. It reads the text to its end, to count its lines. The error is
// errBinary for a text with NUL bytes in it.
func readPage(r io.Reader, offset, limit, room int) (page, error) {
	p := pager{page: page{from: offset, to: offset - 1}, last: offset + limit - 1, room: room, line: 1}
	chunk := make([]byte, pageChunk)
	for {
		n, err := r.Read(chunk)
		if bytes.IndexByte(chunk[:n], 0) >= 0 {
			return p.page, errBinary
		}
		p.take(chunk[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return p.page, err
		}
	}
	if p.begun {
		p.end()
	}
	p.total = p.line - 1
	return p.page, nil
}

// take takes the next bytes of the text.
func (p *pager) take(b []byte) {
	for len(b) > 0 {
		if p.full || p.line > p.last {
			p.count(b)
			return
		}
		if p.line < p.from {
			b = p.skip(b)
			continue
		}
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			p.add(b)
			return
		}
		p.add(b[:i+1])
		p.end()
		b = b[i+1:]
	}
}

// count counts the lines of bytes that are not wanted.
func (p *pager) count(b []byte) {
	p.line += bytes.Count(b, []byte{'\n'})
	p.begun = b[len(b)-1] != '\n'
}

// skip passes over the lines before the page, and returns what is behind them.
func (p *pager) skip(b []byte) []byte {
	if n := bytes.Count(b, []byte{'\n'}); p.line+n < p.from {
		p.count(b)
		return nil
	}
	for p.line < p.from {
		i := bytes.IndexByte(b, '\n')
		b = b[i+1:]
		p.line++
	}
	p.begun = false
	return b
}

// add adds bytes to the line under way, as far as they are shown.
func (p *pager) add(b []byte) {
	p.begun = true
	p.width += len(b)
	if room := utf8.UTFMax*pageWidth + utf8.UTFMax - len(p.row); room > 0 {
		p.row = append(p.row, b[:min(room, len(b))]...)
	}
}

// end ends the line under way.
func (p *pager) end() {
	if !p.full && p.line >= p.from && p.line <= p.last {
		p.keep()
	}
	p.row, p.width, p.begun = p.row[:0], 0, false
	p.line++
}

// keep adds the line that has ended to the page, if there is room for it.
func (p *pager) keep() {
	line, cut := p.row, 0
	if len(line) > pageWidth {
		if shown := runes(line, pageWidth); len(bytes.TrimRight(line[shown:], "\r\n")) > 0 || p.width > len(line) {
			line = fmt.Appendf(bytes.Clone(line[:shown]), " [… line cut, %s bytes]\n", thousands(p.width))
			cut = 1
		}
	}
	if len(p.text) > 0 && len(p.text)+len(line) > p.room {
		p.full = true
		return
	}
	p.text = append(p.text, line...)
	p.to, p.cut = p.line, p.cut+cut
}

// runes returns how many bytes the first n characters of a text have.
func runes(b []byte, n int) (size int) {
	for ; n > 0 && size < len(b); n-- {
		_, w := utf8.DecodeRune(b[size:])
		size += w
	}
	return size
}

// shownText returns a text as a model reads it: without a byte order mark, and with a
// word about bytes that are no characters.
func shownText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return "[this file is not UTF-8: bytes that are no characters are shown as \ufffd and cannot be written that way]\n" +
		strings.ToValidUTF8(text, string(utf8.RuneError))
}
