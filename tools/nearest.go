package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// shownLines bounds how many lines of a file a refusal shows.
	shownLines = 60
	// shownWidth bounds the characters of each.
	shownWidth = 300
	// around is how many lines are shown on each side of what is meant.
	around = 3
)

// numbered shows lines [from, to) with their numbers, bounded.
func numbered(file []string, from, to int) string {
	from, to = max(from, 0), min(to, len(file))
	to = min(to, from+shownLines)
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, clip(file[i]))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// clip shortens a line to shownWidth characters and replaces invalid UTF-8.
func clip(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if utf8.RuneCountInString(s) <= shownWidth {
		return s
	}
	return string([]rune(s)[:shownWidth]) + "…"
}
