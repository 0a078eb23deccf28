package diff

import (
	"slices"
	"strings"
	"unicode"
)

// applied reports whether the file shows what a hunk that fits nowhere would leave:
// with context on both sides, in one place, and nothing left of what it deletes.
func (s *source) applied(h hunk) bool {
	for _, form := range h.forms() {
		if s.appliedAs(form) {
			return true
		}
	}
	return false
}

func (s *source) appliedAs(form []hunkLine) bool {
	n := len(form)
	if n < 3 || form[0].op != ' ' || form[n-1].op != ' ' || len(positions(s.texts, side(form, '+'))) != 1 {
		return false
	}
	telling := func(l hunkLine) bool {
		return strings.ContainsFunc(l.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	}
	if !slices.ContainsFunc(form, func(l hunkLine) bool { return l.op != '-' && telling(l) }) {
		return false
	}
	for i := 0; i < n; i++ {
		var gone []string
		tells := false
		for ; i < n && form[i].op == '-'; i++ {
			gone = append(gone, form[i].text)
			tells = tells || telling(form[i])
		}
		if tells && len(positions(s.texts, gone)) > 0 {
			return false
		}
	}
	return true
}
