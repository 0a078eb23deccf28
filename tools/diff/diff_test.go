package diff

import (
	"errors"
	"strings"
	"testing"
)

// maxRefusal bounds a refusal's text, in bytes: with the name of its file it is to stay
// below 600.
const maxRefusal = 540

// FuzzAnyPatch applies anything to anything: it is refused in few bytes, or every line
// of the result is one of the file or, where nothing was forgiven, one that the patch
// adds.
func FuzzAnyPatch(f *testing.F) {
	f.Add("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")
	f.Add("a\n\nb\n", "```diff\n--- a/f\n+++ b/f\n@@\n a\n\n-b\n+B\n```\n")
	f.Add("\ta\n\tb\n", "*** Begin Patch\n*** Update File: f\n@@ a\n     a\n-    b\n+    c\n*** End Patch\n")
	f.Add("a\nb\n", "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n")
	f.Add("a\nb\n", "*** f\n--- f\n***************\n*** 1,2 ****\n  a\n! b\n--- 1,2 ----\n  a\n! c\n")
	f.Add("GGG;G\xbc", "+\n"+strings.Repeat("\x15", 100))
	f.Add("a\nb\n", "1c1\n< a\n---\n> c\n")
	f.Add("a\nb\n", "{\"old_string\": \"a\", \"new_string\": \"b\"}")
	f.Fuzz(func(t *testing.T, file, patch string) {
		files, err := Parse(patch)
		if err != nil {
			return
		}
		p := Merge(files)
		got, notes, err := Apply(file, p)
		if err != nil {
			if len(err.Error()) > maxRefusal && !errors.Is(err, ErrApplied) {
				t.Errorf("the refusal has %d bytes: %s", len(err.Error()), err)
			}
			return
		}
		if len(notes) > 0 {
			return
		}
		from := map[string]bool{}
		for _, l := range Texts(Split(strings.TrimPrefix(file, ByteOrderMark))) {
			from[strings.TrimRight(l, "\r")] = true
		}
		for _, h := range p.hunks {
			for _, l := range h.lines {
				if l.op == '+' || l.sign == bare {
					from[strings.TrimRight(strings.TrimPrefix(l.text, ByteOrderMark), "\r")] = true
				}
			}
		}
		for _, l := range Texts(Split(strings.TrimPrefix(got, ByteOrderMark))) {
			if !from[strings.TrimRight(l, "\r")] {
				t.Errorf("the line %q is from nowhere", l)
			}
		}
	})
}
