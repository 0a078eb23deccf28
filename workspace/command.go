package workspace

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CommandLine formats an argument list on one line as a person would type it into a
// POSIX shell, so that each argument's begin and end can be seen. An argument with
// a space or another character that a shell acts on is in single quotes; one with
// a character that cannot be seen, or bytes that are no UTF-8, is in $'…' with that
// character escaped. Different lists have different spellings.
func CommandLine(argv []string) string {
	shown := make([]string, len(argv))
	for i, arg := range argv {
		shown[i] = argument(arg)
	}
	return strings.Join(shown, " ")
}

func argument(arg string) string {
	switch {
	case !utf8.ValidString(arg) || strings.ContainsFunc(arg, unseen):
		return escaped(arg)
	case arg == "" || strings.ContainsAny(arg, " '\"\\$`*?[]{}()<>|&;#!~"):
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}

// unseen reports whether a character is invisible on a screen, or changes how the
// text around it is shown.
func unseen(r rune) bool {
	const blankPattern = '\u2800' // a Braille pattern without dots
	return !unicode.IsPrint(r) || r == blankPattern ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

func escaped(arg string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(arg) > 0 {
		r, size := utf8.DecodeRuneInString(arg)
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + arg[:size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError && size == 1 || r < utf8.RuneSelf && unseen(r):
			fmt.Fprintf(&b, `\x%02x`, arg[0])
		case unseen(r) && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case unseen(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteString(arg[:size])
		}
		arg = arg[size:]
	}
	b.WriteString("'")
	return b.String()
}
