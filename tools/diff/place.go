package diff

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// fit is a place where a hunk stands in one of its readings.
type fit struct {
	at     int        // the line of the file at which lines begin
	first  int        // the line at which the hunk itself begins
	lines  []hunkLine // the reading
	note   string     // what the reading forgives
	lo, hi int        // the lines that it changes
}

func newFit(at, dropped int, lines []hunkLine, note string) fit {
	f := fit{at: at, first: at - dropped, lines: lines, note: note, lo: -1}
	line := at
	for _, l := range lines {
		if l.op != ' ' && f.lo < 0 {
			f.lo = line
		}
		if l.op != '+' {
			line++
		}
		if l.op != ' ' {
			f.hi = line
		}
	}
	return f
}

// fits returns the places of a hunk: where its lines stand exactly, or but for
// trailing blanks, or else in the readings that forgive more. Places that lead to
// the same text are one.
func (s *source) fits(h *hunk) ([]fit, error) {
	forms := h.forms()
	if len(side(h.lines, '-')) == 0 {
		return s.insertion(h)
	}
	found := s.search(forms, s.texts, func(l string) string { return l }, "")
	if len(found) == 0 {
		found = s.search(forms, s.trimmedEnds(), trimEnd, "blanks at the ends of lines differed")
	}
	if len(found) == 0 {
		for _, form := range forms {
			found = append(found, s.lenient(h, form)...)
		}
	}
	return s.distinct(found), nil
}

// search returns where forms of a hunk stand in the lines of a file, both sides
// compared as norm makes them.
func (s *source) search(forms [][]hunkLine, file []string, norm func(string) string, note string) []fit {
	var out []fit
	for _, form := range forms {
		for _, at := range positions(file, each(side(form, '-'), norm)) {
			out = append(out, newFit(at, 0, form, note))
		}
	}
	return out
}

// positions returns where lines stand in file.
func positions(file, lines []string) []int {
	var out []int
	if len(lines) == 0 {
		return nil
	}
	key := 0 // the longest line is the rarest
	for i, l := range lines {
		if len(l) > len(lines[key]) {
			key = i
		}
	}
	for at := 0; at+len(lines) <= len(file); at++ {
		if file[at+key] == lines[key] && slices.Equal(file[at:at+len(lines)], lines) {
			out = append(out, at)
		}
	}
	return out
}

// outcome identifies the text that a fit leads to, whatever lines it shows.
type outcome struct {
	at, count int
	text      string
}

// outcome cuts off what stays the same, and moves what is only inserted or only
// deleted as far up as gives the same text.
func (s *source) outcome(f fit) outcome {
	n := len(side(f.lines, '-'))
	old := s.texts[f.at : f.at+n]
	now := s.kept(f)
	head := 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	old, now = old[head:], now[head:]
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	at := f.at + head
	switch {
	case len(old) == 0:
		now = slices.Clone(now)
		for n := len(now); at > 0 && n > 0 && s.texts[at-1] == now[n-1]; at-- {
			now = slices.Insert(now[:n-1], 0, s.texts[at-1])
		}
	case len(now) == 0:
		for at > 0 && s.texts[at-1] == s.texts[at+len(old)-1] {
			at--
		}
	}
	return outcome{at, len(old), strings.Join(now, "\n")}
}

// kept returns the lines that a fit makes of those it stands at.
func (s *source) kept(f fit) []string {
	var out []string
	at := f.at
	for _, l := range f.lines {
		switch l.op {
		case ' ':
			out = append(out, s.texts[at])
			at++
		case '-':
			at++
		case '+':
			out = append(out, l.text)
		}
	}
	return out
}

// distinct returns the fits, in order, without those that lead to the same text as an
// earlier one, or that read the hunk otherwise at the same place with more forgiven.
func (s *source) distinct(fits []fit) []fit {
	if len(fits) < 2 {
		return fits
	}
	const many = 64 // beyond it, it is too many places anyway
	seen := map[outcome]bool{}
	var out []fit
	for i, f := range fits {
		if i < many {
			o := s.outcome(f)
			if seen[o] {
				continue
			}
			seen[o] = true
		}
		stricter := func(o fit) bool { return o.first == f.first && o.note != f.note }
		if !slices.ContainsFunc(out[:min(len(out), many)], stricter) {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b fit) int { return a.lo - b.lo })
	return out
}

// choose picks one place for each hunk. Of several, the one that heading and line
// number agree on, or the only one by which all hunks are in order.
func (s *source) choose(hunks []hunk, places [][]fit) ([]fit, error) {
	several := -1
	for i := range hunks {
		if len(places[i]) > 1 {
			places[i] = s.narrow(hunks[i], places[i])
		}
		if len(places[i]) > 1 && several < 0 {
			several = i
		}
	}
	if several >= 0 {
		if chosen, ok := rising(places); ok {
			return chosen, nil
		}
		var at []int
		for _, f := range places[several] {
			at = append(at, f.at)
		}
		at = slices.Compact(at)
		if len(at) == 1 {
			return nil, fmt.Errorf("%s can be read in more than one way at line %d: an empty line in it has lost its sign (' ', '-' or '+'); nothing was applied", hunks[several].name(), at[0]+1)
		}
		return nil, fmt.Errorf("%s matches at lines %s; nothing was applied. Give more lines around the change, so that it matches once", hunks[several].name(), lineList(at))
	}
	chosen := make([]fit, len(places))
	for i := range places {
		chosen[i] = places[i][0]
	}
	return chosen, nil
}

// rising returns the only choice of places by which each hunk changes lines below
// those of the hunk before it; false when there is none or more than one.
func rising(places [][]fit) ([]fit, bool) {
	n := len(places)
	ways := make([][]int, n) // ways to place this and all later hunks, 2 for more
	for i := n - 1; i >= 0; i-- {
		ways[i] = make([]int, len(places[i]))
		var sums []int // of the next hunk's ways from an index on
		if i+1 < n {
			sums = make([]int, len(places[i+1])+1)
			for k := len(places[i+1]) - 1; k >= 0; k-- {
				sums[k] = min(2, sums[k+1]+ways[i+1][k])
			}
		}
		for k, f := range places[i] {
			ways[i][k] = 1
			if sums != nil {
				ways[i][k] = sums[after(places[i+1], f)]
			}
		}
	}
	total := 0
	for _, w := range ways[0] {
		total += w
	}
	if total != 1 {
		return nil, false
	}
	chosen := make([]fit, n)
	from := 0
	for i := range places {
		for k := from; k < len(places[i]); k++ {
			if ways[i][k] == 1 {
				chosen[i] = places[i][k]
				break
			}
		}
		if i+1 < n {
			from = after(places[i+1], chosen[i])
		}
	}
	return chosen, true
}

// after returns the index of the first fit that changes only lines below f's.
func after(fits []fit, f fit) int {
	return sort.Search(len(fits), func(k int) bool {
		return fits[k].lo > f.hi || fits[k].lo == f.hi && (f.lo < f.hi || fits[k].lo < fits[k].hi)
	})
}

// narrow keeps of several places the one that the hunk itself tells: by the end of
// the file that it says it reaches, or by its heading and its line number. A heading
// without a number counts alone if one place only is below it, in its block.
func (s *source) narrow(h hunk, fits []fit) []fit {
	open := h.atEnd
	for _, l := range h.lines {
		open = open || l.open
	}
	last := fits[len(fits)-1]
	if open && last.at+len(side(last.lines, '-')) == len(s.texts) {
		return []fit{last}
	}
	anchors := h.anchors
	if h.section != "" {
		anchors = append(slices.Clone(anchors), h.section)
	}
	if len(anchors) == 0 {
		return fits
	}
	var kept []fit
	for _, f := range fits {
		if s.encloses(anchors, f.at, f.at+len(side(f.lines, '-'))) {
			kept = append(kept, f)
		}
	}
	if len(kept) != 1 || h.oldStart >= 0 && kept[0].first != h.oldStart-1 {
		return fits
	}
	return kept
}

// encloses reports whether the lines [from, to) are in the blocks that anchors begin,
// the outermost first, or show the innermost themselves.
func (s *source) encloses(anchors []string, from, to int) bool {
	trims := s.trimmed()
	k := len(anchors) - 1
	for at := to - 1; at > from && k == len(anchors)-1; at-- {
		if trims[at] == anchors[k] {
			k--
		}
	}
	for from < to-1 && trims[from] == "" {
		from++
	}
	depth := indentOf(s.texts[from])
	closes := trims[from] != "" && strings.ContainsRune("})]", rune(trims[from][0]))
	for at := from; at >= 0 && k >= 0; at-- {
		if trims[at] == "" {
			continue
		}
		d := indentOf(s.texts[at])
		if at != from && d >= depth && (!closes || d != depth) {
			continue
		}
		if trims[at] == anchors[k] {
			k--
		}
		if at != from {
			depth, closes = d, false
		}
	}
	return k < 0
}

// indentOf returns how far a line is indented, a tab for eight.
func indentOf(s string) int {
	n := 0
	for _, r := range s {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// insertion places a hunk that shows no line of the file.
func (s *source) insertion(h *hunk) ([]fit, error) {
	place := func(at int) ([]fit, error) { return []fit{newFit(at, 0, h.lines, "")}, nil }
	if len(h.anchors) > 0 {
		var heads []int
		for i, l := range s.trimmed() {
			if l == h.anchors[len(h.anchors)-1] && s.encloses(h.anchors, i, i+1) {
				heads = append(heads, i)
			}
		}
		switch len(heads) {
		case 1:
			return place(heads[0] + 1)
		case 0:
			return nil, fmt.Errorf("%s shows no line of the file, and no whole line is %q; nothing was applied. Give the lines around the change", h.name(), shorten(h.anchors[len(h.anchors)-1], 80))
		}
		return nil, fmt.Errorf("%s: %q is in lines %s; nothing was applied. Give the lines around the change", h.name(), shorten(h.anchors[len(h.anchors)-1], 80), lineList(heads))
	}
	switch {
	case len(s.texts) == 0:
		return place(0)
	case h.atEnd, h.oldCount == 0 && h.oldStart == len(s.texts):
		return place(len(s.texts))
	}
	return nil, fmt.Errorf("%s shows no line of the file, so that it has no place: a number alone may be off; nothing was applied. Give the lines around the change", h.name())
}

// lineList formats line indexes, which start at 0, as line numbers in a sentence.
func lineList(at []int) string {
	const most = 5
	var parts []string
	for i, l := range at {
		if i == most {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(at)-most)
		}
		parts = append(parts, fmt.Sprint(l+1))
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}
