package workspace

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Match reports whether a clean path, relative to the root, matches a glob: *, ? and [a-z] within a name, ** for any number of directories, {a,b} for
// either. A glob without a slash matches names in any directory.
func Match(pattern, p string) bool {
	return slices.ContainsFunc(alternatives(pattern), func(one string) bool {
		return newGlob(strings.TrimPrefix(one, "./")).match(strings.Split(p, "/"))
	})
}

// alternatives returns the patterns that one with braces expands to, at most 256.
func alternatives(pattern string) []string {
	open := -1
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			open = i
		case '}':
			if open < 0 {
				continue
			}
			var out []string
			for option := range strings.SplitSeq(pattern[open+1:i], ",") {
				out = append(out, alternatives(pattern[:open]+option+pattern[i+1:])...)
				if len(out) > 256 {
					return out
				}
			}
			return out
		}
	}
	return []string{pattern}
}

// glob is a pattern, by the names in it.
type glob []string

// newGlob reads a pattern as a line of a .gitignore: one without a slash, but for
// one at its end, is about a name in any directory.
func newGlob(pattern string) glob {
	anchored := strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	parts := strings.Split(strings.Trim(pattern, "/"), "/")
	if !anchored {
		parts = append([]string{"**"}, parts...)
	}
	return parts
}

func (g glob) match(parts []string) bool {
	for len(g) > 0 {
		if g[0] == "**" {
			if len(g) == 1 {
				return len(parts) > 0 // all that is inside, not the directory itself
			}
			for i := range parts {
				if g[1:].match(parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 || !matchName(g[0], parts[0]) {
			return false
		}
		g, parts = g[1:], parts[1:]
	}
	return len(parts) == 0
}

// matchName compares one name. It goes back to the last star only, so that no
// pattern takes longer than the product of both lengths.
func matchName(pattern, name string) bool {
	star, from := -1, 0 // behind the last star; where it may take one more
	p, n := 0, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			for p < len(pattern) && pattern[p] == '*' {
				p++
			}
			star, from = p, n
			continue
		}
		if size, ok := matchOne(pattern[p:], name[n:]); ok {
			_, width := utf8.DecodeRuneInString(name[n:])
			p, n = p+size, n+width
			continue
		}
		if star < 0 {
			return false
		}
		_, width := utf8.DecodeRuneInString(name[from:])
		from += width
		p, n = star, from
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchOne compares the first character of a name, which is not empty, with the
// first element of a pattern, and returns how long that is.
func matchOne(pattern, name string) (size int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	c, _ := utf8.DecodeRuneInString(name)
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchClass(pattern, c)
	case '\\':
		if len(pattern) > 1 {
			r, size := utf8.DecodeRuneInString(pattern[1:])
			return size + 1, r == c
		}
	}
	r, size := utf8.DecodeRuneInString(pattern)
	return size, r == c
}

// matchClass compares a character with a class such as [a-z] or [!0-9]. One that
// is not closed matches nothing.
func matchClass(pattern string, c rune) (size int, ok bool) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	next := func() rune {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		r, size := utf8.DecodeRuneInString(pattern[i:])
		i += size
		return r
	}
	found := false
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, found != negated
		}
		low := next()
		high := low
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			i++
			high = next()
		}
		found = found || low <= c && c <= high
	}
	return 0, false
}
