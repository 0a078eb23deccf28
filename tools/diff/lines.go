package diff

import "strings"

// ByteOrderMark is what some editors put before the text of a UTF-8 file.
const ByteOrderMark = "\ufeff"

// Line is one line of a text and what ends it. Only the last line of a text has no
// ending, and then it has text.
type Line struct{ Text, EOL string }

// Split cuts a text into lines. Lines end with \n or \r\n; a lone \r is text.
func Split(s string) []Line {
	if s == "" {
		return nil
	}
	out := make([]Line, 0, strings.Count(s, "\n")+1)
	for len(s) > 0 {
		i := strings.IndexByte(s, '\n')
		switch {
		case i < 0:
			return append(out, Line{Text: s})
		case i > 0 && s[i-1] == '\r':
			out = append(out, Line{s[:i-1], s[i-1 : i+1]})
		default:
			out = append(out, Line{s[:i], s[i : i+1]})
		}
		s = s[i+1:]
	}
	return out
}

// Join is the inverse of Split.
func Join(lines []Line) string {
	n := 0
	for _, l := range lines {
		n += len(l.Text) + len(l.EOL)
	}
	var b strings.Builder
	b.Grow(n)
	for _, l := range lines {
		b.WriteString(l.Text)
		b.WriteString(l.EOL)
	}
	return b.String()
}

// Texts returns the lines without what ends them.
func Texts(lines []Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out
}

// Ending returns what a line put before lines[at] should end with: what the line
// above ends with, else the line below, else a bare \n. A lone \r, which Split makes
// no ending of but a caller may, counts only where nothing else ends a line.
func Ending(lines []Line, at int) string {
	lone := "\n"
	at = min(at, len(lines))
	for i := range lines {
		l := lines[i]
		if i < at {
			l = lines[at-1-i] // upwards from the place, then down
		}
		switch l.EOL {
		case "":
		case "\r":
			lone = l.EOL
		default:
			return l.EOL
		}
	}
	return lone
}

// Close gives every line but the last an ending, and the last one an ending exactly
// when last is not empty.
func Close(lines []Line, last string) []Line {
	for i := range lines {
		final := i == len(lines)-1
		switch {
		case final && last == "":
			lines[i].EOL = ""
			if lines[i].Text == "" {
				// An empty line without an ending is no line.
				return lines[:i]
			}
		case lines[i].EOL == "":
			lines[i].EOL = Ending(lines, i)
		}
	}
	return lines
}
