package tools

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// hunk is one block of a unified diff.
type hunk struct {
	number int    // from 1, as the diff has them
	header string // as the diff spells it, "" when it has none
	// oldStart and oldCount are as the header claims them; oldStart is -1 when it
	// claims nothing. They place a hunk only when it shows no line of the file.
	oldStart, oldCount int
	anchors            []string // texts after a bare @@, the outermost first
	section            string   // text after a numbered @@ … @@
	atEnd              bool     // it says that it reaches the end of the file
	lines              []hunkLine
}

// hunkLine is a line of a hunk: op is ' ', '-' or '+'.
type hunkLine struct {
	op   byte
	text string
	bare bool // an empty line of the diff, which may be no line of the hunk at all
	// open says that a "\ No newline at end of file" follows it.
	open bool
}

// name returns a name of the hunk for error texts that a model reads.
func (h hunk) name() string {
	if h.header == "" {
		return fmt.Sprintf("hunk %d", h.number)
	}
	return fmt.Sprintf("hunk %d (%s)", h.number, h.header)
}

// side returns the lines of the hunk's old ('-') or new ('+') text, context included.
func (h hunk) side(op byte) []string {
	var out []string
	for _, l := range h.lines {
		if l.op == ' ' || l.op == op {
			out = append(out, l.text)
		}
	}
	return out
}

// fileDiff is a diff of one file.
type fileDiff struct {
	hunks  []hunk
	create bool // it says that there is no such file before
}

var (
	hunkHeader = regexp.MustCompile(`^@@ *-(\d+)(?:,(\d+))? +\+(\d+)(?:,(\d+))? *@@ ?(.*)$`)
	bareHeader = regexp.MustCompile(`^@@(?: +@@| *\.\.\. *@@)? ?(.*)$`)
	gitHeaders = regexp.MustCompile(`^(index [0-9a-f]+\.\.|old mode |new mode |similarity index |dissimilarity index |Index: |={20,}$)`)
)

// diffParser reads a diff line by line.
type diffParser struct {
	path  string
	lines []string
	at    int
	out   fileDiff
	cur   *hunk
	// oldLeft and newLeft count down what the current header promised.
	oldLeft, newLeft int
	envelope         bool
}

// parseDiff reads a unified diff of exactly the file at path, a clean path below
// the root. Line numbers and counts are taken as claims, not checked. A diff that
// names another file, more than one, a renaming or a deletion is refused.
func parseDiff(diff, file string) (fileDiff, error) {
	p := diffParser{path: file, lines: diffText(diff)}
	for p.at < len(p.lines) {
		if err := p.line(p.lines[p.at]); err != nil {
			return fileDiff{}, err
		}
		p.at++
	}
	p.closeHunk()
	if len(p.out.hunks) == 0 {
		return fileDiff{}, errors.New("the diff has no hunk: it needs lines that start with '-' or '+'")
	}
	for i := range p.out.hunks {
		h := &p.out.hunks[i]
		h.number = i + 1
		changes := false
		for _, l := range h.lines {
			changes = changes || l.op != ' '
		}
		if !changes {
			return fileDiff{}, fmt.Errorf("%s has no line that starts with '-' or '+'", h.name())
		}
	}
	return p.out, nil
}

// diffText cuts a diff into lines, without the fence that models put around it.
func diffText(diff string) []string {
	lines := texts(splitLines(diff))
	first := 0
	for first < len(lines) && strings.TrimSpace(lines[first]) == "" {
		first++
	}
	last := len(lines)
	for last > first && strings.TrimSpace(lines[last-1]) == "" {
		last--
	}
	if last-first >= 2 && strings.HasPrefix(lines[first], "```") && strings.TrimSpace(lines[last-1]) == "```" {
		return lines[first+1 : last-1]
	}
	return lines
}

func (p *diffParser) line(s string) error {
	if p.cur != nil && (p.oldLeft > 0 || p.newLeft > 0) && !p.isHeader(s) {
		return p.body(s)
	}
	switch {
	case strings.HasPrefix(s, "@@@"):
		return errors.New("the diff is a combined one of a merge; only plain unified diffs can be applied")
	case strings.HasPrefix(s, "@@"):
		p.header(s)
		return nil
	case strings.HasPrefix(s, "diff ") || gitHeaders.MatchString(s):
		p.closeHunk()
		return nil
	case strings.HasPrefix(s, "new file mode "):
		p.out.create = true
		return nil
	case strings.HasPrefix(s, "*** "):
		return p.envelopeLine(s)
	case strings.HasPrefix(s, "--- ") && p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ "):
		return p.fileHeader(s[4:], p.lines[p.at+1][4:])
	case strings.HasPrefix(s, "rename ") || strings.HasPrefix(s, "copy ") || strings.HasPrefix(s, "deleted file mode "):
		if p.cur == nil {
			return fmt.Errorf("the diff says %q; a patch only changes the text of one file", s)
		}
	case strings.HasPrefix(s, "GIT binary patch"), strings.HasPrefix(s, "Binary files "):
		if p.cur == nil {
			return errors.New("the diff is of a binary file")
		}
	}
	return p.body(s)
}

// isHeader reports whether s starts another hunk or file although the current
// hunk's counts promise more lines: counts are often wrong.
func (p *diffParser) isHeader(s string) bool {
	switch {
	case hunkHeader.MatchString(s), strings.HasPrefix(s, "diff --git "), strings.HasPrefix(s, "@@"):
		return true
	case strings.HasPrefix(s, "*** "):
		return p.envelope
	case strings.HasPrefix(s, "--- "):
		return p.at+2 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ ") && strings.HasPrefix(p.lines[p.at+2], "@@")
	}
	return false
}

// header starts a hunk, or adds an anchor to one that has no line yet.
func (p *diffParser) header(s string) {
	if m := hunkHeader.FindStringSubmatch(s); m != nil {
		p.closeHunk()
		p.cur = &hunk{header: strings.TrimSpace(strings.TrimSuffix(s, m[5])), section: strings.TrimSpace(m[5])}
		p.cur.oldStart, p.cur.oldCount = number(m[1], 0), number(m[2], 1)
		p.oldLeft, p.newLeft = p.cur.oldCount, number(m[4], 1)
		return
	}
	text := ""
	if m := bareHeader.FindStringSubmatch(s); m != nil {
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(m[1]), "@@"))
	}
	if p.cur == nil || len(p.cur.lines) > 0 || p.cur.oldStart >= 0 {
		p.closeHunk()
		p.cur = &hunk{header: strings.TrimSpace(s), oldStart: -1}
		p.oldLeft, p.newLeft = 0, 0
	}
	if text != "" {
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
func (p *diffParser) body(s string) error {
	if p.cur == nil {
		if s == "" || s[0] != '+' && s[0] != '-' && s[0] != ' ' {
			return nil // words before the diff
		}
		p.cur = &hunk{oldStart: -1}
	}
	h := p.cur
	l := hunkLine{op: ' ', text: s}
	switch {
	case s == "":
		l.bare = true
	case s[0] == '\\':
		if n := len(h.lines); n > 0 {
			h.lines[n-1].open = true
		}
		return nil
	case s[0] == ' ', s[0] == '+', s[0] == '-':
		l.op, l.text = s[0], s[1:]
	}
	if l.op != '+' {
		p.oldLeft--
	}
	if l.op != '-' {
		p.newLeft--
	}
	h.lines = append(h.lines, l)
	return nil
}

// closeHunk ends the current hunk. Empty lines at its end belong to it only as
// far as its header counts them.
func (p *diffParser) closeHunk() {
	if p.cur == nil {
		return
	}
	h := p.cur
	p.cur = nil
	for n := len(h.lines); n > 0 && h.lines[n-1].bare && (p.oldLeft < 0 || h.oldStart < 0); n-- {
		h.lines = h.lines[:n-1]
		p.oldLeft++
	}
	p.oldLeft, p.newLeft = 0, 0
	if len(h.lines) > 0 || len(h.anchors) > 0 || h.oldStart >= 0 {
		p.out.hunks = append(p.out.hunks, *h)
	}
}

// fileHeader parses the two lines that name the file before and after.
func (p *diffParser) fileHeader(old, now string) error {
	p.closeHunk()
	p.at++
	old, now = headerPath(old), headerPath(now)
	if now == "/dev/null" {
		return errors.New("the diff deletes the file; a patch only changes the text of one file")
	}
	if old == "/dev/null" {
		p.out.create = true
	} else if err := p.samePath(old, "a/"); err != nil {
		return err
	}
	return p.samePath(now, "b/")
}

// headerPath returns the file name in a header line: before a tab comes the name,
// after it a time; git quotes unusual names.
func headerPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if u, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		return u
	}
	return s
}

func (p *diffParser) samePath(name, prefix string) error {
	if name == p.path || strings.TrimPrefix(name, prefix) == p.path {
		return nil
	}
	clean := path.Clean(strings.TrimPrefix(name, "./"))
	if clean == p.path && !strings.HasPrefix(name, "/") && !strings.Contains(name, "..") {
		return nil
	}
	return fmt.Errorf("the diff names the file %q, but the patch is for %s; one patch changes one file", name, p.path)
}

// envelopeLine parses a line of the form that some models put around a diff.
func (p *diffParser) envelopeLine(s string) error {
	keyword, arg, _ := strings.Cut(strings.TrimPrefix(s, "*** "), ":")
	arg = strings.TrimSpace(arg)
	switch strings.TrimSpace(keyword) {
	case "Begin Patch", "End Patch":
		p.closeHunk()
		p.envelope = true
	case "End of File":
		if p.cur != nil {
			p.cur.atEnd = true
		}
	case "Update File":
		p.closeHunk()
		p.envelope = true
		return p.samePath(arg, "")
	case "Add File":
		p.closeHunk()
		p.envelope, p.out.create = true, true
		return p.samePath(arg, "")
	case "Delete File", "Move to":
		return fmt.Errorf("the diff says %q; a patch only changes the text of one file", s)
	default:
		return p.body(s)
	}
	return nil
}
