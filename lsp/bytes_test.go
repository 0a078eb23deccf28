package lsp

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// TestAnEditChangesOnlyItsBytes in texts of every shape, open and closed, in
// every encoding that is negotiated. The fake editor refuses a position that is
// not at a character of the document.
func TestAnEditChangesOnlyItsBytes(t *testing.T) {
	texts := []struct{ name, before, after string }{
		{"emoji, no final newline", "a\nx := \"😀é\" + y", "a\nx := \"😀é\" + z"},
		{"CRLF", "one\r\ntwo\r\nthree\r\n", "one\r\n2\r\nthree\r\n"},
		{"mixed line ends", "one\r\ntwo\nthree\rfour", "one\r\ntwo\n3\rfour"},
		{"tabs and trailing space", "\tone \n\t\ttwo\t\n", "\tone \n\t\t2\t\n"},
		{"byte order mark", "\uFEFFone\ntwo\n", "\uFEFFone\n2\n"},
		{"from empty", "", "one\r\n"},
		{"to empty", "one\n", ""},
		{"final newline added", "one", "one\n"},
		{"final newline taken", "one\n😀\n", "one\n😀"},
		{"lines behind the end of a last line", "a\nb", "a\nb\nc\n"},
		{"a line behind it, without an end", "a\nb", "a\nb\nc"},
		{"lines behind the end", "a\nb\n", "a\nb\nc\n"},
		{"the last line and its end", "a\nb", "a"},
		{"the whole", "a\nb", "x\r\ny"},
		{"blank lines at the end", "a\n\n\n", "b\n\n\n"},
		{"lines in two places", "1\n2\n3\n4\n5\n6\n7\n", "1\n3\n4\n5\n6\nsix\n7\n"},
		{"combining and wide", "e\u0301 漢字 👩‍👩‍👧\nx", "e\u0301 漢字 👩‍👩‍👧\ny"},
	}
	for _, encodings := range [][]text.Encoding{nil, {text.UTF8}, {text.UTF32}} {
		files := map[string]string{}
		for i, x := range texts {
			files[fmt.Sprintf("open%d", i)], files[fmt.Sprintf("closed%d", i)] = x.before, x.before
		}
		r := start(t, lsptest.Options{Encodings: encodings}, files)
		for i, x := range texts {
			uri := r.Open(r.path(fmt.Sprintf("open%d", i)))
			r.Barrier()
			for _, name := range []string{fmt.Sprintf("open%d", i), fmt.Sprintf("closed%d", i)} {
				if got, err := r.workspace().Apply(t.Context(), r.edit(name, x.after)); err != nil || got.Unsaved {
					t.Errorf("%s, %s, %v: %+v, %v", x.name, name, encodings, got, err)
				}
				if got := r.read(name); got != x.after {
					t.Errorf("%s, %s, %v: disk %q, want %q", x.name, name, encodings, got, x.after)
				}
			}
			if got, _ := r.Text(uri); got != x.after {
				t.Errorf("%s, %v: buffer %q, want %q", x.name, encodings, got, x.after)
			}
		}
	}
}

// TestAFileOfUTF16KeepsItsEncoding: the editor shows its text, with or without the
// mark, or does not have it open.
func TestAFileOfUTF16KeepsItsEncoding(t *testing.T) {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		as := func(text string) string {
			raw, err := workspace.Encode(text, []byte(mark))
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		before := as("one\ntwo\n")
		r := start(t, lsptest.Options{}, map[string]string{"closed": before, "shown": before, "marked": before, "behind": before})
		for name, shown := range map[string]string{"shown": "one\ntwo\n", "marked": "\ufeffone\ntwo\n", "behind": "one\ntwo\n"} {
			r.OpenText(text.URI(r.path(name)), shown, 1)
		}
		r.Barrier()
		now := func(name string) string {
			if doc, open := r.workspace().Buffer(name); open {
				return doc.Text
			}
			got, err := tools.ReadText(r.workspace().Root(), name)
			if err != nil {
				t.Error(err)
			}
			return got
		}
		if err := os.WriteFile(r.path("behind"), []byte(as("one\nzwei\n")), 0o600); err != nil { // as a command does
			t.Fatal(err)
		}
		for _, name := range []string{"closed", "shown", "marked", "behind"} {
			two := "two"
			if name == "behind" {
				two = "zwei"
			}
			if got := now(name); strings.TrimPrefix(got, workspace.ByteOrderMark) != "one\n"+two+"\n" {
				t.Errorf("%s is read as %q", name, got)
			}
			after := strings.Replace(now(name), "one", "één 🦊", 1)
			if got, err := r.workspace().Apply(t.Context(), r.edit(name, after)); err != nil || got.Unsaved {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			if got, want := r.read(name), as("één 🦊\n"+two+"\n"); got != want {
				t.Errorf("%s is %q on the disk, want %q", name, got, want)
			}
		}
	}
}

func TestColumnsAreInTheNegotiatedUnit(t *testing.T) {
	const line = "x := \"😀é\" + y"
	for _, tt := range []struct {
		offered []text.Encoding
		end     string
	}{
		{nil, `"character":14`},
		{[]text.Encoding{text.UTF32, text.UTF16}, `"character":14`},
		{[]text.Encoding{text.UTF16, text.UTF8}, `"character":17`},
	} {
		r := start(t, lsptest.Options{Encodings: tt.offered}, map[string]string{"a": line})
		r.Open(r.path("a"))
		r.Barrier()
		if _, err := r.workspace().Apply(t.Context(), r.edit("a", strings.Replace(line, "y", "z", 1))); err != nil {
			t.Fatal(err)
		}
		if sent := string(r.WaitMethod("workspace/applyEdit", 0).Params); !strings.Contains(sent, tt.end) {
			t.Errorf("%v: %s is not in %s", tt.offered, tt.end, sent)
		}
	}
}
