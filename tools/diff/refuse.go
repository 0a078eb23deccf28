package diff

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// refuse returns the refusal of a hunk.
func refuse(h hunk, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{h.name()}, args...)...)
}

// misfit returns the refusal of a hunk that fits nowhere. It names the line that
// differs, shows it and the file's with blanks and invisible characters visible, and
// says which cause it was.
func (s *source) misfit(h hunk) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s matches nowhere; nothing was applied.", h.name())
	if len(s.texts) == 0 {
		return &noPlace{b.String() + " The file is empty."}
	}
	line, want, at, found := s.differing(h)
	switch {
	case !found:
		fmt.Fprintf(&b, " No line of it is in the file. Its line %d is %s. Cause: %s.", line, visible(clipAt(want, 0)), causeAlone(want))
	case at >= len(s.texts):
		fmt.Fprintf(&b, " Its line %d is %s, but the file ends with line %d. Cause: another text.", line, visible(clipAt(want, 0)), len(s.texts))
	default:
		have := s.texts[at]
		from := firstDifference(want, have)
		fmt.Fprintf(&b, " Its line %d is %s, but line %d of the file is %s. Cause: %s.", line, visible(clipAt(want, from)), at+1, visible(clipAt(have, from)), cause(want, have))
	}
	b.WriteString(" Read the lines again and send them as they are.")
	return &noPlace{b.String()}
}

// differing returns the number, from 1, and text of the hunk's line that differs from
// the file's at the place where most of its lines are, and the index of that one.
func (s *source) differing(h hunk) (line int, want string, at int, found bool) {
	var old []string
	var numbers []int
	for i, l := range h.lines {
		if l.op != '+' {
			if foreign(l) && !slices.Contains(s.trimmed(), strings.TrimSpace(l.text)) {
				near, ok := s.likeliest(append(slices.Clone(old), l.text))
				return i + 1, l.text, near + len(old), ok && near+len(old) >= 0
			}
			old = append(old, l.text)
			numbers = append(numbers, i+1)
		}
	}
	start, found := s.likeliest(old)
	if !found {
		return numbers[0], old[0], 0, false
	}
	for k, l := range old {
		if start+k >= len(s.texts) || start+k >= 0 && trimEnd(s.texts[start+k]) != trimEnd(l) {
			return numbers[k], l, start + k, true
		}
	}
	return numbers[0], old[0], max(start, 0), true
}

var elision = regexp.MustCompile(`^(//|#|--|/\*|<!--)? *(\.\.\.|…)`)

// foreign reports a line of context that looks as if it were none of the file.
func foreign(l hunkLine) bool {
	return l.sign == unsigned || elision.MatchString(strings.TrimSpace(l.text))
}

// likeliest returns the line at which most of the lines stand in sequence, but for
// blanks around them, else the line that is most like the first of them.
func (s *source) likeliest(lines []string) (at int, found bool) {
	offsets := map[string][]int{}
	for k, w := range lines {
		if w = strings.TrimSpace(w); w != "" {
			offsets[w] = append(offsets[w], k)
		}
	}
	votes := map[int]int{}
	for i, l := range s.trimmed() {
		for _, k := range offsets[l] {
			votes[i-k]++
		}
	}
	most := 0
	for start, n := range votes {
		if n > most || n == most && start < at {
			at, most = start, n
		}
	}
	if most > 0 {
		return at, true
	}
	score := 0
	for k, l := range lines {
		first := skeleton(l)
		if first == "" {
			continue
		}
		for i, t := range s.skeletons() {
			if n := common(t, first); n > score && 2*n >= len(first) {
				at, score = i-k, n
			}
		}
		if score > 0 {
			break
		}
	}
	return at, score > 0
}

func (s *source) skeletons() []string {
	if s.bones == nil {
		s.bones = each(s.texts, skeleton)
	}
	return s.bones
}

// common is the length of the longer of the common start and end of two strings.
func common(a, b string) int {
	n := min(len(a), len(b))
	head, tail := 0, 0
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return max(head, tail)
}

// cause names the kind of difference between a hunk's line and the file's.
func cause(want, have string) string {
	switch {
	case !utf8.ValidString(have) || strings.ContainsRune(want, utf8.RuneError):
		return "encoding (the file has bytes that are not UTF-8, which no diff can show)"
	case strings.TrimSpace(want) == strings.TrimSpace(have) && strings.ContainsRune(indentText(want)+indentText(have), '\t'):
		return "tabs and spaces in the indentation"
	case strings.TrimSpace(want) == strings.TrimSpace(have):
		return "the indentation"
	case strings.Contains(have, "\r"):
		return "line ends (the file has a carriage return within the line)"
	case skeleton(want) == skeleton(have):
		return "encoding (invisible characters, or accents composed in another way)"
	case fold(want) == fold(have):
		return "quotes, dashes or blanks of another kind"
	case strings.EqualFold(want, have):
		return "upper and lower case"
	}
	return causeAlone(want)
}

func indentText(s string) string {
	indent, _ := split(s)
	return indent
}

// causeAlone names what a hunk's line shows by itself to be wrong with it.
func causeAlone(want string) string {
	t := strings.TrimSpace(want)
	switch {
	case strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~"):
		return "a fence within the diff"
	case strings.HasPrefix(t, "@@"):
		return "a malformed @@ line"
	case strings.HasPrefix(t, "*** ") || strings.HasPrefix(t, "--- ") || strings.HasPrefix(t, "+++ "):
		return "a header line within a hunk"
	case strings.Contains(t, "...") || strings.Contains(t, "…"):
		return "an elision; lines left out must be written out"
	case entity.MatchString(t):
		return "HTML escapes"
	case strings.ContainsRune(t, utf8.RuneError):
		return "encoding"
	}
	return "another text, or prose in the diff"
}

// skeleton returns a line without what cannot be seen in it: invisible characters,
// accents, and blanks around it.
func skeleton(s string) string {
	if ascii(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return strings.TrimSpace(s)
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Cc) && r != '\t':
			return -1
		case r >= 0xc0 && r < 0x250:
			return base(r)
		}
		return r
	}, s))
}

// bases are the letters U+00C0 to U+017F without their accents.
var bases = []rune("AAAAAAACEEEEIIIIDNOOOOO×OUUUUYÞßaaaaaaaceeeeiiiidnooooo÷ouuuuyþyAaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs")

func base(r rune) rune {
	if i := int(r - 0xc0); i < len(bases) {
		return bases[i]
	}
	return r
}

// firstDifference returns the byte at which two texts begin to differ.
func firstDifference(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && a[n]&0xc0 == 0x80 {
		n--
	}
	return n
}

// clipAt shortens a line to what stands around a byte of it.
func clipAt(s string, at int) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	from := max(0, min(at-20, len(s)-most))
	for from > 0 && s[from]&0xc0 == 0x80 {
		from--
	}
	out := shorten(s[from:], most)
	if from > 0 {
		out = "…" + out
	}
	return out
}

// visible quotes a line with its blanks, tabs and invisible characters to be seen. What
// would be over 130 bytes is cut.
func visible(s string) string {
	const most = 130
	var b strings.Builder
	b.WriteByte('"')
	for len(s) > 0 {
		if b.Len() > most-12 {
			b.WriteString("…")
			break
		}
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<%02X>", s[0])
		case r == ' ':
			b.WriteString("·")
		case r == '\t':
			b.WriteString("→")
		case r == utf8.RuneError || r != ' ' && (unicode.IsSpace(r) || !unicode.IsPrint(r)) || unicode.In(r, unicode.Mn, unicode.Cf):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	b.WriteByte('"')
	return b.String()
}
