// Package diff reads what models write as edits (unified diffs, the form between
// "*** Begin Patch" and "*** End Patch", blocks of old and new text) and places them
// in a text. It is pure: texts in, texts out. A wrong place is the worst outcome
// there is, so that whatever has more than one place is refused.
package diff

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a patch does to a file.
type Kind int

// The kinds.
const (
	Update Kind = iota
	Add
	Delete
)

// File is what a patch does to one file.
type File struct {
	Kind Kind
	// Old and New are the names that the patch gives, "" where it gives none. Only in
	// the form "*** Begin Patch" are they exact; a diff's may have prefixes, see Names.
	Old, New string
	Exact    bool
	Moved    bool // it says that Old is to become New

	hunks  []hunk
	pieces []block // old and new texts in place of hunks
	notes  []string
}

// Changes reports whether the patch changes the text of the file.
func (f File) Changes() bool { return len(f.hunks) > 0 || len(f.pieces) > 0 }

// hunk is one block of a diff.
type hunk struct {
	number int    // from 1, as the diff has them
	header string // as the diff spells it, "" when it has none
	// oldStart, oldCount and newCount are as the header claims them; -1 when it claims
	// nothing.
	oldStart, oldCount, newCount int
	anchors                      []string // texts after a bare @@, the outermost first
	section                      string   // text after a numbered @@ … @@
	atEnd                        bool     // it says that it reaches the end of the file
	lines                        []hunkLine
	notes                        []string // what was forgiven in reading it
}

// hunkLine is a line of a hunk: op is ' ', '-' or '+'.
type hunkLine struct {
	op   byte
	text string
	sign lineSign
	// open says that a "\ No newline at end of file" follows it.
	open bool
}

// lineSign says where a line's op comes from.
type lineSign int

const (
	signed   lineSign = iota
	bare              // an empty line of the diff, whose sign is lost
	unsigned          // a line that starts with none of the signs
)

// raw returns a context line as the diff has it.
func (l hunkLine) raw() string {
	if l.sign == signed {
		return string(l.op) + l.text
	}
	return l.text
}

// name returns a name of the hunk for texts that a model reads.
func (h hunk) name() string {
	if h.header == "" {
		return fmt.Sprintf("hunk %d", h.number)
	}
	return fmt.Sprintf("hunk %d (%s)", h.number, shorten(h.header, 60))
}

// side returns the lines of the old ('-') or new ('+') text, context included.
func side(lines []hunkLine, op byte) []string {
	var out []string
	for _, l := range lines {
		if l.op == ' ' || l.op == op {
			out = append(out, l.text)
		}
	}
	return out
}

// pair makes the lines of a hunk from a block's old and new text: lines that both
// begin or end with are context.
func pair(old, now []string) []hunkLine {
	n := min(len(old), len(now))
	head, tail := 0, 0
	for head < n && old[head] == now[head] {
		head++
	}
	for tail < n-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	var out []hunkLine
	add := func(op byte, lines []string) {
		for _, s := range lines {
			out = append(out, hunkLine{op: op, text: s})
		}
	}
	add(' ', old[:head])
	add('-', old[head:len(old)-tail])
	add('+', now[head:len(now)-tail])
	add(' ', old[len(old)-tail:])
	return out
}

// blank reports a line without anything to see in it.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

func trimEnd(s string) string { return strings.TrimRight(s, " \t\r") }

// shorten cuts a text to a number of bytes, at a character.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// Merge makes one file of several that are the same.
func Merge(files []File) File {
	out := files[0]
	for _, f := range files[1:] {
		out.hunks = append(out.hunks[:len(out.hunks):len(out.hunks)], f.hunks...)
		out.pieces = append(out.pieces[:len(out.pieces):len(out.pieces)], f.pieces...)
		out.notes = append(out.notes[:len(out.notes):len(out.notes)], f.notes...)
	}
	out.hunks = slices.Clone(out.hunks)
	for i := range out.hunks {
		out.hunks[i].number = i + 1
	}
	return out
}
