package tools

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/go-json-experiment/json"
)

// TestACommandAsOneStringIsSplitAsAShellWould compares with a shell, where there is
// one: it must get the very arguments.
func TestACommandAsOneStringIsSplitAsAShellWould(t *testing.T) {
	sh, _ := exec.LookPath("sh")
	for text, want := range map[string][]string{
		"ls":                         {"ls"},
		"  go   test ./...\n":        {"go", "test", "./..."},
		`git commit -m "a b"`:        {"git", "commit", "-m", "a b"},
		`grep 'a  $b' x`:             {"grep", "a  $b", "x"},
		`echo a\ b \"c`:              {"echo", "a b", `"c`},
		`echo "a\"b\\c\d"`:           {"echo", `a"b\c\d`},
		`echo ''`:                    {"echo", ""},
		`echo 'a'"b"c`:               {"echo", "abc"},
		"echo 'a\nb'":                {"echo", "a\nb"},
		"echo a=b --x=y":             {"echo", "a=b", "--x=y"},
		"npm run build:all @scope/p": nil, // an @ may be a pattern of bash
		"echo ü 日本":                  {"echo", "ü", "日本"},
		"find . -name '*.go'":        {"find", ".", "-name", "*.go"},
		"echo {}":                    {"echo", "{}"},
		"ls | wc -l":                 nil,
		"ls > x":                     nil,
		"ls 2>&1":                    nil,
		"ls; pwd":                    nil,
		"ls && pwd":                  nil,
		"ls &":                       nil,
		"ls *.go":                    nil,
		"ls a?":                      nil,
		"ls [ab]":                    nil,
		"ls ~":                       nil,
		"ls ~/x":                     nil,
		"echo $HOME":                 nil,
		`echo "$HOME"`:               nil,
		"echo $(id)":                 nil,
		"echo `id`":                  nil,
		"echo {a,b}":                 nil,
		"A=b ls":                     nil,
		"A=b":                        nil,
		"! ls":                       nil,
		"(ls)":                       nil,
		"if true; then ls; fi":       nil,
		"ls\npwd":                    nil,
		"cat <<E\nx\nE":              nil,
		"cd sub":                     nil,
		"export A=b":                 nil,
		"time ls":                    nil,
		"echo 'open":                 nil,
		"ls )":                       nil,
		"diff <(a) b":                nil,
		"echo $'a\\n'":               nil,
		"[[ -f x ]]":                 nil,
	} {
		got := splitCommand(text)
		if want == nil {
			want = []string{"sh", "-c", text}
		} else if sh != "" {
			out, err := exec.Command(sh, "-c", "set -f; printf '%s\\0' "+text).Output()
			if shown := strings.Join(want, "\x00") + "\x00"; err != nil || string(out) != shown {
				t.Errorf("the shell reads %q as %q (%v), the table has %q", text, out, err, shown)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is split into %q, want %q", text, got, want)
		}
	}
}

// TestExecTakesAString sends calls as models do.
func TestExecTakesAString(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "x\n"})
	for arguments, want := range map[string]*abi.Exec{
		`{"argv":"go test ./..."}`:           {Argv: []string{"go", "test", "./..."}},
		`{"argv":"ls | wc -l","cwd":"d"}`:    {Argv: []string{"sh", "-c", "ls | wc -l"}, Cwd: new("d")},
		`{"argv":["ls | wc -l"]}`:            {Argv: []string{"ls | wc -l"}},
		`{"argv":"[\"cat\",\"a b\"]"}`:       {Argv: []string{"cat", "a b"}},
		`{"argv":"echo \"\ud83d\ude00 é\""}`: {Argv: []string{"echo", "😀 é"}},
	} {
		c, err := w.Typed("exec", arguments)
		if err != nil || c.Exec == nil {
			t.Errorf("%s: %+v, %v", arguments, c, err)
			continue
		}
		got, _ := json.Marshal(c.Exec)
		if shown, _ := json.Marshal(want); string(got) != string(shown) {
			t.Errorf("%s is %s, want %s", arguments, got, shown)
		}
	}
	for _, arguments := range []string{`{"argv":""}`, `{"argv":" \n"}`, `{"argv":7}`} {
		if c, err := w.Typed("exec", arguments); err == nil {
			t.Errorf("%s is taken for %+v", arguments, c)
		}
	}
	c, err := w.Typed("exec", `{"argv":"cat a | tr x y"}`)
	if err != nil {
		t.Fatal(err)
	}
	if d := w.Decide(t.Context(), c); d.Verdict != Ask || d.Title != "Run sh -c 'cat a | tr x y'" {
		t.Errorf("a text for a shell is asked about as %+v", d)
	}
	want(t, w.run(c), Completed, "exit code 0\ny")
}
