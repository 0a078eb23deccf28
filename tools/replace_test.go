package tools

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/go-json-experiment/json"
)

func editOp(t *testing.T, args editArgs) Op {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return Op{Tool: &abi.Use{Name: "edit", Arguments: string(text)}}
}

func TestEditReplacesATextThatStandsInOnePlace(t *testing.T) {
	const source = "func a() {\n\tx := 1\n\treturn x\n}\n\nfunc b() {\n\treturn x\n}\n"
	for _, tt := range []struct {
		name, file string
		args       editArgs
		want       string // "" when it is refused
		says       string
	}{
		{"a part of a line", source, editArgs{Old: "x := 1", New: "x := 2"}, strings.Replace(source, "x := 1", "x := 2", 1), "edited f: 1 line added, 1 removed"},
		{"several lines", source, editArgs{Old: "\tx := 1\n\treturn x\n", New: "\treturn 1\n"}, "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn x\n}\n", "edited f"},
		{"a deletion", source, editArgs{Old: "\tx := 1\n", New: ""}, strings.Replace(source, "\tx := 1\n", "", 1), "edited f: 0 lines added, 1 removed"},
		{"several places", source, editArgs{Old: "return x", New: "return y"}, "", "the old text matches at lines 3 and 7; nothing was changed. Give more lines around it, so that it matches once, or set all"},
		{"places that overlap", "aaa\n", editArgs{Old: "aa", New: "b"}, "", "matches at lines 1"},
		{"all places", source, editArgs{Old: "return x", New: "return y", All: true}, strings.ReplaceAll(source, "return x", "return y"), "2 places replaced"},
		{"all of one", source, editArgs{Old: "x := 1", New: "x := 2", All: true}, strings.Replace(source, "x := 1", "x := 2", 1), "1 place replaced"},
		{"no place", source, editArgs{Old: "return z", New: "return y"}, "", "the old text matches nowhere; nothing was applied. Its line 1 is \"return·z\", but line 3 of the file is \"→return·x\""},
		{"no text", source, editArgs{Old: "", New: "y"}, "", "the old text is empty"},
		{"the same text", source, editArgs{Old: "x := 1", New: "x := 1"}, "", "the old text and the new one are the same"},
		{"another case", source, editArgs{Old: "X := 1", New: "y"}, "", "matches nowhere"},
		{"spaces for tabs", source, editArgs{Old: "    x := 1\n    return x", New: "    if y {\n        return 1\n    }"}, "func a() {\n\tif y {\n\t\treturn 1\n\t}\n}\n\nfunc b() {\n\treturn x\n}\n", "Taken although it was indented by spaces where the file has tabs."},
		{"outdented", "\t\tx()\n\t\ty()\n", editArgs{Old: "x()\ny()", New: "if z {\n\tx()\n}"}, "\t\tif z {\n\t\t\tx()\n\t\t}\n", "Taken although it was indented by a constant"},
		{"trailing blanks", source, editArgs{Old: "\tx := 1 \n\treturn x\t", New: "\treturn 2"}, "func a() {\n\treturn 2\n}\n\nfunc b() {\n\treturn x\n}\n", "Taken although blanks at the ends"},
		{"numbers of a listing", source, editArgs{Old: "     2\t\tx := 1", New: "     2\t\tx := 7"}, strings.Replace(source, "x := 1", "x := 7", 1), "Taken although line numbers"},
		{"typographic context", "say “hi”\nx = 1\n", editArgs{Old: "say \"hi\"\nx = 1\n", New: "say \"hi\"\nx = 2\n"}, "say “hi”\nx = 2\n", "Taken although quotes"},
		{"typographic text that goes", "say “hi”\n", editArgs{Old: "say \"hi\"\n", New: "say 1\n"}, "", "quotes, dashes or blanks of another kind"},
		{"the end of every line is the file's", "a\r\nb\r\nc\n", editArgs{Old: "a\nb", New: "x\ny\nz"}, "x\r\ny\r\nz\r\nc\n", "edited f"},
		{"all of a file with \\r\\n", "a b\r\na\r\n", editArgs{Old: "a", New: "cc", All: true}, "cc b\r\ncc\r\n", "2 places replaced"},
		{"applied already", "a\nnew\nb\n", editArgs{Old: "a\nold\nb\n", New: "a\nnew\nb\n"}, "a\nnew\nb\n", "is unchanged: the patch is already applied"},
		{"perhaps applied", "a\nnew\n", editArgs{Old: "old\n", New: "new\n"}, "", "matches nowhere"},
		{"a mark stays", "\ufeffa\nb\n", editArgs{Old: "a\nb", New: "c"}, "\ufeffc\n", "edited f"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f": tt.file})
			tt.args.Path = "f"
			out := w.run(editOp(t, tt.args))
			state, after := Completed, tt.want
			if after == "" {
				state, after = Failed, tt.file
			}
			want(t, out, state, tt.says)
			if got := w.get("f"); got != after {
				t.Errorf("the file is %q, want %q", got, after)
			}
			if (out.Edit != nil) != (after != tt.file) {
				t.Errorf("the change is %+v", out.Edit)
			}
			if len(out.Text) > 600 {
				t.Errorf("the text has %d bytes: %s", len(out.Text), out.Text)
			}
		})
	}
}

// TestEditIsAnEditLikeTheOthers: paths, binaries, rules and what others changed
// meanwhile are as for write and patch.
func TestEditIsAnEditLikeTheOthers(t *testing.T) {
	posix(t)
	w := newWorld(t, map[string]string{"a.txt": "1\n2\n3\n4\n", "bin": "a\x00b", "b.txt": "x\n"}, func(c *Config) {
		c.Policy = Policy{Mode: ModeEdits, Deny: []Rule{{Family: FamilyWrite, Match: []string{"b.txt"}}}}
	})
	want(t, w.run(editOp(t, editArgs{Path: "none.txt", Old: "a", New: "b"})), Failed, "none.txt does not exist")
	want(t, w.run(editOp(t, editArgs{Path: "bin", Old: "a", New: "b"})), Failed, "binary")
	want(t, w.run(editOp(t, editArgs{Path: ".git/config", Old: "a", New: "b"})), Failed, "git's own directory")
	for name, verdict := range map[string]Verdict{"a.txt": Allow, "b.txt": Deny, "../c": Deny} {
		if d := w.Decide(t.Context(), editOp(t, editArgs{Path: name, Old: "x", New: "y"})); d.Verdict != verdict || d.Effect != Write {
			t.Errorf("%s: %+v", name, d)
		}
	}
	want(t, w.run(readOp("a.txt")), Completed)
	w.put("a.txt", "one\n2\n3\n4\n")
	want(t, w.run(editOp(t, editArgs{Path: "a.txt", Old: "3\n4", New: "3\nfour"})), Completed, rebased)
	if got := w.get("a.txt"); got != "one\n2\n3\nfour\n" {
		t.Errorf("the file is %q", got)
	}
}

// TestARefusalIsShort has long names, lines, headers and characters that cannot be seen.
func TestARefusalIsShort(t *testing.T) {
	name := strings.Repeat("directory/", 25) + "f.txt"
	line := strings.Repeat("\u200b\x15 é", 100)
	w := newWorld(t, map[string]string{name: "one\n" + line + "\nthree\n"})
	for _, op := range []Op{
		editOp(t, editArgs{Path: name, Old: "one\n" + line + "x\nthree\n", New: "y"}),
		editOp(t, editArgs{Path: name, Old: strings.Repeat("long ", 500), New: "y"}),
		patchOp(name, "@@ "+line+" @@\n one\n-"+line+"x\n+y\n"),
		patchOp(name, "@@ "+line+"x\n+y\n"),
		patchOp(name, "--- "+line+"\n+++ "+line+"\n@@\n+y\n"),
		patchAll("--- a/" + name + "\n+++ b/" + name + "\n@@\n one\n-" + line + "x\n+y\n"),
	} {
		if out := w.run(op); out.State != Failed || len(out.Text) > 600 || !utf8.ValidString(out.Text) {
			t.Errorf("%s, %d bytes: %s", out.State, len(out.Text), out.Text)
		}
	}
}
