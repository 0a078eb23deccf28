package tools

import (
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/aymanbagabas/go-udiff/lcs"
)

// line is one line of a file: what stands in it and what ends it. Only the last
// line of a file has no ending, and then it has text.
type line struct{ text, eol string }

// splitLines cuts a text into lines. Lines end with \n or \r\n; a lone \r is text.
func splitLines(s string) []line {
	if s == "" {
		return nil
	}
	out := make([]line, 0, strings.Count(s, "\n")+1)
	for len(s) > 0 {
		i := strings.IndexByte(s, '\n')
		switch {
		case i < 0:
			return append(out, line{text: s})
		case i > 0 && s[i-1] == '\r':
			out = append(out, line{s[:i-1], s[i-1 : i+1]})
		default:
			out = append(out, line{s[:i], s[i : i+1]})
		}
		s = s[i+1:]
	}
	return out
}

// joinLines is the inverse of splitLines.
func joinLines(lines []line) string {
	n := 0
	for _, l := range lines {
		n += len(l.text) + len(l.eol)
	}
	var b strings.Builder
	b.Grow(n)
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteString(l.eol)
	}
	return b.String()
}

// texts are the lines without what ends them.
func texts(lines []line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.text
	}
	return out
}

// ending answers what a line put before lines[at] should end with: what the line
// above ends with, else the line below, else a bare \n.
func ending(lines []line, at int) string {
	for i := min(at, len(lines)) - 1; i >= 0; i-- {
		if lines[i].eol != "" {
			return lines[i].eol
		}
	}
	for _, l := range lines[min(at, len(lines)):] {
		if l.eol != "" {
			return l.eol
		}
	}
	return "\n"
}

// change replaces the lines [start, end) of one text by the lines
// [newStart, newEnd) of another.
type change struct{ start, end, newStart, newEnd int }

// diffLines says how to make the lines of b of those of a. The changes are in
// order and do not touch each other.
func diffLines(a, b []string) []change {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	ma, mb := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(ma) == 0 && len(mb) == 0 {
		return nil
	}
	var out []change
	if len(ma) == 0 || len(mb) == 0 {
		out = []change{{head, head + len(ma), head, head + len(mb)}}
		return out
	}
	for _, d := range lcs.DiffLines(ma, mb) {
		c := change{d.Start + head, d.End + head, d.ReplStart + head, d.ReplEnd + head}
		if n := len(out); n > 0 && out[n-1].end == c.start && out[n-1].newEnd == c.newStart {
			out[n-1].end, out[n-1].newEnd = c.end, c.newEnd
			continue
		}
		out = append(out, c)
	}
	return out
}

// differing cuts whole lines that two texts begin with in common off both.
func differing(a, b string) (string, string) {
	n := min(len(a), len(b))
	const step = 4096
	at := 0
	for at+step <= n && a[at:at+step] == b[at:at+step] {
		at += step
	}
	for at < n && a[at] == b[at] {
		at++
	}
	at = strings.LastIndexByte(a[:at], '\n') + 1
	return a[at:], b[at:]
}

// adopt makes the text that a file holding current has when a model wants it to
// hold wanted, which it wrote without regard to bytes that it does not see: the
// byte order mark and the line endings of the file stay, and so does whether the
// last line is ended, unless that is all that differs.
func adopt(current, wanted string) string {
	mark := ""
	if strings.HasPrefix(current, workspace.ByteOrderMark) {
		mark, current = workspace.ByteOrderMark, current[len(workspace.ByteOrderMark):]
	}
	wanted = strings.TrimPrefix(wanted, workspace.ByteOrderMark)
	if current == "" || wanted == "" {
		return mark + wanted
	}
	old, lines := splitLines(current), splitLines(wanted)
	a, b := texts(old), texts(lines)
	changes := diffLines(a, b)
	out := make([]line, 0, len(lines))
	at := 0
	for _, c := range changes {
		out = append(out, old[at:c.start]...)
		eol := ending(old, c.start)
		for i, l := range lines[c.newStart:c.newEnd] {
			// A line that takes the place of another takes its ending.
			e := eol
			if o := c.start + i; o < c.end && old[o].eol != "" {
				e = old[o].eol
			}
			out = append(out, line{l.text, e})
		}
		at = c.end
	}
	out = append(out, old[at:]...)
	last := lines[len(lines)-1].eol
	if len(changes) > 0 {
		last = old[len(old)-1].eol
	}
	return mark + joinLines(closeLines(out, last))
}

// closeLines gives every line but the last an ending, and the last one an ending
// exactly when last is not empty.
func closeLines(lines []line, last string) []line {
	for i := range lines {
		final := i == len(lines)-1
		switch {
		case final && last == "":
			lines[i].eol = ""
			if lines[i].text == "" {
				// An empty line without an ending is no line.
				return lines[:i]
			}
		case lines[i].eol == "":
			lines[i].eol = ending(lines, i)
		}
	}
	return lines
}
