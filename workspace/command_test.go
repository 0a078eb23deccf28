package workspace

import (
	"os/exec"
	"strings"
	"testing"
)

// commandLines has a row for each thing that the two former spellings, one in
// double quotes and one in single quotes, did differently.
var commandLines = []struct {
	argv []string
	want string
}{
	{[]string{"go", "test", "./..."}, "go test ./..."},
	{[]string{"a", "-x=1", "b:c,d%e@f+g^h_i"}, "a -x=1 b:c,d%e@f+g^h_i"},
	{[]string{"a", ""}, "a ''"},
	{[]string{"sh", "-c", "true; true"}, "sh -c 'true; true'"},
	{[]string{"a", `it's "$HOME"`}, `a 'it'\''s "$HOME"'`},
	{[]string{"a", `b\nc`}, `a 'b\nc'`},
	{[]string{"a", "b\nc\t"}, `a $'b\nc\t'`},
	{[]string{"a", "b'\\\n"}, `a $'b\'\\\n'`},
	{[]string{"a", "\x1b[31m\x7f\x00"}, `a $'\x1b[31m\x7f\x00'`},
	{[]string{"a", "\r"}, `a $'\x0d'`},
	{[]string{"#a", "!b", "~c", "{d}", "[e]"}, "'#a' '!b' '~c' '{d}' '[e]'"},
	{[]string{"cat", "café.txt", "漢🦊"}, "cat café.txt 漢🦊"},
	{[]string{"a", "b\u202ec"}, `a $'b\u202ec'`},
	{[]string{"a", "b\u00a0c", "\u200b", "\ufeff"}, `a $'b\u00a0c' $'\u200b' $'\ufeff'`},
	{[]string{"a", "\u3164", "\u2800", "\u034f", "b\ufe0f"}, `a $'\u3164' $'\u2800' $'\u034f' $'b\ufe0f'`},
	{[]string{"a", "\U000e0041"}, `a $'\U000e0041'`},
	{[]string{"a", "\xffb", "\ufffd"}, "a $'\\xffb' \ufffd"},
	{[]string{"a", "$'b'"}, `a '$'\''b'\'''`},
}

func TestCommandLine(t *testing.T) {
	from := map[string]string{}
	for _, tt := range commandLines {
		got := CommandLine(tt.argv)
		if got != tt.want {
			t.Errorf("%q is spelled %s, want %s", tt.argv, got, tt.want)
		}
		list := strings.Join(tt.argv, "\x00\x00")
		if other, ok := from[got]; ok {
			t.Errorf("%q and %q are both spelled %s", list, other, got)
		}
		from[got] = list
	}
}

// TestAShellReadsACommandLine gives what a person reads to a shell. NUL cannot be
// an argument.
func TestAShellReadsACommandLine(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for _, tt := range commandLines {
		if strings.Contains(strings.Join(tt.argv, ""), "\x00") {
			continue
		}
		cmd := exec.Command(bash, "-c", "printf '%s\\0' "+CommandLine(tt.argv))
		cmd.Env = []string{"LC_ALL=C.UTF-8"}
		out, err := cmd.Output()
		if want := strings.Join(tt.argv, "\x00") + "\x00"; err != nil || string(out) != want {
			t.Errorf("the shell reads %s as %q, want %q (%v)", CommandLine(tt.argv), out, want, err)
		}
	}
}
