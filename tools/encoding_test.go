package tools

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// asUTF16 is a text as a file of UTF-16 has it.
func asUTF16(t *testing.T, mark, text string) string {
	t.Helper()
	raw, err := workspace.Encode(text, []byte(mark))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestAFileOfUTF16IsText goes through every tool with files of UTF-16, short ones and
// one that is read in parts.
func TestAFileOfUTF16IsText(t *testing.T) {
	for name, mark := range map[string]string{"little endian": "\xff\xfe", "big endian": "\xfe\xff"} {
		t.Run(name, func(t *testing.T) {
			as := func(text string) string { return asUTF16(t, mark, text) }
			w := newWorld(t, map[string]string{
				"a.txt": as("one\r\ncafé 漢 🦊\r\nthree\r\n"), "b.txt": as("x\n"), "torn.txt": as("x\n") + "y",
			}, func(c *Config) { c.MaxRead = 1000 })
			w.put("long.txt", as(strings.Repeat("lang\n", 500)+"ende"))
			want(t, w.run(readOp("a.txt")), Completed, "one\r\ncafé 漢 🦊\r\nthree\r\n")
			want(t, w.run(readOp("long.txt")), Completed, "lang\nlang\n", "ende")
			want(t, w.Run(t.Context(), Op{Tool: &abi.Use{Name: "search", Arguments: `{"pattern":"^caf. 漢 🦊$"}`}}, ""), Completed, "a.txt\n2: café 漢 🦊")
			out := w.run(patchOp("a.txt", "@@\n one\n-café 漢 🦊\n+cafés 漢字 🦊🦊\n"))
			want(t, out, Completed, "patched a.txt: 1 line added, 1 removed")
			if got := w.get("a.txt"); got != as("one\r\ncafés 漢字 🦊🦊\r\nthree\r\n") {
				t.Errorf("the patched file is %q", got)
			}
			want(t, w.run(writeOp("b.txt", "y\n")), Failed, "read it first")
			want(t, w.run(readOp("b.txt")), Completed, "x\n")
			want(t, w.run(writeOp("b.txt", "é\n")), Completed, "wrote b.txt")
			if got := w.get("b.txt"); got != as("é\n") {
				t.Errorf("the written file is %q", got)
			}
			want(t, w.run(readOp("torn.txt")), Failed, "damaged UTF-16 text")
			want(t, w.run(patchOp("torn.txt", "@@\n-x\n+y\n")), Failed, "damaged UTF-16 text")
		})
	}
}

// TestAnEncodingThatIsNotKnownIsKept has files with bytes that are no UTF-8: what is
// ASCII can be changed, and what is not can be moved and removed, but nothing else
// written.
func TestAnEncodingThatIsNotKnownIsKept(t *testing.T) {
	const (
		latin1   = "a = 'caf\xe9'\nb = 'na\xefve'\nc = 3\n"
		shiftJIS = "a = '\x93\xfa\x96\x7b'\nb = 2\nc = 3\n"
	)
	for _, tt := range []struct{ name, before, diff, after string }{
		{"ASCII for ASCII", latin1, "@@\n-c = 3\n+c = 4\n", "a = 'caf\xe9'\nb = 'na\xefve'\nc = 4\n"},
		{"ASCII in Shift-JIS", shiftJIS, "@@\n-b = 2\n+b = 3\n", "a = '\x93\xfa\x96\x7b'\nb = 3\nc = 3\n"},
		{"a Japanese line", shiftJIS, "@@\n b = 2\n+d = '日本'\n", ""},
		{"a letter that the file could have", latin1, "@@\n-c = 3\n+c = 'é'\n", ""},
		{"the sign for what cannot be shown", latin1, "@@\n-c = 3\n+c = '\ufffd'\n", ""},
		{"an escape of the language", shiftJIS, "@@\n b = 2\n+d = '\\u65e5'\n", "a = '\x93\xfa\x96\x7b'\nb = 2\nd = '\\u65e5'\nc = 3\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.py": tt.before})
			out := w.run(patchOp("a.py", tt.diff))
			state, after, says := Completed, tt.after, "patched"
			if after == "" {
				state, after, says = Failed, tt.before, "a.py is not UTF-8 and its encoding is not known"
			}
			want(t, out, state, says)
			if got := w.get("a.py"); got != after {
				t.Errorf("the file is %q, want %q", got, after)
			}
		})
	}
	// What a tool computes from the file's own bytes is no addition.
	for after, ok := range map[string]bool{
		"b = 'na\xefve'\na = 'caf\xe9'\nc = 3\n":   true, // moved
		"a = \"caf\xe9\"\nb = 'na\xefve'\nc = 3\n": true, // in a line of which the rest changed
		"c = 3\n": true,
		"a = 'caf\xe9'\nb = 'na\xefve'\nc = 'caf\xe9\xe9'\n": false,
	} {
		if err := keepsEncoding(file{path: "a", text: latin1}, after); (err == nil) != ok {
			t.Errorf("%q: %v", after, err)
		}
	}
}
