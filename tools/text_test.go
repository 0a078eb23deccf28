package tools

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/tools/diff"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/aymanbagabas/go-udiff"
	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

func TestMergeKeepsBothChangesOrRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, base, theirs, ours, want string
		clash                          bool
	}{
		{"ours alone", abc, abc, "a\nB\nc\n", "a\nB\nc\n", false},
		{"theirs alone", abc, "a\nB\nc\n", abc, "a\nB\nc\n", false},
		{"other lines", "1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n", "one\n2\n3\n4\nfive\n", false},
		{"lines next to each other", "1\n2\n3\n", "1\ntwo\n3\n", "1\n2\nthree\n", "1\ntwo\nthree\n", false},
		{"same change", abc, "a\nB\nc\n", "a\nB\nc\n", "a\nB\nc\n", false},
		{"same change and another", "1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "one\n2\n3\n4\nfive\n", "one\n2\n3\n4\nfive\n", false},
		{"same line differently", abc, "a\nX\nc\n", "a\nY\nc\n", "", true},
		{"inserted at one place", abc, "a\nx\nb\nc\n", "a\ny\nb\nc\n", "", true},
		{"inserted the same at one place", abc, "a\nx\nb\nc\n", "a\nx\nb\nc\n", "a\nx\nb\nc\n", false},
		{"changed what is deleted", abc, "a\nc\n", "a\nB\nc\n", "", true},
		{"theirs longer above", "1\n2\n3\n4\n", "x\ny\n1\n2\n3\n4\n", "1\n2\n3\nfour\n", "x\ny\n1\n2\n3\nfour\n", false},
		{"theirs shorter above", "1\n2\n3\n4\n", "3\n4\n", "1\n2\n3\nfour\n", "3\nfour\n", false},
		{"theirs turned to CRLF", "1\n2\n3\n", "1\r\n2\r\n3\r\n", "1\n2\nthree\n", "1\r\n2\r\nthree\r\n", false},
		{"theirs lost the last newline", "1\n2\n3\n", "1\n2\n3", "one\n2\n3\n", "one\n2\n3", false},
		{"ours added below one without newline", "1\n2", "one\n2", "1\n2\n3", "one\n2\n3", false},
		{"theirs emptied", abc, "", "a\nB\nc\n", "", true},
		{"ours emptied", abc, abc, "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, clash := merge3(tt.base, tt.theirs, tt.ours)
			if got != tt.want || (len(clash) > 0) != tt.clash {
				t.Errorf("got %q, clash %v; want %q, %t", got, clash, tt.want, tt.clash)
			}
		})
	}
}

func TestAdoptKeepsWhatAModelDoesNotSee(t *testing.T) {
	for _, tt := range []struct{ name, current, wanted, want string }{
		{"CRLF", "a\r\nb\r\n", "a\nB\nc\n", "a\r\nB\r\nc\r\n"},
		{"CRLF written as CRLF", "a\r\nb\r\n", "a\r\nB\r\n", "a\r\nB\r\n"},
		{"LF written as CRLF", "a\nb\n", "a\r\nB\r\n", "a\nB\n"},
		{"mixed", "a\r\nb\nc\n", "a\nb\nC\n", "a\r\nb\nC\n"},
		{"mark", "\ufeffa\n", "b\n", "\ufeffb\n"},
		{"mark written", "\ufeffa\n", "\ufeffb\n", "\ufeffb\n"},
		{"mark written where none was", "a\n", "\ufeffb\n", "b\n"},
		{"mark in the text", "a\n", "a\ufeffb\n", "a\ufeffb\n"},
		{"no final newline", "a\nb", "a\nB", "a\nB"},
		{"a final newline with another change", "a\nb", "A\nb\n", "A\nb\n"},
		{"a final newline with the last line", "a\nb", "a\nB\n", "a\nB\n"},
		{"a final newline where CRLF ends lines", "a\r\nb", "A\nb\n", "A\r\nb\r\n"},
		{"lone CR untouched", "a\rb\nc\n", "a\nb\nC\n", "a\rb\nC\n"},
		{"lone CR written as it is", "a\rb\nc\n", "a\rb\nC\n", "a\rb\nC\n"},
		{"a line behind a lone CR", "a\rb\nc\n", "a\nx\nb\nc\n", "a\rx\nb\nc\n"},
		{"before its line's end", "a\r\r\nb\r\n", "a\n\nB\n", "a\r\r\nB\r\n"},
		{"a new lone CR", "a\nb\n", "a\nb\n10%\r20%\n", "a\nb\n10%\r20%\n"},
		{"CR only", "a\rb\r", "a\nB\n", "a\rB\r"},
		{"CR only, a line more", "a\rb\r", "a\nb\nc\n", "a\rb\rc\r"},
		{"CR only, the last end forgotten", "a\rb\r", "A\rb", "A\rb\r"},
		{"CR only, no last end", "a\rb", "A\nb", "A\rb"},
		{"final newline forgotten", "a\nb\n", "a\nB", "a\nB\n"},
		{"only the final newline is added", "a\nb", "a\nb\n", "a\nb\n"},
		{"only the final newline is taken", "a\nb\n", "a\nb", "a\nb"},
		{"trailing empty lines", "a\n\n\n", "b\n\n\n", "b\n\n\n"},
		{"emptied", "a\r\n", "", ""},
		{"from empty", "", "a", "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := adopt(tt.current, tt.wanted); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOrdinaryPatchesComeOutAsGitMakesThem(t *testing.T) {
	compared := 0
	for _, tt := range corpus {
		if tt.refuse != "" || tt.want == "=" || strings.Contains(tt.file, "\r") || strings.Contains(tt.diff, "\r") || strings.HasPrefix(tt.file, workspace.ByteOrderMark) {
			continue
		}
		if strings.Contains(tt.diff, ",0 +") {
			continue // the library is a line off where a hunk shows none; git is not
		}
		diff := tt.diff
		if !strings.Contains(diff, "+++ ") {
			diff = "--- a/f.txt\n+++ b/f.txt\n" + diff
		}
		files, _, err := gitdiff.Parse(strings.NewReader(diff))
		if err != nil || len(files) != 1 {
			continue // what git refuses we may know how to place
		}
		var out bytes.Buffer
		if gitdiff.Apply(&out, strings.NewReader(tt.file), files[0]) != nil {
			continue
		}
		compared++
		if out.String() != tt.want {
			t.Errorf("%s: git makes %q, want %q", tt.name, out.String(), tt.want)
		}
	}
	if compared < 15 {
		t.Errorf("only %d patches were compared", compared)
	}
}

// FuzzApplyThenReverse takes two texts: the diff between them, applied, gives the
// second, and the diff back gives the first, byte for byte; or it is refused for
// its ambiguity.
func FuzzApplyThenReverse(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n")
	f.Add("a\nb", "a\nb\n")
	f.Add("", "x\n\n\n")
	f.Add("a\r\nb\r\n", "a\r\nc\r\nb\r\n")
	f.Add("--- a\n+++ b\n@@ -1 +1 @@\n", "--- a\n@@\n\\ No newline\n")
	f.Add("\ufeffa\nb\n", "\ufeffa\nc\n")
	f.Add("x\n\n\n\ny", "x\n\n\ny\n\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		// A diff says nothing of marks, and a lone CR before a line's end is taken
		// for one half of it; both are kept as they are by their own rules.
		if strings.Contains(a+b, "\r") || strings.Contains(a+b, workspace.ByteOrderMark) {
			return
		}
		for range 2 {
			patch := udiff.Unified("a/f.txt", "b/f.txt", a, b)
			if patch == "" {
				return
			}
			d, err := diff.Parse(patch)
			if err != nil {
				t.Fatalf("the diff\n%s\nis refused: %v", patch, err)
			}
			// The same of a file with a mark or other line ends, which a diff does not show.
			for _, as := range []func(string) string{
				func(s string) string { return s },
				func(s string) string { return workspace.ByteOrderMark + s },
				func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
				func(s string) string { return workspace.ByteOrderMark + strings.ReplaceAll(s, "\n", "\r\n") },
			} {
				before, after := as(a), as(b)
				if strings.Contains(after, "\r") && !strings.Contains(before, "\r") {
					continue // the file has no line end to go by
				}
				got, _, err := diff.Apply(before, d[0])
				switch {
				case errors.Is(err, diff.ErrApplied):
					t.Fatalf("the diff\n%s\nis taken for applied to %q", patch, before)
				case err != nil && strings.Contains(err.Error(), "matches at lines"):
					return
				case err != nil:
					t.Fatalf("the diff\n%s\nof %q is refused: %v", patch, before, err)
				case got != after:
					t.Fatalf("the diff\n%s\nmakes %q of %q, want %q", patch, got, before, after)
				}
			}
			a, b = b, a
		}
	})
}

// FuzzMerge checks what holds for any three texts.
func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nX\nc\n", "a\nb\nC\n")
	f.Add("a\r\nb", "a\r\nb\r\nc", "b")
	f.Add("", "a", "b\n")
	f.Fuzz(func(t *testing.T, base, theirs, ours string) {
		if got, clash := merge3(base, theirs, base); len(clash) > 0 || got != theirs {
			t.Errorf("without a change of ours: %q, %v", got, clash)
		}
		if got, clash := merge3(base, base, ours); len(clash) > 0 || got != ours {
			t.Errorf("without a change of theirs: %q, %v", got, clash)
		}
		got, clash := merge3(base, theirs, ours)
		if len(clash) > 0 {
			return
		}
		if back, c := merge3(ours, ours, got); len(c) > 0 || back != got {
			t.Errorf("%q is no change of ours", got)
		}
		// Every line comes from one of the three.
		from := map[string]bool{}
		for _, text := range []string{base, theirs, ours} {
			for _, l := range diff.Texts(diff.Split(text)) {
				from[l] = true
				from[strings.TrimSuffix(l, "\r")] = true // a line ended later
			}
		}
		for _, l := range diff.Texts(diff.Split(got)) {
			if !from[l] {
				t.Errorf("the line %q is from nowhere", l)
			}
		}
		if adopted := adopt(theirs, ours); len(diff.Texts(diff.Split(adopted))) == 0 && strings.Trim(ours, "\ufeff\r\n") != "" {
			t.Errorf("adopting %q loses it", ours)
		}
	})
}

func TestPlainTextShowsWhatAScreenWould(t *testing.T) {
	var steps strings.Builder
	for i := range 5000 {
		steps.WriteString("\x1b[2K\rstep " + string(rune('0'+i%10)))
	}
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "a\tb\n", "a\tb\n"},
		{"colours", "\x1b[1;31merror\x1b[0m: x\n", "error: x\n"},
		{"progress", steps.String() + "\nEND\n", "step 9\nEND\n"},
		{"overwritten in part", "12345\rab\n", "ab345\n"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"backspace", "abc\b\bX\n", "aXc\n"},
		{"title", "\x1b]0;title\x07text\n", "text\n"},
		{"link", "\x1b]8;;http://x\x1b\\name\x1b]8;;\x1b\\\n", "name\n"},
		{"unfinished sequence", "a\x1b", "a"},
		{"unfinished string", "a\x1b]0;b\nc\n", "a0;b\nc\n"},
		{"8-bit sequence", "a\u009b31mb", "ab"},
		{"invalid", "a\xff\xfeb", "a\ufffdb"},
		{"NUL", "a\x00b", "a\ufffdb"},
		{"bell and others", "a\x07\x0b\x7fb", "ab"},
		{"wide characters", "é€😀\rx\n", "x€😀\n"},
		{"cursor to column", "abc\x1b[Gx\n", "xbc\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := plainText([]byte(tt.in)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHeadTailCountsCharacters(t *testing.T) {
	long := strings.Repeat("😀", 100)
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abc", 3, "abc"},
		{long, 100, long},
		{long, 20, long[:40] + "\n[... 80 characters elided ...]\n" + long[:40]},
		{"abcdefghi", 5, "ab\n[... 4 characters elided ...]\nghi"},
	} {
		if got := headTail(tt.in, tt.limit); got != tt.want {
			t.Errorf("headTail(%d) is %q, want %q", tt.limit, got, tt.want)
		}
	}
	if got, want := joinCut("abcd", "wxyz", 10, 4), "ab\n[... 14 characters elided ...]\nyz"; got != want {
		t.Errorf("joinCut is %q, want %q", got, want)
	}
}

func FuzzPlainText(f *testing.F) {
	f.Add([]byte("\x1b[2K\rstep\x1b]0;x\x07\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := plainText(b)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, isControl) {
			t.Errorf("%q became %q", b, got)
		}
	})
}
