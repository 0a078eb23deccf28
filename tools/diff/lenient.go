package diff

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// lenient returns where a form of a hunk stands in the readings that forgive a kind of
// malformation each. Trailing blanks never count in them.
func (s *source) lenient(h *hunk, form []hunkLine) []fit {
	var out []fit
	add := func(lines []hunkLine, dropped int, note string) {
		for _, at := range positions(s.trimmedEnds(), each(side(lines, '-'), trimEnd)) {
			out = append(out, newFit(at, dropped, lines, note))
		}
	}
	if lines, ok := raws(form); ok {
		add(lines, 0, "the context lines had lost their space")
	}
	for _, e := range edges(form) {
		add(e.lines, e.dropped, "it showed an empty line too many at an edge")
	}
	out = append(out, s.typographic(form)...)
	out = append(out, s.indented(form)...)
	if lines, ok := unlisted(form); ok {
		add(lines, 0, "line numbers stood before its lines")
	}
	for _, e := range escapes {
		if lines, ok := e.undo(form); ok {
			add(lines, 0, e.note)
		}
	}
	if lines, ok := untailed(form); ok && h.oldCount < 0 {
		add(lines, 0, "other text stood behind it")
	}
	return out
}

// mapped returns lines with other texts.
func mapped(lines []hunkLine, f func(hunkLine) string) []hunkLine {
	out := slices.Clone(lines)
	for i := range out {
		out[i].text = f(out[i])
	}
	return out
}

// raws returns the lines with context as the diff has it, first blank included; false
// when that is the same.
func raws(form []hunkLine) ([]hunkLine, bool) {
	lines := mapped(form, func(l hunkLine) string {
		if l.op != ' ' {
			return l.text
		}
		return l.raw()
	})
	return lines, !slices.Equal(lines, form)
}

// edge is a hunk without an empty line of context at its first or last line.
type edge struct {
	lines   []hunkLine
	dropped int // lines before it
}

func edges(form []hunkLine) []edge {
	n := len(form)
	is := func(i int) bool { return n > 1 && form[i].op == ' ' && blank(form[i].text) }
	var out []edge
	if n < 2 {
		return nil
	}
	if is(0) {
		out = append(out, edge{form[1:], 1})
	}
	if is(n - 1) {
		out = append(out, edge{form[:n-1], 0})
	}
	if n > 2 && is(0) && is(n-1) {
		out = append(out, edge{form[1 : n-1], 1})
	}
	return slices.DeleteFunc(out, func(e edge) bool { return len(side(e.lines, '-')) == 0 })
}

// untailed returns the lines up to the last one that has a sign.
func untailed(form []hunkLine) ([]hunkLine, bool) {
	n := len(form)
	words := false
	for n > 0 && form[n-1].sign != signed {
		n--
		words = words || form[n].sign == unsigned
	}
	return form[:n], words && n > 0
}

var plain = strings.NewReplacer(
	"“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`, "″", `"`,
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "′", "'",
	"‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "―", "-", "−", "-",
	"\u00a0", " ", "\u2007", " ", "\u202f", " ", "\u2009", " ", "\u3000", " ",
)

// fold returns a line with plain quotes, dashes and blanks, and without blanks at its
// end.
func fold(s string) string {
	if !ascii(s) {
		s = plain.Replace(s)
	}
	return trimEnd(s)
}

// ascii reports a line without any character beyond ASCII.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// typographic returns where a form stands when quotes, dashes and blanks of another
// kind are the same in context lines. What is deleted must be as it is.
func (s *source) typographic(form []hunkLine) []fit {
	var out []fit
	old := slices.DeleteFunc(slices.Clone(form), func(l hunkLine) bool { return l.op == '+' })
next:
	for _, at := range positions(s.folded(), each(side(form, '-'), fold)) {
		for k, l := range old {
			if l.op == '-' && trimEnd(l.text) != s.trimmedEnds()[at+k] {
				continue next
			}
		}
		out = append(out, newFit(at, 0, form, "quotes, dashes or blanks of another kind stood in context lines"))
	}
	return out
}

var listing = regexp.MustCompile(`^ *\d+(?:\t| ?[|│→:] ?)`)

// unlisted returns the lines without the line numbers that a listing shows before
// each.
func unlisted(form []hunkLine) ([]hunkLine, bool) {
	found := false
	for _, l := range form {
		if l.sign == bare || blank(l.text) {
			continue
		}
		if !listing.MatchString(l.text) {
			return nil, false
		}
		found = true
	}
	return mapped(form, func(l hunkLine) string { return listing.ReplaceAllString(l.text, "") }), found
}

// escapes are ways in which a whole diff was escaped once too often.
var escapes = []escape{
	{regexp.MustCompile(`&(?:amp|lt|gt|quot|apos|#39|#34|nbsp);`), html.UnescapeString, "<, > and & were written as in HTML"},
	{regexp.MustCompile(`\\["']`), strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace, "quotes had a backslash before them"},
}

type escape struct {
	form     *regexp.Regexp
	unescape func(string) string
	note     string
}

// undo returns the lines unescaped if lines that the file must have are escaped.
func (e escape) undo(form []hunkLine) ([]hunkLine, bool) {
	if !slices.ContainsFunc(form, func(l hunkLine) bool { return l.op != '+' && e.form.MatchString(l.text) }) {
		return nil, false
	}
	return mapped(form, func(l hunkLine) string { return e.unescape(l.text) }), true
}

var (
	entity   = regexp.MustCompile(`&(?:amp|lt|gt);`)
	markup   = regexp.MustCompile(`&[a-z]+;|</?[A-Za-z][^<>]*>`)
	inQuotes = regexp.MustCompile("\"[^\"]*\"|'[^']*'|`[^`]*`")
)

// escapedCode refuses hunks that add HTML's spelling of <, > or & as code to a text
// without any markup: what was meant cannot be told, and the code would not compile.
func escapedCode(text string, hunks []hunk) error {
	checked := false
	for _, h := range hunks {
		for _, l := range h.lines {
			if l.op != '+' || !entity.MatchString(inQuotes.ReplaceAllString(l.text, "")) {
				continue
			}
			if slices.ContainsFunc(h.lines, func(o hunkLine) bool { return o.op != '+' && entity.MatchString(o.text) }) {
				continue // escaped throughout, or markup
			}
			if !checked && markup.MatchString(text) {
				return nil
			}
			checked = true
			return refuse(h, "it adds %s, with HTML's spelling of <, > or & in a file that has none; nothing was applied. Cause: HTML escapes. Send the characters themselves; where the escapes are meant, use the tool write", visible(shorten(l.text, 120)))
		}
	}
	return nil
}
