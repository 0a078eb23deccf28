package diff

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrApplied says that a text already is what a patch would make of it.
var ErrApplied = errors.New("the patch is already applied")

// errNoPlace is a hunk that fits nowhere.
var errNoPlace = errors.New("matches nowhere")

// noPlace is the refusal of a hunk that fits nowhere.
type noPlace struct{ text string }

func (e *noPlace) Error() string        { return e.text }
func (e *noPlace) Is(target error) bool { return target == errNoPlace }

// source is a text that hunks are placed in, without its byte order mark.
type source struct {
	lines []Line
	texts []string
	ends  []string // without trailing blanks; made when needed
	trims []string // without blanks around; likewise
	folds []string // with plain quotes, dashes and blanks; likewise
	bones []string // without what cannot be seen; likewise
}

func newSource(text string) *source {
	s := &source{lines: Split(text)}
	s.texts = Texts(s.lines)
	return s
}

func each(lines []string, f func(string) string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = f(l)
	}
	return out
}

func (s *source) trimmedEnds() []string {
	if s.ends == nil {
		s.ends = each(s.texts, trimEnd)
	}
	return s.ends
}

func (s *source) trimmed() []string {
	if s.trims == nil {
		s.trims = each(s.texts, strings.TrimSpace)
	}
	return s.trims
}

func (s *source) folded() []string {
	if s.folds == nil {
		s.folds = each(s.texts, fold)
	}
	return s.folds
}

// Apply makes the text that a file has after all hunks of a patch, each placed by the
// lines that it shows. All hunks or none: one that fits nowhere, or in more than one
// place, is an error that names it. Every byte that no hunk names stays as it is. The
// notes say what the patch was forgiven.
func Apply(text string, f File) (after string, notes []string, err error) {
	if f.pieces != nil {
		return applyPieces(text, f)
	}
	mark := ""
	if strings.HasPrefix(text, ByteOrderMark) {
		mark, text = ByteOrderMark, text[len(ByteOrderMark):]
	}
	hunks := slices.Clone(f.hunks)
	for i := range hunks {
		hunks[i].lines = slices.Clone(hunks[i].lines)
		for k := range hunks[i].lines {
			if i == 0 && mark != "" {
				hunks[i].lines[k].text = strings.TrimPrefix(hunks[i].lines[k].text, ByteOrderMark)
			}
		}
	}
	if err := escapedCode(text, hunks); err != nil {
		return "", nil, err
	}
	after, notes, err = together(newSource(text), hunks)
	if errors.Is(err, errNoPlace) && len(hunks) > 1 {
		if inTurn, more, failed := oneByOne(text, hunks); failed == nil {
			after, notes, err = inTurn, append(more, "a hunk was written against the result of those before it"), nil
		}
	}
	if err != nil {
		return "", nil, err
	}
	notes = slices.Concat(f.notes, notes)
	return mark + after, compact(notes), nil
}

// compact returns the notes without repetitions.
func compact(notes []string) []string {
	var out []string
	for _, n := range notes {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func applyPieces(text string, f File) (string, []string, error) {
	notes := f.notes
	for _, b := range f.pieces {
		after, _, more, err := Replace(text, b.old, b.now, false)
		if err != nil {
			return "", nil, err
		}
		text, notes = after, append(notes, more...)
	}
	return text, compact(notes), nil
}

// oneByOne applies each hunk to what those before it made.
func oneByOne(text string, hunks []hunk) (string, []string, error) {
	var notes []string
	for _, h := range hunks {
		after, more, err := together(newSource(text), []hunk{h})
		if err != nil {
			return "", nil, err
		}
		text, notes = after, append(notes, more...)
	}
	return text, notes, nil
}

// together places all hunks in one text and makes their changes.
func together(src *source, hunks []hunk) (string, []string, error) {
	hunks, notes := repeated(hunks)
	var kept []hunk
	var places [][]fit
	applied := 0
	var missing error
	for i := range hunks {
		fits, err := src.fits(&hunks[i])
		if err != nil {
			return "", nil, err
		}
		if len(fits) == 1 && slices.ContainsFunc(kept, func(o hunk) bool { return slices.Equal(o.lines, hunks[i].lines) }) {
			notes = append(notes, twice)
			continue
		}
		kept, places = append(kept, hunks[i]), append(places, fits)
		if len(fits) > 0 {
			continue
		}
		if src.applied(hunks[i]) {
			applied++
			if missing == nil {
				missing = fmt.Errorf("%s is already in the file and another one is not; nothing was applied", hunks[i].name())
			}
			continue
		}
		return "", nil, src.misfit(hunks[i])
	}
	if applied == len(hunks) {
		return "", nil, ErrApplied
	}
	if missing != nil {
		return "", nil, missing
	}
	chosen, err := src.choose(kept, places)
	if err != nil {
		return "", nil, err
	}
	after, err := src.change(kept, chosen)
	for i, c := range chosen {
		notes = append(append(notes, kept[i].notes...), c.note)
	}
	return after, notes, err
}

const twice = "a hunk was there twice"

// repeated leaves out hunks that are another one again, at the same lines.
func repeated(hunks []hunk) (out []hunk, notes []string) {
	for _, h := range hunks {
		same := func(o hunk) bool {
			return h.oldCount >= 0 && o.oldCount >= 0 && o.header == h.header && slices.Equal(o.lines, h.lines)
		}
		if slices.ContainsFunc(out, same) {
			notes = append(notes, twice)
			continue
		}
		out = append(out, h)
	}
	return out, notes
}

// splice replaces count lines at a place of the file by others.
type splice struct {
	at, count int
	lines     []string
	hunk      int // index
	seq       int // orders splices of one hunk at one place
}

// splices are the changes of a hunk's lines that stand at a line of the file.
func splices(lines []hunkLine, at, index int) []splice {
	var out []splice
	var cur *splice
	for _, l := range lines {
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

// change makes the changes of all hunks where they were placed; two hunks may show
// the same lines but not change the same.
func (s *source) change(hunks []hunk, chosen []fit) (string, error) {
	var all []splice
	last := lastLine{}
	for i, f := range chosen {
		all = append(all, splices(f.lines, f.at, i)...)
		last.note(f.lines, f.at, len(s.lines))
	}
	slices.SortStableFunc(all, func(a, b splice) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.at+a.count, b.at+b.count), cmp.Compare(a.hunk, b.hunk), cmp.Compare(a.seq, b.seq))
	})
	out := make([]Line, 0, len(s.lines))
	at := 0
	for i, c := range all {
		if i > 0 {
			b := all[i-1]
			if c.at < at || b.hunk != c.hunk && b.at == c.at && b.count == 0 && c.count == 0 {
				return "", fmt.Errorf("%s and %s change the same lines; nothing was applied", hunks[b.hunk].name(), hunks[c.hunk].name())
			}
		}
		out = append(out, s.lines[at:c.at]...)
		eol := Ending(s.lines, c.at)
		for k, text := range c.lines {
			e := eol
			if k < c.count && s.lines[c.at+k].EOL != "" {
				e = s.lines[c.at+k].EOL
			}
			out = append(out, Line{text, e})
		}
		at = c.at + c.count
	}
	out = append(out, s.lines[at:]...)
	return Join(Close(out, last.ending(s.lines))), nil
}

// lastLine collects what the hunks say of how the last line ends.
type lastLine struct{ openOld, openNew, reaches bool }

func (l *lastLine) note(lines []hunkLine, at, total int) {
	if at+len(side(lines, '-')) != total {
		return
	}
	l.reaches = true
	for _, hl := range lines {
		if hl.open {
			l.openOld = l.openOld || hl.op != '+'
			l.openNew = l.openNew || hl.op != '-'
		}
	}
}

// ending returns "" when the new last line has none, and something otherwise.
func (l *lastLine) ending(lines []Line) string {
	was := "\n"
	if n := len(lines); n > 0 {
		was = lines[n-1].EOL
	}
	switch {
	case l.reaches && l.openNew:
		return ""
	case l.reaches && l.openOld:
		return Ending(lines, len(lines))
	}
	return was
}

// NewText returns the text of a file that a patch creates; false when the patch shows
// lines of one that is there.
func (f File) NewText() (string, bool) {
	if len(f.hunks) != 1 || len(f.pieces) > 0 {
		return "", false
	}
	h := f.hunks[0]
	lines := slices.Clone(h.lines)
	plus := len(side(lines, '+')) == len(lines)
	none := h.oldCount <= 0 && f.Kind == Add // " " in place of "+" throughout
	for i := range lines {
		if lines[i].op == ' ' && none {
			lines[i].op = '+'
		}
	}
	if !plus || len(side(lines, '-')) > 0 || len(h.anchors) > 0 {
		return "", false
	}
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(l.text)
		if i < len(lines)-1 || !l.open {
			b.WriteByte('\n')
		}
	}
	return b.String(), true
}
