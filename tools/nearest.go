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

// nearest shows the part of a file that is most similar to the lines wanted.
func nearest(file, want []string) string {
	if len(file) == 0 {
		return "The file is empty."
	}
	if len(want) > shownLines {
		want = want[:shownLines]
	}
	at, found := likeliest(file, want)
	if !found {
		return "No line of it is in the file; read the file again."
	}
	return "The nearest lines are:\n" + numbered(file, at-around, at+len(want)+around)
}

// likeliest returns the line at which most of the lines wanted match in sequence.
// When none of them matches anywhere, it returns the line most similar to the first
// of them.
func likeliest(file, want []string) (at int, found bool) {
	offsets := map[string][]int{}
	for k, w := range want {
		if w = strings.TrimSpace(w); w != "" {
			offsets[w] = append(offsets[w], k)
		}
	}
	votes := make([]int, len(file))
	alike, score := -1, 0
	first := strings.TrimSpace(want[0])
	for i, l := range file {
		l = strings.TrimSpace(l)
		for _, k := range offsets[l] {
			if i >= k {
				votes[i-k]++
			}
		}
		if n := common(l, first); n > score && n >= (len(first)+1)/2 {
			alike, score = i, n
		}
	}
	most := 0
	for i, n := range votes {
		if n > most {
			at, most = i, n
		}
	}
	if most > 0 {
		return at, true
	}
	return max(alike, 0), alike >= 0
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

// lineList formats line indexes, which start at 0, as line numbers in a sentence.
func lineList(at []int) string {
	const most = 5
	var parts []string
	for i, l := range at {
		if i == most {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(at)-most)
		}
		parts = append(parts, fmt.Sprint(l+1))
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}
