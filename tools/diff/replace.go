package diff

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Replace puts a new text in place of an old one, which stands in the text exactly
// once; with all, in place of every one. Lines of an old text that is not in the text
// are placed as those of a hunk are. It returns the number of places, and what was
// forgiven. Line ends are the text's own.
func Replace(text, old, now string, all bool) (after string, places int, notes []string, err error) {
	switch old {
	case "":
		return "", 0, nil, errors.New("the old text is empty, so that it has no place; the tool write makes a file or a whole new text")
	case now:
		return "", 0, nil, errors.New("the old text and the new one are the same; nothing was changed")
	}
	crlf := strings.Contains(text, "\r\n")
	flat := text
	if crlf {
		flat = strings.ReplaceAll(text, "\r\n", "\n")
	}
	old, now = strings.ReplaceAll(old, "\r\n", "\n"), strings.ReplaceAll(now, "\r\n", "\n")
	found := occurrences(flat, old)
	switch {
	case len(found) == 1 || all && len(found) > 1:
		places = 1
		if all {
			places = strings.Count(flat, old)
		}
		after = strings.ReplaceAll(flat, old, now)
		if crlf {
			after = endings(text, flat, old, now)
		}
		return after, places, nil, nil
	case len(found) > 1:
		var at []int
		for _, i := range found {
			at = append(at, strings.Count(flat[:i], "\n"))
		}
		return "", 0, nil, fmt.Errorf("the old text matches at lines %s; nothing was changed. Give more lines around it, so that it matches once, or set all", lineList(slices.Compact(at)))
	}
	return replaceLines(text, old, now, all)
}

// occurrences returns where old begins in text, also where one overlaps another.
func occurrences(text, old string) []int {
	var out []int
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return out
		}
		out = append(out, from+i)
		from += i + 1
	}
}

// endings replaces old by now in a text with \r\n, of which flat is the form without
// \r: each new line ends as the line does in which its place begins.
func endings(text, flat, old, now string) string {
	var b strings.Builder
	lines := Split(text)
	at, pos, line := 0, 0, 0  // in text, in flat, of lines
	skip := func(n int) int { // the end in text of n bytes of flat from at on
		end := at
		for ; n > 0; n-- {
			if text[end] == '\r' && end+1 < len(text) && text[end+1] == '\n' {
				end++
			}
			end++
		}
		return end
	}
	for {
		i := strings.Index(flat[pos:], old)
		if i < 0 {
			b.WriteString(text[at:])
			return b.String()
		}
		to := skip(i)
		b.WriteString(text[at:to])
		line += strings.Count(text[at:to], "\n")
		at = to
		b.WriteString(strings.ReplaceAll(now, "\n", Ending(lines, line+1)))
		to = skip(len(old))
		line += strings.Count(text[at:to], "\n")
		at = to
		pos += i + len(old)
	}
}

// replaceLines places an old text by its lines.
func replaceLines(text, old, now string, all bool) (string, int, []string, error) {
	mark := ""
	if strings.HasPrefix(text, ByteOrderMark) {
		mark, text = ByteOrderMark, text[len(ByteOrderMark):]
	}
	src := newSource(text)
	h := hunk{oldStart: -1, oldCount: -1, newCount: -1, lines: pair(Texts(Split(old)), Texts(Split(now)))}
	fits, err := src.fits(&h)
	if err != nil {
		return "", 0, nil, err
	}
	switch {
	case len(fits) == 0 && src.applied(h):
		return "", 0, nil, ErrApplied
	case len(fits) == 0:
		return "", 0, nil, errors.New("the old text " + strings.TrimPrefix(src.misfit(h).Error(), h.name()+" "))
	case len(fits) > 1 && !all:
		var at []int
		for _, f := range fits {
			at = append(at, f.at)
		}
		return "", 0, nil, fmt.Errorf("the old text matches at lines %s; nothing was changed. Give more lines around it, so that it matches once, or set all", lineList(at))
	}
	hunks := make([]hunk, len(fits))
	var notes []string
	for i, f := range fits {
		hunks[i] = h
		hunks[i].number = i + 1
		notes = append(notes, f.note)
	}
	after, err := src.change(hunks, fits)
	return mark + after, len(fits), compact(notes), err
}
