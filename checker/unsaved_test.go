package checker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
)

func TestGoChecksTheUnsavedText(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := project(t, "go.mod", goMod, "a.go", "package m\n", "in/a b.go", "package in\n", "in/x_test.go", "package in\n")
	texts := map[string]string{
		filepath.Join(dir, "a.go"):            "\uFEFFpackage m; var A = missing\n",
		filepath.Join(dir, "in/a b.go"):       "package in\n\nvar B = missing\n",
		filepath.Join(dir, "in/new.go"):       "package in\n\nvar C = missing\n",
		filepath.Join(dir, "../elsewhere.go"): "not go",
	}
	c := start(t, checker.Config{Unsaved: func() map[string]string { return texts }})
	wanted := want{
		outcome: checker.Found,
		at:      []string{"a.go:1:20 error", "in/a b.go:3:9 error", "in/new.go:3:9 error"},
		says:    []string{"./a.go:1:23: undefined: missing", "in/a b.go:3:9", "in/new.go:3:9"},
		silent:  []string{"overlay", os.TempDir(), "not saved"},
	}
	got := edit(t, c, dir, "a.go")
	check(t, dir, got, wanted)
	if line := strings.Join(got.Command, " "); strings.Contains(line, "overlay") {
		t.Errorf("the command tells of the overlay: %s", line)
	}
	again := edit(t, start(t, checker.Config{Unsaved: func() map[string]string { return texts }}), dir, "a.go")
	if again.Text != got.Text {
		t.Errorf("the same check gives another text:\n%s\n%s", got.Text, again.Text)
	}
	t.Run("of tests", func(t *testing.T) {
		test := map[string]string{filepath.Join(dir, "in/x_test.go"): "package in\n\nvar D = missing\n"}
		c := start(t, checker.Config{Unsaved: func() map[string]string { return test }})
		check(t, dir, edit(t, c, dir, "in/x_test.go"), want{outcome: checker.Found, at: []string{"in/x_test.go:3:9 error"}, silent: []string{os.TempDir()}})
	})
	t.Run("of analyzers", func(t *testing.T) {
		test := map[string]string{filepath.Join(dir, "in/x_test.go"): "package in\n\nfunc F(p *int) { p = p }\n"}
		c := start(t, checker.Config{Unsaved: func() map[string]string { return test }})
		check(t, dir, edit(t, c, dir, "in/x_test.go"), want{outcome: checker.Found, at: []string{"in/x_test.go:3:18 warning"}, says: []string{"in/x_test.go:3:18: self-assignment of p"}, silent: []string{os.TempDir()}})
	})
	t.Run("and leaves no copy of it", func(t *testing.T) {
		left, err := filepath.Glob(filepath.Join(os.TempDir(), "agent-lsp-overlay-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
	})
}

func TestToolsThatReadTheDiskSayWhatIsNotSaved(t *testing.T) {
	needShell(t)
	dir := project(t, "deno.json", "{}", "a.ts", "old\n", "b.ts", "old\n")
	unsaved := func(names ...string) func() map[string]string {
		return func() map[string]string {
			texts := map[string]string{filepath.Join(dir, "same.ts"): ""}
			for _, name := range names {
				texts[filepath.Join(dir, name)] = "new\n"
			}
			return texts
		}
	}
	run := func(script string, texts func() map[string]string) checker.Result {
		return edit(t, start(t, checker.Config{Unsaved: texts, Env: []string{"PATH=" + fakeTool(t, "deno", script)}}), dir, "a.ts")
	}
	bad := "echo 'TS1 [ERROR]: bad\n    at file://" + dir + "/a.ts:1:1'; exit 1"
	check(t, dir, run(bad, unsaved("b.ts")), want{outcome: checker.Found, at: []string{"a.ts:1:1 error"}, says: []string{"checked the saved text: b.ts is not saved"}})
	check(t, dir, run("true", unsaved("a.ts")), want{outcome: checker.Failed, says: []string{"checked the saved text", "a.ts is not saved"}})
	check(t, dir, run("true", unsaved()), want{outcome: checker.Clean})
	saved := func() map[string]string { return map[string]string{filepath.Join(dir, "a.ts"): "old\n"} }
	if got := run("true", saved); got.Outcome != checker.Clean || got.Note != "" {
		t.Errorf("a document that the disk holds counts as unsaved: %+v", got)
	}
	t.Run("what is saved or typed meanwhile may have been read as it was", func(t *testing.T) {
		for first, then := range map[string]string{"a.ts": "same.ts", "same.ts": "a.ts"} {
			calls := 0
			texts := func() map[string]string {
				if calls++; calls == 1 {
					return unsaved(first)()
				}
				return unsaved(then)()
			}
			check(t, dir, run("true", texts), want{outcome: checker.Failed, says: []string{"a.ts is not saved"}})
		}
	})
	got := run("true", unsaved("b.ts"))
	check(t, dir, got, want{outcome: checker.Clean})
	for _, told := range []string{got.Note, got.ForModel(), got.ForPerson()} {
		if !strings.Contains(told, "checked the saved text: b.ts is not saved") {
			t.Errorf("told %q", told)
		}
	}
}
