package checker

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"
)

// escapes are the terminal sequences that tools colour and link their output
// with: CSI sequences, and OSC ones ended by BEL or ST.
var escapes = regexp.MustCompile(`\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]`)

// plain takes colours, carriage returns before a newline, NUL and invalid UTF-8
// out of a tool's output.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsRune(s, '\x1b') {
		s = escapes.ReplaceAllString(s, "")
	}
	if strings.ContainsAny(s, "\r\x00") {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(s)
	}
	return s
}

// lines yields the lines of s without their ends; trailing empty ones are none.
func lines(s string) iter.Seq[string] {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(s, "\n")
}

// lineLimit is the length in bytes at which a line of text is cut before it is
// read: no place stands behind it, matching it would take long, and errorformat
// gives up silently at one over 64 KiB.
const lineLimit = 8 << 10

// textLines is lines for what is not JSON: over-long ones are cut, which they say.
func textLines(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range lines(s) {
			if len(line) > lineLimit {
				head := strings.ToValidUTF8(line[:lineLimit], "")
				line = head + fmt.Sprintf(" [... %d characters elided ...]", utf8.RuneCountInString(line[len(head):]))
			}
			if !yield(line) {
				return
			}
		}
	}
}

// headAndTail keeps limit characters of s, half from each end, and says in the
// middle how many are missing. A character is a code point; none is cut in two.
func headAndTail(s string, limit int) string {
	total := utf8.RuneCountInString(s)
	if total <= limit {
		return s
	}
	head := limit / 2
	tail := limit - head
	return s[:runeOffset(s, head)] +
		fmt.Sprintf("\n[... %d characters elided ...]\n", total-limit) +
		s[runeOffset(s, total-tail):]
}

// runeOffset is the byte offset of the n-th code point.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// count writes a number with its noun in the right form.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
