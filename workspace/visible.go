package workspace

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Visible returns a text of several lines in which every character that hides, reorders
// or overwrites what stands around it is written by its number, as <U+202E>: a person
// who reads it before they allow something sees all of it. Line ends, tabs, and the
// wide and the no-break space stay.
func Visible(s string) string { return visible(s, "") }

// VisibleProse is Visible for what people and models write: the joiners of scripts and
// emoji and the two selectors of how an emoji looks stay as well.
func VisibleProse(s string) string { return visible(s, "\u200c\u200d\ufe0e\ufe0f") }

func visible(s, kept string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\r\n", "\n")
	hides := func(r rune) bool {
		return unseen(r) && !strings.ContainsRune("\n\t\u00a0\u3000", r) && !strings.ContainsRune(kept, r)
	}
	if !strings.ContainsFunc(s, hides) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hides(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
