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
