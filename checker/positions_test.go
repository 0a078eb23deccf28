package checker_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/agent-lsp/agent-lsp/checker"
)

func TestCargoBehindAnotherOnesLockIsNotWaitedForLonger(t *testing.T) {
	env := realEnv(t, "cargo")
	dir := project(t, "Cargo.toml", cargoManifest("m"), "src/lib.rs", "")
	lockFile(t, filepath.Join(dir, "target/debug/.cargo-lock"))
	got := edit(t, start(t, checker.Config{Env: env, Timeout: time.Second}), dir, "src/lib.rs")
	check(t, dir, got, want{outcome: checker.Failed, says: []string{"did not finish within 1s", "Blocking waiting for file lock"}})
}

// TestPositionsAreExact compares where each real tool's finding lands in an
// editor's UTF-16 document with where the wrong word stands in it: behind tabs,
// letters of two and four bytes, a byte order mark and CRLF line ends.
func TestPositionsAreExact(t *testing.T) {
	cases := []struct {
		tool  string
		files []string
		file  string
		texts []string
	}{
		{"go", []string{"go.mod", goMod}, "a.go", []string{
			"package m\n\n\tvar É, Y = \"é😀\" +\t\twrong, 1\n",
			"package m; var É = \"😀\" + wrong\r\nvar y = 1\r\n",
			"package m\r\n\r\nvar É = \"😀𝒳\"; var z = wrong\r\n",
		}},
		{"cargo", []string{"Cargo.toml", cargoManifest("m")}, "src/lib.rs", []string{
			"pub fn f() {\n\tlet _ = (\"é😀\",\t\twrong);\n}\n",
			"pub fn f() { let _ = (\"é😀\", wrong); }\r\n",
			"// 😀\r\npub fn f() { let _ = (\"é😀\", wrong); }\r\n",
		}},
		{"tsc", []string{"package.json", "{}", "tsconfig.json", "{}"}, "a.ts", []string{
			"export {};\n\tconst é = \"é😀\" +\t\twrong;\n",
			"export const é = \"é😀\" + wrong;\r\n",
			"// 😀\r\nexport const é = \"é😀\" + wrong;\r\n",
		}},
		{"deno", []string{"deno.json", "{}"}, "a.ts", []string{
			"export {};\n\tconst é = \"é😀\" +\t\twrong;\n",
			"export const é = \"é😀\" + wrong;\r\n",
			"// 😀\r\nexport const é = \"é😀\" + wrong;\r\n",
		}},
		{"pyright", []string{"pyproject.toml", ""}, "a.py", []string{
			"if True:\n\té = (\"é😀\",\t\twrong)\n",
			"é = (\"é😀\", wrong)\r\n",
			"# 😀\r\né = (\"é😀\", wrong)\r\n",
		}},
	}
	for _, tc := range cases {
		t.Run(tc.tool, func(t *testing.T) {
			c := start(t, checker.Config{Env: realEnv(t, tc.tool)})
			dir := project(t, tc.files...)
			for i, text := range tc.texts {
				for _, mark := range []string{"", "\uFEFF"} {
					write(t, dir, tc.file, mark+text)
					got := edit(t, c, dir, tc.file)
					if got.Outcome != checker.Found || len(got.Findings) == 0 {
						t.Fatalf("text %d: %v %s", i, got.Outcome, got.Text)
					}
					f := got.Findings[0]
					start, end := checker.Locate(mark+text, f.Range, f.Unit, checker.UTF16)
					wantStart := spotOf(text, "wrong")
					wantEnd := wantStart
					wantEnd.Character += len("wrong")
					if start != wantStart || end != wantEnd {
						t.Errorf("text %d, mark %q: %v to %v, want %v to %v; %+v", i, mark, start, end, wantStart, wantEnd, f)
					}
				}
			}
		})
	}
}

func spotOf(text, word string) checker.Spot {
	before, _, _ := strings.Cut(text, word)
	line := before[strings.LastIndex(before, "\n")+1:]
	return checker.Spot{Line: strings.Count(before, "\n"), Character: len(utf16.Encode([]rune(line)))}
}

// TestHostileOutputIsBounded runs tools that print without end, wait for input or
// leave something behind that holds their output.
func TestHostileOutputIsBounded(t *testing.T) {
	needShell(t)
	if runtime.GOOS != "linux" {
		t.Skip("the scripts are for Linux")
	}
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	cases := []struct {
		name, script string
		want         want
	}{
		{"waits for input", "read x; exit 1", want{outcome: checker.Failed, says: []string{"reported nothing"}}},
		{"NUL and invalid UTF-8", `printf 'a.go:1:1: b\000a\377d\n'; exit 1`, want{outcome: checker.Found, at: []string{"a.go:1:1 error"}, says: []string{"ba\uFFFDd"}}},
		{"a grandchild holds the output", "echo a.go:1:1: bad; sleep 600 & exit 1", want{outcome: checker.Found, at: []string{"a.go:1:1 error"}}},
		{"a line without end", "echo a.go:1:1: bad; head -c 18000000 /dev/zero | tr '\\0' x; exit 1", want{outcome: checker.Found, at: []string{"a.go:1:1 error"}, says: []string{"The list is not complete", "bytes of it were not read"}}},
		{"never ends printing", "yes a.go:1:1: bad", want{outcome: checker.Failed, says: []string{"did not finish within"}}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			timeout := 30 * time.Second
			if tc.want.outcome == checker.Failed {
				timeout = 300 * time.Millisecond
			}
			c := start(t, checker.Config{Timeout: timeout, Commands: map[string]checker.Command{checker.Go: {Argv: []string{"/bin/sh", "-c", tc.script}}}})
			check(t, dir, edit(t, c, dir, "a.go"), tc.want)
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left in the workspace: %v %v", left, err)
	}
}
