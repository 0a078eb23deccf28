package diff

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	hunkHeader = regexp.MustCompile(`^@@ *-(\d+)(?:,(\d+))? +\+(\d+)(?:,(\d+))? *(?:@@ ?(.*))?$`)
	oldHeader  = regexp.MustCompile(`^@@ *-(\d+)(?:,(\d+))? *@@ ?(.*)$`)
	lineHeader = regexp.MustCompile(`^@@ *(?:-?[Xx.]+|[-+, 0-9Xx.]+|(?:at )?[Ll]ines? [-0-9, ]+)? *@@ ?(.*)$`)
	gitHeaders = regexp.MustCompile(`^(index [0-9a-f]+\.\.|old mode |new mode |similarity index |dissimilarity index |Index: |={20,}$)`)
	noNewline  = regexp.MustCompile(`^ ?\\ No newline at end of file\.?$`)
	version    = regexp.MustCompile(`^\d+\.\d+`)
)

const beginPatch, endPatch = "*** Begin Patch", "*** End Patch"

// parser reads a diff line by line.
type parser struct {
	lines []string
	at    int
	out   []File
	file  *File
	cur   *hunk
	// oldLeft and newLeft count down what the current header promised; kept is the
	// number of the hunk's lines when both were used up, -1 before.
	oldLeft, newLeft, kept int
	envelope               bool
	added                  *[]string // of an added file between the markers
}

// Parse reads a patch: what it does to each file, in its order. Line numbers and
// counts are claims, which nothing is placed by alone. What the text was forgiven is
// in the notes that Apply returns.
func Parse(text string) ([]File, error) {
	u := unwrap(text)
	p := parser{lines: u.lines}
	for _, b := range u.blocks {
		p.block(b)
	}
	for ; p.at < len(p.lines); p.at++ {
		if err := p.line(p.lines[p.at]); err != nil {
			return nil, err
		}
	}
	if err := p.closeFile(); err != nil {
		return nil, err
	}
	if len(p.out) == 0 {
		return nil, p.nothing()
	}
	p.out[0].notes = append(u.notes, p.out[0].notes...)
	return p.out, p.check()
}

// nothing returns the error of a patch without a file or hunk.
func (p *parser) nothing() error {
	for _, s := range p.lines {
		if !blank(s) && !strings.HasPrefix(s, "diff ") && !gitHeaders.MatchString(s) {
			return errors.New("the diff has no hunk: it needs lines that start with '-' or '+'; a whole new text is for the tool write")
		}
	}
	return errors.New("the diff has no hunk: it needs lines that start with '-' or '+'")
}

// check numbers the hunks and refuses those that change nothing.
func (p *parser) check() error {
	for f := range p.out {
		file := &p.out[f]
		for i := range file.hunks {
			h := &file.hunks[i]
			h.number = i + 1
			changes := false
			for _, l := range h.lines {
				changes = changes || l.op != ' ' || l.sign == bare && h.oldCount != h.newCount
				if p.envelope && strings.HasSuffix(l.text, endPatch) {
					return fmt.Errorf("%s: the marker %q stands behind a line's text; it needs a line of its own", h.name(), endPatch)
				}
			}
			if !changes && file.Kind != Add {
				return fmt.Errorf("%s has no line that starts with '-' or '+'", h.name())
			}
		}
		if !file.Changes() && file.Kind == Update && !file.Moved {
			return errors.New("the diff has no hunk: it needs lines that start with '-' or '+'")
		}
	}
	return nil
}

// open returns the current file, which it begins when there is none.
func (p *parser) open() *File {
	if p.file == nil {
		p.file = &File{}
	}
	return p.file
}

func (p *parser) line(s string) error {
	if p.added != nil && !strings.HasPrefix(s, "*** ") {
		*p.added = append(*p.added, s)
		return nil
	}
	if p.cur != nil && (p.oldLeft > 0 || p.newLeft > 0) && !p.isHeader(s) {
		return p.body(s)
	}
	if done, err := p.formLine(s); done || err != nil {
		return err
	}
	if p.cur == nil {
		if done, err := p.gitLine(s); done || err != nil {
			return err
		}
	}
	switch {
	case strings.HasPrefix(s, "@@@"):
		return errors.New("the diff is a combined one of a merge; only plain unified diffs can be applied")
	case strings.HasPrefix(s, "@@"):
		p.header(s)
		return nil
	case strings.HasPrefix(s, "diff "):
		return p.gitFile(s)
	case gitHeaders.MatchString(s) && p.cur == nil:
		return nil
	case strings.HasPrefix(s, "*** "):
		return p.envelopeLine(s)
	case strings.HasPrefix(s, "--- ") && p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ "):
		p.at++
		return p.names(s[4:], p.lines[p.at][4:])
	case p.cur == nil && strings.HasPrefix(s, "--- "):
		return p.names(s[4:], "")
	case p.cur == nil && strings.HasPrefix(s, "+++ "):
		return p.names("", s[4:])
	case p.signature(s):
		p.at = len(p.lines)
		return nil
	case p.cur == nil && (strings.HasPrefix(s, "GIT binary patch") || strings.HasPrefix(s, "Binary files ")):
		return errors.New("the diff is of a binary file")
	}
	return p.body(s)
}

// signature reports the line that ends a mail with a patch.
func (p *parser) signature(s string) bool {
	return trimEnd(s) == "--" && p.at+1 < len(p.lines) && version.MatchString(p.lines[p.at+1]) && len(p.lines)-p.at <= 4
}

// isHeader reports whether s starts another hunk or file although the current
// hunk's counts promise more lines: counts are often wrong.
func (p *parser) isHeader(s string) bool {
	switch {
	case strings.HasPrefix(s, "diff --git "), strings.HasPrefix(s, "@@"):
		return true
	case strings.HasPrefix(s, "*** "):
		return p.envelope
	case strings.HasPrefix(s, "--- "):
		return p.at+2 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ ") && strings.HasPrefix(p.lines[p.at+2], "@@")
	}
	return false
}

// header starts a hunk, or adds an anchor to one that has no line yet.
func (p *parser) header(s string) {
	if m := hunkHeader.FindStringSubmatch(s); m != nil {
		p.closeHunk()
		p.cur = &hunk{header: strings.TrimSpace(strings.TrimSuffix(s, m[5])), section: strings.TrimSpace(m[5])}
		p.cur.oldStart, p.cur.oldCount, p.cur.newCount = number(m[1], 0), number(m[2], 1), number(m[4], 1)
		p.oldLeft, p.newLeft, p.kept = p.cur.oldCount, p.cur.newCount, -1
		return
	}
	text, start := strings.TrimSpace(s[2:]), -1
	if m := oldHeader.FindStringSubmatch(s); m != nil {
		text, start = strings.TrimSpace(m[3]), number(m[1], -1)
	} else if m := lineHeader.FindStringSubmatch(s); m != nil {
		text = strings.TrimSpace(m[1])
	}
	text = strings.TrimSpace(strings.TrimSuffix(text, "@@"))
	if p.cur == nil || len(p.cur.lines) > 0 || p.cur.oldStart >= 0 {
		p.closeHunk()
		p.cur = &hunk{header: strings.TrimSpace(s), oldStart: start, oldCount: -1, newCount: -1}
		p.oldLeft, p.newLeft, p.kept = 0, 0, -1
	}
	if text != "" && strings.Trim(text, ".…-+,0123456789 ") != "" {
		p.cur.anchors = append(p.cur.anchors, text)
	}
}

func number(s string, none int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return none
	}
	return n
}

// body parses a line of a hunk.
func (p *parser) body(s string) error {
	if p.cur == nil {
		if s == "" || s[0] != '+' && s[0] != '-' && s[0] != ' ' {
			return nil // words before the diff
		}
		p.cur = &hunk{oldStart: -1, oldCount: -1, newCount: -1}
		p.oldLeft, p.newLeft, p.kept = 0, 0, -1
	}
	h := p.cur
	l := hunkLine{op: ' ', text: s}
	switch {
	case s == "":
		l.sign = bare
	case s[0] == '\\':
		if n := len(h.lines); n > 0 {
			h.lines[n-1].open = true
		}
		return nil
	case noNewline.MatchString(s):
		return nil // with a space before it, it says nothing of which side
	case s[0] == ' ', s[0] == '+', s[0] == '-':
		l.op, l.text = s[0], s[1:]
	default:
		l.sign = unsigned
	}
	if l.op != '+' {
		p.oldLeft--
	}
	if l.op != '-' {
		p.newLeft--
	}
	h.lines = append(h.lines, l)
	if p.oldLeft == 0 && p.newLeft == 0 {
		p.kept = len(h.lines)
	}
	return nil
}

// closeHunk ends the current hunk. Empty lines at its end belong to it only as far as
// its header counts them, and so do lines without a sign behind all that it counts.
func (p *parser) closeHunk() {
	if p.cur == nil {
		return
	}
	h := p.cur
	p.cur = nil
	if h.oldCount >= 0 && p.kept > 0 && p.kept < len(h.lines) {
		prose, words := true, false
		for _, l := range h.lines[p.kept:] {
			prose = prose && l.sign != signed
			words = words || l.sign == unsigned
		}
		if prose && words {
			h.lines, p.oldLeft = h.lines[:p.kept], 0
			h.notes = append(h.notes, "other text stood behind it")
		}
	}
	for n := len(h.lines); n > 0 && h.lines[n-1].sign == bare && (p.oldLeft < 0 || h.oldCount < 0); n-- {
		h.lines = h.lines[:n-1]
		p.oldLeft++
	}
	p.oldLeft, p.newLeft = 0, 0
	if len(h.lines) > 0 || len(h.anchors) > 0 || h.oldStart >= 0 {
		f := p.open()
		f.hunks = append(f.hunks, *h)
	}
}

// closeFile ends what is said of the current file.
func (p *parser) closeFile() error {
	p.closeHunk()
	f := p.file
	p.file = nil
	if p.added != nil {
		lines, err := addedLines(*p.added)
		if err != nil {
			return fmt.Errorf("the new file %s: %w", f.New, err)
		}
		f.hunks = []hunk{{oldStart: -1, oldCount: -1, newCount: -1, lines: lines}}
		p.added = nil
	}
	if f == nil {
		return nil
	}
	if f.Kind == Update && !f.Moved && !f.Changes() && f.Old == "" && f.New == "" {
		return nil
	}
	p.out = append(p.out, *f)
	return nil
}
