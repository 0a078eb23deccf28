package workspace

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Spelled returns a file's name with each byte that is not UTF-8 written like \xE9, so
// that names that differ in such bytes stay apart.
func Spelled(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if _, n := utf8.DecodeRuneInString(name[i:]); r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02X`, name[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Listed is Spelled for a list of names: line ends and all other characters that cannot
// be seen are written with a backslash, too, so that a name is one line and says nothing
// but itself.
func Listed(name string) string {
	name = Spelled(name)
	if !strings.ContainsFunc(name, unseen) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unseen(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
