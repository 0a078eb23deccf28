package checker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/google/go-cmp/cmp"
)

// printing is a command that prints a text and exits with 1.
func printing(t *testing.T, text string) []string {
	t.Helper()
	needShell(t)
	path := filepath.Join(t.TempDir(), "output")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"/bin/sh", "-c", "cat " + path + "; exit 1"}
}

func TestConfiguredCommandsAreReadThroughTheirFormats(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	dir := project(t, "Makefile", "", "go.mod", goMod, "a.c", "")
	cfg := func(cmd checker.Command) checker.Config {
		return checker.Config{Roots: map[string]checker.Command{dir: cmd}}
	}
	cases := []struct {
		name string
		cmd  checker.Command
		want want
	}{
		{"formats", checker.Command{
			Argv:    printing(t, "\x1b[31ma.c|3 col 5| error 12: bad\x1b[0m\r\n"+long+"\nsrc/b.c|4 col 1| warning 7: dubious\nsummary\n"),
			Formats: []string{`%f|%l col %c| %trror %n: %m`, `%f|%l col %c| %tarning %n: %m`},
			Unit:    checker.Runes,
		}, want{outcome: checker.Found, at: []string{"a.c:3:5 error", "src/b.c:4:1 warning"}, says: []string{"summary"}, silent: []string{"\x1b", long}}},
		{
			"no formats, of an ecosystem's tool",
			checker.Command{Argv: printing(t, "# pkg\n./a.c:3:5: bad\n\tmore\n")},
			want{outcome: checker.Found, at: []string{"a.c:3:5 error"}, says: []string{"\tmore"}},
		},
		{"formats that are none", checker.Command{Argv: printing(t, ""), Formats: []string{"%"}}, want{outcome: checker.Failed, says: []string{"formats"}}},
		{"off", checker.Command{Off: true}, want{outcome: checker.Skipped}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			check(t, dir, edit(t, start(t, cfg(tc.cmd)), dir, "a.c"), tc.want)
		})
	}
	t.Run("added for an ecosystem without one", func(t *testing.T) {
		dir := project(t, "Makefile", "", "a.c", "")
		c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Make: {Argv: printing(t, "a.c:1:2: warning: dubious\nmake: failed\n")}}})
		check(t, dir, edit(t, c, dir, "a.c"), want{outcome: checker.Found, at: []string{"a.c:1:2 warning"}, says: []string{"make: failed"}})
	})
}

func TestTheCapHoldsWithItsHeader(t *testing.T) {
	var out strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&out, "a.go:%d:1: é is wrong, %s\n", i+1, strings.Repeat("𝒳", 20))
	}
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	argv := printing(t, out.String())
	for _, limit := range []int{0, 16000, 2000, 600, 20} {
		c := start(t, checker.Config{Cap: limit, Commands: map[string]checker.Command{checker.Go: {Argv: argv}}})
		got := edit(t, c, dir, "a.go")
		if len(got.Findings) != 2000 {
			t.Errorf("cap %d: %d findings", limit, len(got.Findings))
		}
		n := utf8.RuneCountInString(got.Text)
		if limit == 0 {
			limit = checker.DefaultCap
		}
		if limit >= 600 && (n > limit || n < limit-20) {
			t.Errorf("cap %d: %d characters", limit, n)
		}
		if !strings.Contains(got.Text, "characters elided") || !utf8.ValidString(got.Text) || !strings.HasPrefix(got.Text, "Diagnostics from `") {
			t.Errorf("cap %d: %.300s", limit, got.Text)
		}
		if limit >= 600 && (!strings.Contains(got.Text, "a.go:1:1") || !strings.Contains(got.Text, "a.go:2000:1")) {
			t.Errorf("cap %d lost an end: %s", limit, got.Text)
		}
	}
}

// TestNoFileHidesAnother has one file with very many findings between others that
// have few: the edited file's come first, every file's are there, and what is left
// out is counted.
func TestNoFileHidesAnother(t *testing.T) {
	var out strings.Builder
	out.WriteString("a.go:1:1: first of a\n")
	for i := range 2000 {
		fmt.Fprintf(&out, "b.go:%d:1: é is wrong\n", i+1)
	}
	for i := range 30 {
		fmt.Fprintf(&out, "c.go:%d:1: only of c\n", i+1)
	}
	for i := range 2000 {
		fmt.Fprintf(&out, "d.go:%d:1: é is wrong\n", i+1)
	}
	out.WriteString("e.go:7:1: own\nthe last word\n")
	dir := project(t, "go.mod", goMod, "a.go", "", "b.go", "", "c.go", "", "d.go", "", "e.go", "package m\n")
	argv := printing(t, out.String())
	for _, limit := range []int{3000, 16000} {
		c := start(t, checker.Config{Cap: limit, Commands: map[string]checker.Command{checker.Go: {Argv: argv}}})
		got := edit(t, c, dir, "e.go")
		n := utf8.RuneCountInString(got.Text)
		if n > limit || n < limit*9/10 {
			t.Errorf("cap %d: %d characters", limit, n)
		}
		if strings.Contains(got.Text, "characters elided ...]") {
			t.Errorf("cap %d: the shares are more than the room", limit)
		}
		at := -1
		for _, says := range []string{
			"which was applied", "e.go:7:1: own", "a.go:1:1: first of a", "b.go:1:1:", "characters elided: ", " more findings in b.go ...]",
			"c.go:1:1: only of c", "c.go:30:1: only of c", "d.go:1:1:", " more findings in d.go ...]", "the last word",
		} {
			next := strings.Index(got.Text, says)
			if next <= at {
				t.Fatalf("cap %d: %q stands at %d, behind %d:\n%s", limit, says, next, at, got.Text)
			}
			at = next
		}
		kept := strings.Count(got.Text, "\nb.go:")
		if want := fmt.Sprintf(": %d more findings in b.go", 2000-kept); !strings.Contains(got.Text, want) {
			t.Errorf("cap %d: %d of b.go are there, and %q is not said", limit, kept, want)
		}
		if len(got.Findings) != 4032 {
			t.Errorf("%d findings", len(got.Findings))
		}
	}
}

func TestRootsListsWhatCanBeChecked(t *testing.T) {
	dir := project(t,
		"go.work", "go 1.26\nuse ./a\n", "a/go.mod", goMod,
		"b/go.mod", goMod, "b/Makefile", "", "c/package.json", "{}", "d/Makefile", "",
		"node_modules/m/package.json", "{}", "node_modules/m/tsconfig.json", "{}",
		"e/requirements.txt", "", "f/go.mod/x", "",
	)
	c := start(t, checker.Config{Roots: map[string]checker.Command{filepath.Join(dir, "d"): {Argv: []string{"make", "check"}}}})
	got, err := c.Roots(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i], _ = filepath.Rel(dir, got[i])
	}
	if diff := cmp.Diff([]string{".", "b", "d", "e"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAffectedNamesCheckedRootsOnly(t *testing.T) {
	dir := project(t, "ws/go.work", "go 1.26\nuse ../lib\n", "lib/go.mod", goMod, "lib/a.go", "package m\n", "other/go.mod", goMod)
	c := start(t, checker.Config{})
	_ = c.Check(t.Context(), filepath.Join(dir, "ws"))
	changed := func(name string) checker.Change { return checker.Change{Paths: []string{filepath.Join(dir, name)}} }
	for name, want := range map[string][]string{
		"ws/x.go": {"ws"}, "lib/a.go": {"ws"}, "other/a.go": nil, "lib2/a.go": nil,
	} {
		var got []string
		for _, root := range c.Affected(changed(name)) {
			got = append(got, filepath.Base(root))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := c.Affected(checker.Change{Everything: true}); len(got) != 1 {
		t.Errorf("everything: %v", got)
	}
}
