package checker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// project writes files, given as name and text in turn, into a directory.
func project(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, files...)
	return dir
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	writeFiles(t, dir, files...)
}

func writeFiles(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, cfg checker.Config) *checker.Checker {
	t.Helper()
	cfg.Trusted, cfg.Policy = true, anything
	c := checker.New(cfg)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// edit runs AfterEdit for a project of one root.
func edit(t *testing.T, c *checker.Checker, dir string, edited ...string) checker.Result {
	t.Helper()
	results := c.AfterEdit(t.Context(), dir, edited)
	if len(results) != 1 {
		t.Fatalf("%d results, want 1: %+v", len(results), results)
	}
	return results[0]
}

// want is what a check should come to. Every word of says must be in the text,
// none of silent.
type want struct {
	outcome checker.Outcome
	at      []string // path:line:column severity, as finding shows it
	says    []string
	silent  []string
}

func check(t *testing.T, dir string, got checker.Result, w want) {
	t.Helper()
	if got.Outcome != w.outcome {
		t.Fatalf("outcome is %v, want %v; text:\n%s", got.Outcome, w.outcome, got.Text)
	}
	var at []string
	for _, f := range got.Findings {
		at = append(at, shown(dir, f))
	}
	if diff := cmp.Diff(w.at, at, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("findings (-want +got):\n%s\ntext:\n%s", diff, got.Text)
	}
	for _, s := range w.says {
		if !strings.Contains(got.Text, s) {
			t.Errorf("the text lacks %q:\n%s", s, got.Text)
		}
	}
	for _, s := range w.silent {
		if strings.Contains(got.Text, s) {
			t.Errorf("the text has %q:\n%s", s, got.Text)
		}
	}
	checkTold(t, got)
}

// checkTold sees that what a model and a person are told tells the outcomes apart.
func checkTold(t *testing.T, got checker.Result) {
	t.Helper()
	model, person := got.ForModel(), got.ForPerson()
	as := func(prefix string) bool { return model == prefix+got.Text && person == model && got.Text != "" }
	var ok bool
	switch got.Outcome {
	case checker.Found:
		ok = as("") && strings.HasPrefix(model, "Diagnostics from `")
	case checker.Clean:
		ok = model == got.Note && strings.HasPrefix(person, "[check] `") && strings.Contains(person, "found nothing") && strings.HasSuffix(person, got.Note)
	case checker.Skipped:
		ok = as("[check skipped] ")
	case checker.Failed:
		ok = as("[check did not run] ") && (strings.Contains(model, "this edit is unchecked") || strings.Contains(model, "this root is unchecked"))
	}
	if !ok {
		t.Errorf("%v: the model is told %q, a person %q", got.Outcome, model, person)
	}
}

func shown(dir string, f checker.Finding) string {
	rel, err := filepath.Rel(dir, f.Path)
	if err != nil {
		rel = f.Path
	}
	return filepath.ToSlash(rel) + ":" + itoa(f.Range.Start.Line) + ":" + itoa(f.Range.Start.Column) + " " + string(f.Severity)
}

const goMod = "module example.test/m\n\ngo 1.26\n"

func TestGoCleanIsClean(t *testing.T) {
	dir := project(t, "go.mod", goMod, "main.go", "package main\n\nfunc main() {}\n")
	got := edit(t, start(t, checker.Config{}), dir, "main.go")
	check(t, dir, got, want{outcome: checker.Clean})
	if _, err := os.Stat(filepath.Join(dir, "m")); err == nil {
		t.Error("the build left a binary in the workspace")
	}
	if got.Root != dir || got.Ecosystem != checker.Go {
		t.Errorf("root %s of %s", got.Root, got.Ecosystem)
	}
}

func TestGoErrorInTheEditedFile(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a.go", "package m\n\nfunc F() int {\n\treturn \"é\" + missing\n}\n")
	got := edit(t, start(t, checker.Config{}), dir, "a.go")
	check(t, dir, got, want{
		outcome: checker.Found,
		at:      []string{"a.go:4:16 error"},
		says:    []string{"Diagnostics from `go build -o", "./a.go:4:16: undefined: missing", "# example.test/m", "which was applied"},
		silent:  []string{"Since the previous"},
	})
}

func TestGoErrorInAnotherFile(t *testing.T) {
	dir := project(t, "go.mod", goMod,
		"lib/lib.go", "package lib\n\nfunc F(n int) {}\n",
		"main.go", "package main\n\nimport \"example.test/m/lib\"\n\nfunc main() { lib.F(1) }\n")
	c := start(t, checker.Config{})
	check(t, dir, edit(t, c, dir, "lib/lib.go"), want{outcome: checker.Clean})
	write(t, dir, "lib/lib.go", "package lib\n\nfunc F(n int, s string) {}\n")
	got := edit(t, c, dir, "lib/lib.go")
	check(t, dir, got, want{
		outcome: checker.Found,
		at:      []string{"main.go:5:21 error"},
		says:    []string{"1 is new; 0 were there before", "have (number)"},
	})
	if got.New != 1 {
		t.Errorf("%d new, want 1", got.New)
	}
}
