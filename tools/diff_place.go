package tools

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// errApplied says that a file already is what a diff would make of it.
var errApplied = errors.New("the patch is already applied")

// splice replaces count lines at a place of the file by others.
type splice struct {
	at, count int
	lines     []string
	hunk      int // index
	// seq orders splices of one hunk at one place.
	seq int
}

// applyDiff makes the text that a file has after all hunks of a diff, each placed
// by the lines that it shows, wherever its numbers say it stands. All hunks or
// none: one that fits nowhere, or in more than one place, is an error that names
// it and the nearest lines. Every byte that no hunk names stays as it is.
func applyDiff(text string, d fileDiff) (string, error) {
	mark := ""
	if strings.HasPrefix(text, workspace.ByteOrderMark) {
		mark, text = workspace.ByteOrderMark, text[len(workspace.ByteOrderMark):]
	}
	lines := splitLines(text)
	file := texts(lines)
	var all []splice
	applied := 0
	var failed error
	last := lastLine{}
	for i, h := range d.hunks {
		if i == 0 && mark != "" && len(h.lines) > 0 {
			h.lines = slices.Clone(h.lines)
			for k := range h.lines {
				h.lines[k].text = strings.TrimPrefix(h.lines[k].text, workspace.ByteOrderMark)
			}
		}
		at, err := place(file, &h)
		if errors.Is(err, errApplied) {
			applied++
			if failed == nil {
				failed = fmt.Errorf("%s is already in the file and another one is not; nothing was applied", h.name())
			}
			continue
		}
		if err != nil {
			return "", err
		}
		all = append(all, splices(h, at, i)...)
		last.note(h, at, len(file))
	}
	if applied == len(d.hunks) {
		return "", errApplied
	}
	if failed != nil {
		return "", failed
	}
	out, err := spliceLines(lines, all, d.hunks)
	if err != nil {
		return "", err
	}
	return mark + joinLines(closeLines(out, last.ending(lines))), nil
}

// splices are the changes of a hunk that stands at a line of the file.
func splices(h hunk, at, index int) []splice {
	var out []splice
	var cur *splice
	for _, l := range h.lines {
		if l.op == ' ' {
			cur = nil
			at++
			continue
		}
		if cur == nil {
			out = append(out, splice{at: at, hunk: index, seq: len(out)})
			cur = &out[len(out)-1]
		}
		if l.op == '-' {
			cur.count++
			at++
		} else {
			cur.lines = append(cur.lines, l.text)
		}
	}
	return out
}

// spliceLines makes all changes; two hunks may show the same lines but not change
// the same.
func spliceLines(lines []line, all []splice, hunks []hunk) ([]line, error) {
	slices.SortStableFunc(all, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.at+a.count, b.at+b.count), cmp.Compare(a.hunk, b.hunk), cmp.Compare(a.seq, b.seq))
	})
	out := make([]line, 0, len(lines))
	at := 0
	for i, s := range all {
		if i > 0 {
			b := all[i-1]
			if s.at < at || b.hunk != s.hunk && b.at == s.at && b.count == 0 && s.count == 0 {
				return nil, fmt.Errorf("%s and %s change the same lines; nothing was applied", hunks[b.hunk].name(), hunks[s.hunk].name())
			}
		}
		out = append(out, lines[at:s.at]...)
		eol := ending(lines, s.at)
		for k, text := range s.lines {
			e := eol
			if k < s.count && lines[s.at+k].eol != "" {
				e = lines[s.at+k].eol
			}
			out = append(out, line{text, e})
		}
		at = s.at + s.count
	}
	return append(out, lines[at:]...), nil
}

// lastLine collects what the hunks say of how the last line ends.
type lastLine struct{ openOld, openNew, reaches bool }

func (l *lastLine) note(h hunk, at, total int) {
	if at+len(h.side('-')) != total {
		return
	}
	l.reaches = true
	for _, hl := range h.lines {
		if hl.open {
			l.openOld = l.openOld || hl.op != '+'
			l.openNew = l.openNew || hl.op != '-'
		}
	}
}

// ending answers "" when the new last line has none, and something otherwise.
func (l *lastLine) ending(lines []line) string {
	was := "\n"
	if n := len(lines); n > 0 {
		was = lines[n-1].eol
	}
	switch {
	case l.reaches && l.openNew:
		return ""
	case l.reaches && l.openOld:
		return ending(lines, len(lines))
	}
	return was
}

// place finds the one place of the file where a hunk stands. It may take empty
// lines from the end of the hunk that turn out to be none of it.
func place(file []string, h *hunk) (int, error) {
	heads, err := anchored(file, h)
	if err != nil {
		return 0, err
	}
	old := h.side('-')
	if len(old) == 0 {
		return placeInsert(file, h, heads)
	}
	from := 0
	if len(heads) > 0 {
		from = heads[0]
	}
	found := search(file, old, from)
	if len(found) == 0 {
		if n := len(h.lines); n > 1 && h.lines[n-1].bare {
			shorter := *h
			shorter.lines = h.lines[:n-1]
			if at, err := place(file, &shorter); err == nil {
				*h = shorter
				return at, nil
			}
		}
		if isApplied(file, h, from) {
			return 0, errApplied
		}
		return 0, fmt.Errorf("%s matches nowhere; nothing was applied. %s", h.name(), nearest(file, old))
	}
	if len(found) > 1 {
		found = narrow(file, h, heads, found, len(old))
	}
	if len(found) > 1 {
		return 0, fmt.Errorf("%s matches at lines %s; nothing was applied. Give more lines around the change, so that it matches once. The first is:\n%s",
			h.name(), lineList(found), numbered(file, found[0]-around, found[0]+len(old)+around))
	}
	return found[0], nil
}

// isApplied reports whether the file shows, in one place, what the hunk would
// leave there.
func isApplied(file []string, h *hunk, from int) bool {
	now := h.side('+')
	telling := false
	for _, l := range h.lines {
		if l.op != '-' && strings.ContainsFunc(l.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			telling = true
		}
	}
	return telling && len(search(file, now, from)) == 1
}

// placeInsert places a hunk that shows no line of the file.
func placeInsert(file []string, h *hunk, heads []int) (int, error) {
	switch {
	case len(heads) == 1:
		return heads[0] + 1, nil
	case len(heads) > 1:
		return 0, fmt.Errorf("%s: %q is in lines %s; nothing was applied. Give the lines around the change", h.name(), h.anchors[len(h.anchors)-1], lineList(heads))
	case len(file) == 0:
		return 0, nil
	case h.atEnd:
		return len(file), nil
	case h.oldStart >= 0 && h.oldCount == 0 && h.oldStart <= len(file):
		return h.oldStart, nil
	}
	return 0, fmt.Errorf("%s shows no line of the file, so that it has no place; nothing was applied. Give the lines around the change", h.name())
}

// anchored answers the lines that the hunk's last anchor names, each anchor
// looked for below the one before; none when the hunk has no anchors.
func anchored(file []string, h *hunk) ([]int, error) {
	var heads []int
	from := 0
	for _, a := range h.anchors {
		heads = anchorLines(file[from:], a)
		if len(heads) == 0 {
			return nil, fmt.Errorf("%s: no line of the file is %q; nothing was applied. %s", h.name(), a, nearest(file, []string{a}))
		}
		for i := range heads {
			heads[i] += from
		}
		from = heads[0] + 1
	}
	return heads, nil
}

// anchorLines finds the lines that an anchor names: those that are it, else those
// that start with it, else those that hold it.
func anchorLines(file []string, anchor string) []int {
	for _, match := range []func(string) bool{
		func(s string) bool { return s == anchor },
		func(s string) bool { return strings.HasPrefix(s, anchor) },
		func(s string) bool { return strings.Contains(s, anchor) },
	} {
		var found []int
		for i, l := range file {
			if match(strings.TrimSpace(l)) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// search finds where lines stand in file, from a line on: exactly, or, when they
// stand nowhere exactly, but for space at the ends of lines.
func search(file, lines []string, from int) []int {
	if found := searchBy(file, lines, from, func(a, b string) bool { return a == b }); len(found) > 0 {
		return found
	}
	return searchBy(file, lines, from, func(a, b string) bool { return trimEnd(a) == trimEnd(b) })
}

func trimEnd(s string) string { return strings.TrimRight(s, " \t\r") }

func searchBy(file, lines []string, from int, same func(a, b string) bool) []int {
	var found []int
next:
	for at := from; at+len(lines) <= len(file); at++ {
		for k, l := range lines {
			if !same(file[at+k], l) {
				continue next
			}
		}
		found = append(found, at)
	}
	return found
}

// narrow keeps of several places those that the hunk itself tells apart: by its
// reaching the end of the file, or by the line that its header names, below which
// it is the first.
func narrow(file []string, h *hunk, heads, found []int, n int) []int {
	open := h.atEnd
	for _, l := range h.lines {
		open = open || l.open
	}
	if last := found[len(found)-1]; open && last+n == len(file) {
		return []int{last}
	}
	if len(heads) == 0 && h.section != "" {
		heads = anchorLines(file, h.section)
	}
	var kept []int
	for i, at := range found {
		low := 0
		if i > 0 {
			low = found[i-1] + 1
		}
		if slices.ContainsFunc(heads, func(l int) bool { return l >= low && l <= at }) {
			kept = append(kept, at)
		}
	}
	if len(kept) == 1 {
		return kept
	}
	return found
}
