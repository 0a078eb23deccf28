package diff

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var (
	divider   = regexp.MustCompile(`^={5,9}$`)
	replacing = regexp.MustCompile(`^>{5,9}( (REPLACE|UPDATED|NEW|AFTER))?$`)
	oldRange  = regexp.MustCompile(`^\*\*\* [0-9,]+ \*\*\*\*$`)
	newRange  = regexp.MustCompile(`^--- [0-9,]+ ----$`)
)

// formLine reads a line that begins an edit in another form than a unified diff's,
// with all that belongs to it; false when the line begins none.
func (p *parser) formLine(s string) (bool, error) {
	switch {
	case searching.MatchString(s):
		return true, p.searchReplace()
	case p.cur == nil && classic.MatchString(s):
		p.classic()
		return true, nil
	case s == "***************":
		return true, p.contextDiff()
	case p.cur == nil && strings.HasPrefix(s, "*** ") && p.at+2 < len(p.lines) &&
		strings.HasPrefix(p.lines[p.at+1], "--- ") && p.lines[p.at+2] == "***************":
		p.at++
		return true, p.names(s[4:], p.lines[p.at][4:])
	}
	return false, nil
}

// add appends a hunk that is complete.
func (p *parser) add(lines []hunkLine, note string) {
	p.closeHunk()
	f := p.open()
	f.hunks = append(f.hunks, hunk{oldStart: -1, oldCount: -1, newCount: -1, lines: lines})
	f.note(note)
}

func (f *File) note(note string) {
	for _, n := range f.notes {
		if n == note {
			return
		}
	}
	f.notes = append(f.notes, note)
}

// block adds an old text and its new one.
func (p *parser) block(b block) {
	p.open().pieces = append(p.open().pieces, b)
}

// searchReplace reads a block between <<<<<<< and >>>>>>>.
func (p *parser) searchReplace() error {
	var sides [2][]string
	at := 0
	for i := p.at + 1; i < len(p.lines); i++ {
		switch s := p.lines[i]; {
		case divider.MatchString(s):
			if at++; at > 1 {
				return errors.New("a block has more than one line of =======, so that its two texts cannot be told apart; use a diff with @@")
			}
		case replacing.MatchString(s):
			if at == 0 {
				return errors.New("a block has no line of ======= between its two texts")
			}
			p.at = i
			p.add(pair(sides[0], sides[1]), "it was a block of old and new text in place of a diff")
			return nil
		default:
			sides[at] = append(sides[at], s)
		}
	}
	return errors.New("a block that starts with <<<<<<< has no line of >>>>>>>")
}

// classic reads a change in the form of diff without options.
func (p *parser) classic() {
	header := p.lines[p.at]
	var lines []hunkLine
	for p.at+1 < len(p.lines) {
		s := p.lines[p.at+1]
		switch {
		case strings.HasPrefix(s, "< "), s == "<":
			lines = append(lines, hunkLine{op: '-', text: strings.TrimPrefix(s[1:], " ")})
		case strings.HasPrefix(s, "> "), s == ">":
			lines = append(lines, hunkLine{op: '+', text: strings.TrimPrefix(s[1:], " ")})
		case noNewline.MatchString(s) && len(lines) > 0:
			lines[len(lines)-1].open = true
		case s == "---" && len(lines) > 0:
		default:
			p.add(lines, "it was a diff in the classic form")
			return
		}
		p.at++
	}
	p.add(lines, "it was a diff in the classic form")
	p.file.hunks[len(p.file.hunks)-1].header = header
}

// contextDiff reads a change in the form of diff -c: the old lines, then the new.
func (p *parser) contextDiff() error {
	var sides [2][]string
	var changed [2]bool
	at := -1
	i := p.at + 1
	for ; i < len(p.lines); i++ {
		s := p.lines[i]
		if oldRange.MatchString(s) && at < 0 {
			at = 0
			continue
		}
		if newRange.MatchString(s) && at == 0 {
			at = 1
			continue
		}
		if at < 0 || len(s) < 2 || s[1] != ' ' || !strings.ContainsRune(" !+-", rune(s[0])) {
			break
		}
		changed[at] = changed[at] || s[0] != ' '
		sides[at] = append(sides[at], s)
	}
	if at < 1 {
		return fmt.Errorf("a hunk of the context diff is cut off behind %q", shorten(p.lines[i-1], 60))
	}
	p.at = i - 1
	for k := range sides { // an unchanged side is left out: it is the other one's context
		if sides[k] == nil || !changed[k] {
			sides[k] = nil
			for _, s := range sides[1-k] {
				if s[0] == ' ' {
					sides[k] = append(sides[k], s)
				}
			}
		}
	}
	strip := func(lines []string) []string {
		out := make([]string, len(lines))
		for j, s := range lines {
			out[j] = s[2:]
		}
		return out
	}
	p.add(pair(strip(sides[0]), strip(sides[1])), "it was a context diff")
	return nil
}
