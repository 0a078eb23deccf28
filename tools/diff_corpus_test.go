package tools

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

const (
	abc   = "a\nb\nc\n"
	goSrc = "package a\n\nfunc A() int {\n\treturn 1\n}\n\nfunc B() int {\n\treturn 1\n}\n"
	ten   = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
)

// corpus are patches as models write them: what they make of a file, or which
// words refuse them. An empty refusal and want "=" mean that it is already
// applied.
var corpus = []struct {
	name, file, diff string
	want, refuse     string
}{
	// Well-formed.
	{"one line", abc, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
	{"with file headers", abc, "--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
	{"with git headers", abc, "diff --git a/f.txt b/f.txt\nindex 0123456..789abcd 100644\n--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
	{"headers without prefixes", abc, "--- f.txt\n+++ f.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
	{"headers with times", abc, "--- f.txt\t2026-01-01 00:00:00\n+++ f.txt\t2026-01-01 00:00:01\n@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n", ""},
	{"two hunks", ten, "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -8,3 +8,3 @@\n 8\n-9\n+nine\n 10\n", "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n10\n", ""},
	{"deletion", abc, "@@ -1,3 +1,2 @@\n a\n-b\n c\n", "a\nc\n", ""},
	{"insertion", abc, "@@ -1,2 +1,3 @@\n a\n+x\n b\n", "a\nx\nb\nc\n", ""},
	{"insertion at the start", abc, "@@ -1,1 +1,2 @@\n+x\n a\n", "x\na\nb\nc\n", ""},
	{"insertion at the end", abc, "@@ -3,1 +3,2 @@\n c\n+d\n", "a\nb\nc\nd\n", ""},
	{"all lines replaced", abc, "@@ -1,3 +1,2 @@\n-a\n-b\n-c\n+x\n+y\n", "x\ny\n", ""},
	{"all lines deleted", abc, "@@ -1,3 +0,0 @@\n-a\n-b\n-c\n", "", ""},
	{"lines that look like headers", "-- a\n++ b\nc\n", "@@ -1,3 +1,3 @@\n--- a\n+-- A\n ++ b\n c\n", "-- A\n++ b\nc\n", ""},
	{"deleted and added lines that look like file headers", "-- a\nb\n", "@@ -1,2 +1,2 @@\n--- a\n+++ a\n b\n", "++ a\nb\n", ""},
	{"text with regexp and format signs", "log(1)\n", "@@ -1 +1 @@\n-log(1)\n+echo \"$$ $& $1 ${x} %s \\\\n\"\n", "echo \"$$ $& $1 ${x} %s \\\\n\"\n", ""},

	// Wrong numbers.
	{"wrong line number", ten, "@@ -90,3 +90,3 @@\n 4\n-5\n+five\n 6\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n", ""},
	{"counts too small", abc, "@@ -1,1 +1,1 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
	{"counts too big", abc, "@@ -1,9 +1,9 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
	{"counts too big before another hunk", ten, "@@ -1,9 +1,9 @@\n 1\n-2\n+two\n@@ -9,9 +9,9 @@\n 8\n-9\n+nine\n", "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n10\n", ""},
	{"no counts", abc, "@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n", ""},
	{"bare header", abc, "@@\n a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
	{"double bare header", abc, "@@ @@\n a\n-b\n+B\n", "a\nB\nc\n", ""},
	{"dots for numbers", abc, "@@ ... @@\n a\n-b\n+B\n", "a\nB\nc\n", ""},
	{"no header at all", abc, " a\n-b\n+B\n c\n", "a\nB\nc\n", ""},
	{"file headers and no hunk header", abc, "--- a/f.txt\n+++ b/f.txt\n a\n-b\n+B\n", "a\nB\nc\n", ""},
	{"hunks out of order", ten, "@@ -8,3 +8,3 @@\n 8\n-9\n+nine\n 10\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n10\n", ""},
	{"hunks that show the same lines", ten, "@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n 4\n@@ -3,4 +3,4 @@\n 3\n 4\n-5\n+five\n 6\n", "1\ntwo\n3\n4\nfive\n6\n7\n8\n9\n10\n", ""},

	// Context that is not quite the file's.
	{"trailing space in the file", "a  \nb\t\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a  \nB\nc\n", ""},
	{"trailing space in the diff", abc, "@@ -1,3 +1,3 @@\n a  \n-b \n+B\n c\n", "a\nB\nc\n", ""},
	{"empty context line lost its space", "a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n", ""},
	{"context line lost its space", "\ta\nb\n", "@@ -1,2 +1,2 @@\n\ta\n-b\n+B\n", "\ta\nB\n", ""},
	{"empty lines after the diff", abc, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\n\n", "a\nB\nc\n", ""},
	{"empty line between hunks", ten, "@@ -1,2 +1,2 @@\n 1\n-2\n+two\n\n@@ -9,2 +9,2 @@\n-9\n+nine\n 10\n", "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n10\n", ""},
	{"in a fence", abc, "```diff\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n```\n", "a\nB\nc\n", ""},
	{"words before", abc, "Here is the change:\n\n--- a/f.txt\n+++ b/f.txt\n@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n", ""},
	{"leading space differs", "  a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "", "matches nowhere"},
	{"context is missing in the file", abc, "@@ -1,3 +1,3 @@\n x\n-b\n+B\n c\n", "", "hunk 1 (@@ -1,3 +1,3 @@) matches nowhere"},
	{"a context line is left out", ten, "@@ -1,4 +1,4 @@\n 1\n 2\n-4\n+four\n", "", "Its line 3 is \"4\", but line 3 of the file is \"3\""},
	{"second hunk fits nowhere", ten, "@@ -1,2 +1,2 @@\n 1\n-2\n+two\n@@ -5,1 +5,1 @@\n-fife\n+five\n", "", "hunk 2 (@@ -5,1 +5,1 @@) matches nowhere; nothing was applied"},
	{"only what is added is in the file", "x\n}\ny\n", "@@\n-foo\n+}\n", "", "matches nowhere"},
	{"empty file, but lines are shown", "", "@@ -1 +1 @@\n-a\n+b\n", "", "The file is empty"},

	// Headings and numbers.
	{"heading and another number", goSrc, "@@ -4 +4 @@ func B() int {\n-\treturn 1\n+\treturn 2\n", "", "matches at lines 4 and 8"},
	{"number and another heading", goSrc, "@@ -8 +8 @@ func A() int {\n-\treturn 1\n+\treturn 2\n", "", "matches at lines 4 and 8"},
	{"anchor of the first", goSrc, "@@ func A() int {\n-\treturn 1\n+\treturn 2\n", strings.Replace(goSrc, "return 1", "return 2", 1), ""},
	{"start of an anchor", goSrc, "@@ func B()\n-\treturn 1\n+\treturn 2\n", "", "matches at lines 4 and 8"},
	{"anchor in a comment", "# def b\ndef a():\n    x\ndef b():\n    x\n", "@@ def b\n-    x\n+    y\n", "", "matches at lines 3 and 5"},
	{"anchor below which others follow", "a:\n  x\nb:\n  z\nc:\n  x\n", "@@ b:\n-  x\n+  y\n", "", "matches at lines 2 and 6"},
	{"two hunks in one order only", goSrc, "@@\n-func B() int {\n+func C() int {\n@@\n-\treturn 1\n+\treturn 2\n", goSrc[:40] + strings.NewReplacer("B()", "C()", "return 1", "return 2").Replace(goSrc[40:]), ""},
	{"two hunks in more orders", goSrc + "\nfunc D() int {\n\treturn 1\n}\n", "@@\n-func B() int {\n+func C() int {\n@@\n-\treturn 1\n+\treturn 2\n", "", "matches at lines 4, 8 and 12"},

	// Wrappings and repetitions.
	{"quoted as in a mail", abc, "> @@\n>  a\n> -b\n> +B\n>  c\n", "a\nB\nc\n", ""},
	{"quoted without a space", abc, ">@@\n> a\n>-b\n>+B\n", "a\nB\nc\n", ""},
	{"indented as a whole", abc, "    @@\n     a\n    -b\n    +B\n", "a\nB\nc\n", ""},
	{"indented in part", abc, "    @@\n a\n-b\n+B\n", "", "Cause: a malformed @@ line"},
	{"a hunk twice", abc, "@@\n a\n-b\n+B\n@@\n a\n-b\n+B\n", "a\nB\nc\n", ""},
	{"a hunk twice, with other numbers", abc, "@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -7,2 +7,2 @@\n a\n-b\n+B\n", "a\nB\nc\n", ""},
	{"a hunk for each of two places", "a\nb\na\nb\n", "@@\n a\n-b\n+B\n@@\n a\n-b\n+B\n", "a\nB\na\nB\n", ""},
	{"a hunk twice, of three places", "a\na\na\n", "@@\n-a\n+A\n@@\n-a\n+A\n", "", "matches at lines 1, 2 and 3"},

	// Ambiguity.
	{"matches twice", goSrc, "@@ -3,2 +3,2 @@\n \treturn 1\n-}\n+} // x\n", "", "matches at lines 4 and 8"},
	{"right number does not help", "x\ny\nx\ny\n", "@@ -1,2 +1,2 @@\n x\n-y\n+Y\n", "", "matches at lines 1 and 3"},
	{"heading tells apart", goSrc, "@@ -8,2 +8,2 @@ func B() int {\n \treturn 1\n-}\n+} // x\n", strings.Replace(goSrc, "}\n", "}\n", 1)[:len(goSrc)-2] + "} // x\n", ""},
	{"heading names neither", goSrc, "@@ -8,2 +8,2 @@ func C() int {\n \treturn 1\n-}\n+} // x\n", "", "matches at lines"},
	{"three places", "x\nx\nx\n", "@@ -1 +1 @@\n-x\n+y\n", "", "lines 1, 2 and 3"},
	{"an end of the file that is not there does not tell apart", "a\nb\na\nb\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n", "", "matches at lines 1 and 3"},
	{"end of file tells apart", "x\ny\nx\ny", "@@ -3,2 +3,2 @@\n x\n-y\n\\ No newline at end of file\n+Y\n\\ No newline at end of file\n", "x\ny\nx\nY", ""},

	// Insertions without context.
	{"after a line by number", "a\nz\n", "@@ -1,0 +2,1 @@\n+m\n", "", "a number alone may be off"},
	{"at the start by number", "a\nz\n", "@@ -0,0 +1,1 @@\n+m\n", "", "a number alone may be off"},
	{"at the end by number", "a\nz\n", "@@ -2,0 +3 @@\n+m\n", "a\nz\nm\n", ""},
	{"number beyond the end", "a\nz\n", "@@ -7,0 +8 @@\n+m\n", "", "shows no line of the file"},
	{"into an empty file", "", "@@ -0,0 +1 @@\n+m\n", "m\n", ""},
	{"into an empty file, bare", "", "@@\n+m\n", "m\n", ""},
	{"nowhere", abc, "@@\n+m\n", "", "has no place"},
	{"nowhere, with numbers that count lines", abc, "@@ -1,2 +1,3 @@\n+m\n", "", "has no place"},
	{"nowhere, with a number that counts one line", abc, "@@ -1 +1,2 @@\n+m\n", "", "has no place"},
	{"below an anchor", "func A(){}\nfunc B(){}\n", "@@ func A(){}\n+// note\n", "func A(){}\n// note\nfunc B(){}\n", ""},
	{"below the start of a line", "func A(){}\nfunc B(){}\n", "@@ func A\n+// note\n", "", `no whole line is "func A"`},
	{"below a line that is a comment", "# func A\nfunc B(){}\n", "@@ func A\n+// note\n", "", `no whole line is "func A"`},
	{"below an anchor that is absent", "func A(){}\nfunc B(){}\n", "@@ func C\n+// note\n", "", `no whole line is "func C"`},
	{"below an anchor that is there twice", "func A\nfunc A\n", "@@ func A\n+// note\n", "", `"func A" is in lines 1 and 2`},
	{"anchor and context", goSrc, "@@ func B() int {\n-\treturn 1\n+\treturn 2\n", strings.TrimSuffix(goSrc, "\treturn 1\n}\n") + "\treturn 2\n}\n", ""},
	{"anchor is the first line of the context", goSrc, "@@ func B() int {\n func B() int {\n-\treturn 1\n+\treturn 2\n", strings.TrimSuffix(goSrc, "\treturn 1\n}\n") + "\treturn 2\n}\n", ""},
	{"an anchor twice", "class A\n  x\nclass A\n  x\n", "@@ class A\n@@ class A\n-  x\n+  y\n", "", "matches at lines 2 and 4"},
	{"anchors within each other", "class A:\n  def f:\n    x\nclass B:\n  def f:\n    x\n", "@@ class B:\n@@ def f:\n-    x\n+    y\n", "class A:\n  def f:\n    x\nclass B:\n  def f:\n    y\n", ""},

	// Line endings, marks and the last line.
	{"CRLF file, LF patch", "alpha\r\nbeta\r\ngamma\r\n", "@@ -1,2 +1,2 @@\n alpha\n-beta\n+BETA\n", "alpha\r\nBETA\r\ngamma\r\n", ""},
	{"CRLF file, CRLF patch", "alpha\r\nbeta\r\ngamma\r\n", "@@ -1,2 +1,2 @@\r\n alpha\r\n-beta\r\n+BETA\r\n", "alpha\r\nBETA\r\ngamma\r\n", ""},
	{"LF file, CRLF patch", abc, "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nB\nc\n", ""},
	{"mixed file keeps each line's ending", "a\r\nb\nc\r\n", "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+x\n c\n", "a\r\nB\nx\r\nc\r\n", ""},
	{"no final newline stays", "a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "A\nb", ""},
	{"no final newline stays when the last line changes", "{\n \"k\": 1\n}", "@@ -1,3 +1,3 @@\n {\n- \"k\": 1\n-}\n+ \"k\": 2\n+}\n", "{\n \"k\": 2\n}", ""},
	{"no newline on both sides", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n", "a\nB", ""},
	{"ended line, no mark", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB\n", ""},
	{"ended line, mark on the old side", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n", "a\nB\n", ""},
	{"ended line, mark on the new side", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n", "a\nB", ""},
	{"ended line, mark on both sides", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n", "a\nB", ""},
	{"open line, no mark", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB", ""},
	{"open line, mark on the old side", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n", "a\nB\n", ""},
	{"open line, mark on the new side", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n", "a\nB", ""},
	{"no final newline stays when a line above changes", "{\n \"k\": 1\n}", "@@ -1,3 +1,3 @@\n {\n- \"k\": 1\n+ \"k\": 2\n }\n", "{\n \"k\": 2\n}", ""},
	{"mark on a line that stays", "{\n \"k\": 1\n}", "@@ -1,3 +1,3 @@\n {\n- \"k\": 1\n+ \"k\": 2\n }\n\\ No newline at end of file\n", "{\n \"k\": 2\n}", ""},
	{"mark in an empty file", "", "@@ -0,0 +1 @@\n+m\n\\ No newline at end of file\n", "m", ""},
	{"newline is added", "a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n", ""},
	{"newline is taken", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb", ""},
	{"line added below one without newline", "a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc", ""},
	{"trailing empty lines stay", "a\n\n\n", "@@ -1 +1 @@\n-a\n+A\n", "A\n\n\n", ""},
	{"trailing empty lines stay below the last text", "a\nb\n\n\n", "@@ -1,4 +1,4 @@\n a\n-b\n+B\n \n \n", "a\nB\n\n\n", ""},
	{"a trailing empty line is taken", "a\n\n\n", "@@ -1,3 +1,2 @@\n a\n \n-\n", "a\n\n", ""},
	{"byte order mark in the text is text", "a\n\ufeffb\nc\n", "@@ -2,2 +2,2 @@\n \ufeffb\n-c\n+C\n", "a\n\ufeffb\nC\n", ""},
	{"byte order mark in the text is not left out", "a\n\ufeffb\nc\n", "@@ -2,2 +2,2 @@\n b\n-c\n+C\n", "", "matches nowhere"},
	{"byte order mark stays", "\ufefffirst\nsecond\n", "@@ -1,2 +1,2 @@\n first\n-second\n+2nd\n", "\ufefffirst\n2nd\n", ""},
	{"byte order mark stays on a changed line", "\ufefffirst\nsecond\n", "@@ -1 +1 @@\n-first\n+1st\n", "\ufeff1st\nsecond\n", ""},
	{"Latin-1 bytes elsewhere stay", "k: 1\n# na\xefve\n", "@@ -1 +1 @@\n-k: 1\n+k: 2\n", "k: 2\n# na\xefve\n", ""},
	{"replacement character does not match Latin-1", "k: 1\n# na\xefve\n", "@@ -1,2 +1,2 @@\n-k: 1\n+k: 2\n # na\ufffdve\n", "", "matches nowhere"},

	// Already applied, nothing to do, collisions.
	{"already applied", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "=", ""},
	{"insertion already applied", "a\nx\nb\n", "@@ -1,2 +1,3 @@\n a\n+x\n b\n", "=", ""},
	{"deletion already applied", "a\nc\n", "@@ -1,3 +1,2 @@\n a\n-b\n c\n", "=", ""},
	{"deletion of a line that is elsewhere", "a\nc\nz\nbb\n", "@@\n a\n-bb\n c\n", "", "matches nowhere"},
	{"insertion with context on one side", "a\nx\n", "@@\n a\n+x\n b\n", "", "matches nowhere"},
	{"half applied", "1\ntwo\n3\n4\n5\n", "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -4,2 +4,2 @@\n-4\n+four\n 5\n", "", "already in the file"},
	{"no change in it", abc, "@@ -1,3 +1,3 @@\n a\n b\n c\n", "", "no line that starts with '-' or '+'"},
	{"line replaced by itself", abc, "@@ -2 +2 @@\n-b\n+b\n", abc, ""},
	{"empty", abc, "", "", "no hunk"},
	{"prose", abc, "please change b to B", "", "no hunk"},
	{"same line changed twice", abc, "@@ -2 +2 @@\n-b\n+x\n@@ -2 +2 @@\n-b\n+y\n", "", "change the same lines"},
	{"two insertions at one place", abc, "@@\n a\n+x\n b\n@@\n a\n+y\n b\n", "", "change the same lines"},

	// Other forms, other files.
	{"envelope", abc, "*** Begin Patch\n*** Update File: f.txt\n@@\n a\n-b\n+B\n*** End Patch\n", "a\nB\nc\n", ""},
	{"envelope with the end of the file", "x\ny\nx\ny\n", "*** Begin Patch\n*** Update File: f.txt\n@@\n x\n-y\n+Y\n*** End of File\n*** End Patch\n", "x\ny\nx\nY\n", ""},
	{"envelope for another file", abc, "*** Begin Patch\n*** Update File: ../../x\n@@\n-b\n+B\n*** End Patch\n", "", "names the file"},
	{"envelope moves", abc, "*** Begin Patch\n*** Update File: f.txt\n*** Move to: /abs\n@@\n-b\n+B\n*** End Patch\n", "", "Move to"},
	{"envelope deletes", abc, "*** Begin Patch\n*** Delete File: f.txt\n*** End Patch\n", "", "Delete File"},
	{"another file", abc, "--- a/g.txt\n+++ b/g.txt\n@@ -2 +2 @@\n-b\n+B\n", "", "names the file"},
	{"header leaves the root", abc, "--- a/f.txt\n+++ b/../../x\n@@ -2 +2 @@\n-b\n+B\n", "", "names the file"},
	{"header is absolute", abc, "--- /etc/x\n+++ /etc/x\n@@ -2 +2 @@\n-b\n+B\n", "", "names the file"},
	{"header with NUL", abc, "--- a/f.txt\x00\n+++ b/f.txt\x00\n@@ -2 +2 @@\n-b\n+B\n", "", "names the file"},
	{"git's hooks", abc, "--- a/f.txt\n+++ b/.git/hooks/pre-commit\n@@ -2 +2 @@\n-b\n+B\n", "", "names the file"},
	{"two files", abc, "--- a/f.txt\n+++ b/f.txt\n@@ -2 +2 @@\n-b\n+B\n--- a/g.txt\n+++ b/g.txt\n@@ -1 +1 @@\n-x\n+y\n", "", "names the file"},
	{"quoted header leaves the root", abc, "--- a/f.txt\n+++ \"b/\\056\\056/x\"\n@@ -2 +2 @@\n-b\n+B\n", "", "names the file"},
	{"quoted header", abc, "--- \"a/f.txt\"\n+++ \"b/f.txt\"\n@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n", ""},
	{"old header leaves the root", abc, "--- a/../../x\n+++ b/f.txt\n@@ -2 +2 @@\n-b\n+B\n", "", "names the file"},
	{"envelope adds outside", abc, "*** Begin Patch\n*** Add File: ../../x\n+B\n*** End Patch\n", "", "names the file"},
	{"envelope adds what is there", abc, "*** Begin Patch\n*** Add File: f.txt\n+B\n*** End Patch\n", "", "exists already"},
	{"new file that is there", abc, "--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+B\n", "", "exists already"},
	{"copy", abc, "diff --git a/f.txt b/x\ncopy from f.txt\ncopy to ../x\n", "", "copy"},
	{"mode", abc, "diff --git a/f.txt b/f.txt\nold mode 100644\nnew mode 100755\n", "", "no hunk"},
	{"index and a rule", abc, "Index: f.txt\n===================================================================\n--- f.txt\t(revision 1)\n+++ f.txt\t(working copy)\n@@ -2 +2 @@\n-b\n+B\n", "a\nB\nc\n", ""},
	{"rename", abc, "diff --git a/f.txt b/x\nrename from f.txt\nrename to ../x\n", "", "rename"},
	{"deletion of the file", abc, "--- a/f.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-a\n-b\n-c\n", "", "deletes the file"},
	{"merge", abc, "@@@ -1,3 -1,3 +1,3 @@@\n  a\n--b\n++B\n", "", "combined"},
	{"binary", abc, "GIT binary patch\nliteral 0\n", "", "binary"},
}

// TestPatchCorpus has each patch applied to a file on disk: its bytes are right
// afterwards, or untouched, and nothing else is there.
func TestPatchCorpus(t *testing.T) {
	for _, tt := range corpus {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f.txt": tt.file})
			got := w.run(patchOp("f.txt", tt.diff))
			after := tt.want
			switch {
			case tt.want == "=":
				want(t, got, Completed, "f.txt is unchanged: the patch is already applied")
				after = tt.file
			case tt.refuse != "":
				want(t, got, Failed, tt.refuse)
				after = tt.file
			case tt.want == tt.file:
				want(t, got, Completed, "f.txt is unchanged: the edit changes nothing")
			default:
				want(t, got, Completed, "patched f.txt: ")
			}
			if text := w.get("f.txt"); text != after {
				t.Errorf("the file holds %q, want %q", text, after)
			}
			if (after == tt.file) != (got.Edit == nil) {
				t.Errorf("the change is %+v", got.Edit)
			}
			var there []string
			err := filepath.WalkDir(filepath.Dir(w.dir), func(p string, _ fs.DirEntry, err error) error {
				there = append(there, filepath.Base(p))
				return err
			})
			if err != nil || strings.Join(there[1:], " ") != "w f.txt" {
				t.Errorf("there are %v, %v", there, err)
			}
		})
	}
	if len(corpus) < 60 {
		t.Errorf("only %d cases", len(corpus))
	}
}

// TestGitMakesTheSameOfAPatch compares with git wherever git takes the patch.
func TestGitMakesTheSameOfAPatch(t *testing.T) {
	needs(t, "git")
	compared := 0
	for _, tt := range corpus {
		after := tt.want
		if tt.refuse != "" || tt.want == "=" {
			continue // git may place by number what we refuse to
		}
		diff := tt.diff
		if !strings.Contains(diff, "+++ ") {
			diff = "--- a/f.txt\n+++ b/f.txt\n" + diff
		}
		w := newWorld(t, map[string]string{"f.txt": tt.file, "../f.diff": diff})
		r, err := proc.Run(t.Context(), proc.Spec{
			Argv: []string{"git", "-c", "core.autocrlf=false", "apply", "--unidiff-zero", "../f.diff"}, Dir: w.dir,
			Env:    append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(w.dir)),
			Policy: proc.Unconfined("a test's own program"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK() {
			continue // what git refuses we may know how to place
		}
		compared++
		if got := w.get("f.txt"); got != after {
			t.Errorf("%s: git makes %q, want %q", tt.name, got, after)
		}
	}
	if compared < 25 {
		t.Errorf("only %d patches were compared", compared)
	}
	t.Logf("%d of %d patches were compared", compared, len(corpus))
}
