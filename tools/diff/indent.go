package diff

import "strings"

// indented returns where a form stands when one mapping of indentation makes all its
// lines those of the file: tabs for a number of spaces or back, or a constant more or
// less. The lines that it adds are mapped likewise.
func (s *source) indented(form []hunkLine) []fit {
	old := side(form, '-')
	var out []fit
	for _, at := range positions(s.trimmed(), each(old, strings.TrimSpace)) {
		m, ok := mapping(old, s.texts[at:at+len(old)])
		if !ok {
			continue
		}
		lines, ok := m.lines(form)
		if ok {
			out = append(out, newFit(at, 0, lines, m.note()))
		}
	}
	return out
}

// indentation maps how a diff indents to how the file does.
type indentation struct {
	tabs   int    // spaces that are a tab in the file
	spaces int    // spaces that are in the file for a tab
	more   string // what the file has before the diff's
	less   string // what the diff has before the file's
}

func (m indentation) note() string {
	switch {
	case m.tabs > 0:
		return "it was indented by spaces where the file has tabs"
	case m.spaces > 0:
		return "it was indented by tabs where the file has spaces"
	}
	return "it was indented by a constant more or less than the file"
}

// split cuts a line into its indentation and the rest.
func split(s string) (indent, rest string) {
	rest = strings.TrimLeft(s, " \t")
	return s[:len(s)-len(rest)], rest
}

// mapping finds the one mapping that makes lines of a diff those of a file, which are
// the same but for blanks around them.
func mapping(diff, file []string) (indentation, bool) {
	var candidates []indentation
	for k, d := range diff {
		if blank(d) {
			continue
		}
		from, _ := split(d)
		to, _ := split(file[k])
		if from == to {
			continue
		}
		candidates = candidatesFor(from, to)
		break
	}
next:
	for _, m := range candidates {
		for k, d := range diff {
			if blank(d) {
				continue
			}
			from, _ := split(d)
			to, _ := split(file[k])
			if got, ok := m.apply(from); !ok || got != to {
				continue next
			}
		}
		return m, true
	}
	return indentation{}, false
}

// candidatesFor returns the mappings that make one indentation of another.
func candidatesFor(from, to string) []indentation {
	var out []indentation
	for n := 1; n <= 8; n++ {
		for _, m := range []indentation{{tabs: n}, {spaces: n}} {
			if got, ok := m.apply(from); ok && got == to {
				out = append(out, m)
			}
		}
	}
	if more, ok := strings.CutSuffix(to, from); ok {
		out = append(out, indentation{more: more})
	}
	if less, ok := strings.CutSuffix(from, to); ok {
		out = append(out, indentation{less: less})
	}
	return out
}

// apply maps an indentation; false when it has none by this mapping.
func (m indentation) apply(indent string) (string, bool) {
	switch {
	case m.tabs > 0:
		n := len(indent) - len(strings.TrimLeft(indent, " "))
		if n < len(indent) {
			return "", false
		}
		return strings.Repeat("\t", n/m.tabs) + strings.Repeat(" ", n%m.tabs), true
	case m.spaces > 0:
		rest := strings.TrimLeft(indent, "\t")
		if strings.Contains(rest, "\t") {
			return "", false
		}
		return strings.Repeat(" ", m.spaces*(len(indent)-len(rest))) + rest, true
	case m.less != "":
		return strings.CutPrefix(indent, m.less)
	}
	return m.more + indent, true
}

// lines returns a form with its added lines mapped; false when one cannot be.
func (m indentation) lines(form []hunkLine) ([]hunkLine, bool) {
	ok := true
	out := mapped(form, func(l hunkLine) string {
		if l.op != '+' || blank(l.text) {
			return l.text
		}
		indent, rest := split(l.text)
		if m.tabs > 0 && strings.HasPrefix(indent, "\t") {
			return l.text // this line has the file's own already
		}
		to, fits := m.apply(indent)
		ok = ok && fits
		return to + rest
	})
	return out, ok
}
