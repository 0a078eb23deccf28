package tools

import (
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/diff"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/aymanbagabas/go-udiff/lcs"
)

// splitAllLines is diff.Split where a lone \r ends a line as well, which is how a model
// reads it: it may write \n there without meaning to change it.
func splitAllLines(s string) []diff.Line {
	lines := diff.Split(s)
	if !strings.Contains(s, "\r") {
		return lines
	}
	out := make([]diff.Line, 0, len(lines))
	for _, l := range lines {
		for {
			before, behind, lone := strings.Cut(l.Text, "\r")
			if !lone {
				break
			}
			out = append(out, diff.Line{Text: before, EOL: "\r"})
			l.Text = behind
		}
		if l != (diff.Line{}) {
			out = append(out, l)
		}
	}
	return out
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
// byte order mark and the line endings of the file stay, and so does the end of the
// last line, unless its loss is all that differs.
func adopt(current, wanted string) string {
	mark := ""
	if strings.HasPrefix(current, workspace.ByteOrderMark) {
		mark, current = workspace.ByteOrderMark, current[len(workspace.ByteOrderMark):]
	}
	wanted = strings.TrimPrefix(wanted, workspace.ByteOrderMark)
	if current == "" || wanted == "" {
		return mark + wanted
	}
	old, lines := splitAllLines(current), splitAllLines(wanted)
	a, b := diff.Texts(old), diff.Texts(lines)
	changes := diffLines(a, b)
	out := make([]diff.Line, 0, len(lines))
	at := 0
	for _, c := range changes {
		out = append(out, old[at:c.start]...)
		eol := diff.Ending(old, c.start)
		for i, l := range lines[c.newStart:c.newEnd] {
			// A line that takes the place of another takes its ending.
			e := eol
			if o := c.start + i; o < c.end && old[o].EOL != "" {
				e = old[o].EOL
			} else if l.EOL == "\r" {
				e = l.EOL // nobody writes it by habit
			}
			out = append(out, diff.Line{Text: l.Text, EOL: e})
		}
		at = c.end
	}
	out = append(out, old[at:]...)
	last := lines[len(lines)-1].EOL
	if len(changes) > 0 && last == "" {
		last = old[len(old)-1].EOL
	}
	return mark + diff.Join(diff.Close(out, last))
}
