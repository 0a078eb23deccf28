package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// headTail bounds a text to limit characters: a longer one keeps its first and its
// last half, and says between them how many characters are left out.
func headTail(s string, limit int) string { return joinCut(s, "", 0, limit) }

// joinCut is headTail for a text of which dropped characters between head and tail
// are missing already.
func joinCut(head, tail string, dropped int64, limit int) string {
	total := int64(utf8.RuneCountInString(head)+utf8.RuneCountInString(tail)) + dropped
	if total <= int64(limit) && dropped == 0 {
		return head + tail
	}
	keepHead := limit / 2
	keepTail := limit - keepHead
	if dropped == 0 {
		tail, head = head+tail, head+tail
	}
	first := firstRunes(head, keepHead)
	last := lastRunes(tail, keepTail)
	elided := total - int64(utf8.RuneCountInString(first)) - int64(utf8.RuneCountInString(last))
	return fmt.Sprintf("%s\n[... %d characters elided ...]\n%s", first, elided, last)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// shownOutput converts a program's output to text for a model: valid UTF-8 without
// terminal controls, at most limit characters.
func shownOutput(o proc.Output, limit int) string {
	if o.Elided == 0 {
		return joinCut(plainText(o.Bytes()), "", 0, limit)
	}
	return joinCut(plainText(o.Head), plainText(o.Tail), o.ElidedRunes, limit)
}

// plainText reduces terminal output to the text that a screen would show in the
// end: escape sequences go, a line that was overwritten keeps its last form,
// backspaces take what they cover, and bytes that are no text are replaced.
func plainText(b []byte) string {
	s := strings.ToValidUTF8(string(b), string(utf8.RuneError))
	if !strings.ContainsAny(s, "\x1b\r\b\x00\u009b\a\f\v\x7f") && !strings.ContainsFunc(s, isControl) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	var row []rune // the current line as far as it stands
	col := 0
	flush := func() {
		for _, r := range row {
			out.WriteRune(r)
		}
		row, col = row[:0], 0
	}
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\x1b' || r == '\u009b':
			n, final := escape(s)
			switch final {
			case 'K': // erase in line: from the cursor on, or all of it
				if strings.HasSuffix(s[:n-1], "2") {
					row = row[:0]
				} else if col < len(row) && !strings.HasSuffix(s[:n-1], "1") {
					row = row[:col]
				}
			case 'G':
				col = 0
			}
			s = s[n:]
			for col > len(row) {
				row = append(row, ' ')
			}
			continue
		case r == '\n':
			flush()
			out.WriteByte('\n')
		case r == '\r':
			col = 0
		case r == '\b':
			col = max(col-1, 0)
		case r == 0:
			row, col = putRune(row, col, utf8.RuneError)
		case isControl(r):
		default:
			row, col = putRune(row, col, r)
		}
		s = s[size:]
	}
	flush()
	return out.String()
}

func putRune(row []rune, col int, r rune) ([]rune, int) {
	if col < len(row) {
		row[col] = r
	} else {
		row = append(row, r)
	}
	return row, col + 1
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// escape returns the length of the escape sequence at the start of s, and its last
// byte when it is a control sequence.
func escape(s string) (n int, final byte) {
	i := 1
	if s[0] == '\x1b' {
		if len(s) == 1 {
			return 1, 0
		}
		switch s[1] {
		case '[':
			i = 2
		case ']', 'P', '_', '^', 'X': // strings, ended by BEL or ESC \
			return stringEnd(s), 0
		default:
			for i < len(s) && s[i] >= ' ' && s[i] <= '/' {
				i++
			}
			if i < len(s) && s[i] < utf8.RuneSelf && s[i] >= ' ' {
				i++
			}
			return i, 0
		}
	} else {
		i = len("\u009b")
	}
	for i < len(s) && s[i] >= ' ' && s[i] <= '?' {
		i++
	}
	if i < len(s) && s[i] >= '@' && s[i] <= '~' {
		return i + 1, s[i]
	}
	return i, 0
}

// stringEnd returns the length of a control string. One that is never ended within its line
// takes only its introducer, so that it cannot swallow the output.
func stringEnd(s string) int {
	for i := 2; i < len(s) && s[i] != '\n'; i++ {
		if s[i] == '\a' {
			return i + 1
		}
		if s[i] == '\x1b' {
			if i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			break
		}
	}
	return 2
}
