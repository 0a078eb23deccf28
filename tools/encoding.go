package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/tools/diff"
)

// keepsEncoding refuses an edit that adds characters beyond ASCII to a file that is
// not UTF-8: which bytes stand for them there is not known. What the edit takes from
// lines that it replaces or moves is no addition.
func keepsEncoding(f file, after string) error {
	if utf8.ValidString(f.text) {
		return nil
	}
	before, after := differing(f.text, after)
	old, now := diff.Texts(diff.Split(before)), diff.Texts(diff.Split(after))
	changes := diffLines(old, now)
	known := map[string]bool{}
	for _, c := range changes {
		for _, line := range old[c.start:c.end] {
			for _, run := range beyondASCII(line) {
				known[run] = true
			}
		}
	}
	for _, c := range changes {
		for _, line := range now[c.newStart:c.newEnd] {
			for _, run := range beyondASCII(line) {
				if !known[run] {
					return fmt.Errorf("%s is not UTF-8 and its encoding is not known, so %q cannot be written into it: nothing was changed; write the new text in ASCII, with escapes of the language where it has them, or ask the user to convert the file to UTF-8", f.path, strings.ToValidUTF8(run, "\ufffd"))
				}
			}
		}
	}
	return nil
}

// beyondASCII returns the runs of bytes of a text that are not ASCII.
func beyondASCII(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < utf8.RuneSelf })
}
