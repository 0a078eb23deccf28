package tools

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/go-json-experiment/json/jsontext"
)

// patchAll is a patch that names its files itself.
func patchAll(diff string) Op {
	quoted, _ := jsontext.AppendQuote(nil, diff)
	return Op{Tool: &abi.Use{Name: "patch", Arguments: `{"diff":` + string(quoted) + `}`}}
}

// all returns the files of a world by name.
func (w *world) all() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(w.dir, p)
		if err == nil {
			out[filepath.ToSlash(rel)] = w.get(filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func TestAPatchOfSeveralFilesIsAllOrNothing(t *testing.T) {
	files := map[string]string{"a.txt": "one\ntwo\n", "d/b.txt": "x\ny\n", "c.txt": "gone\n"}
	for _, tt := range []struct {
		name, diff string
		want       map[string]string // nil when it is refused; "" for a file that goes
		says       string
	}{
		{
			"the envelope", "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: new/n.txt\n+n\n*** Delete File: c.txt\n*** Update File: d/b.txt\n*** Move to: e/b.txt\n@@\n-y\n+Y\n*** End Patch\n",
			map[string]string{"a.txt": "ONE\ntwo\n", "new/n.txt": "n\n", "c.txt": "", "d/b.txt": "", "e/b.txt": "x\nY\n"},
			"patched a.txt: 1 line added, 1 removed\ncreated new/n.txt: 1 line\ndeleted c.txt: 0 lines added, 1 removed\ncreated e/b.txt: 2 lines\ndeleted d/b.txt: 0 lines added, 2 removed",
		},
		{
			"git's form", "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\ndiff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\ndiff --git a/c.txt b/c.txt\ndeleted file mode 100644\n--- a/c.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\ndiff --git a/d/b.txt b/d/c.txt\nsimilarity index 50%\nrename from d/b.txt\nrename to d/c.txt\n--- a/d/b.txt\n+++ b/d/c.txt\n@@ -1,2 +1,2 @@\n x\n-y\n+Y\n",
			map[string]string{"a.txt": "ONE\ntwo\n", "n.txt": "n\n", "c.txt": "", "d/b.txt": "", "d/c.txt": "x\nY\n"},
			"patched a.txt",
		},
		{"a renaming alone", "diff --git a/c.txt b/z.txt\nsimilarity index 100%\nrename from c.txt\nrename to z.txt\n", map[string]string{"c.txt": "", "z.txt": "gone\n"}, "created z.txt: 1 line\ndeleted c.txt"},
		{"one file without a path", "--- a/a.txt\n+++ b/a.txt\n@@\n-one\n+ONE\n", map[string]string{"a.txt": "ONE\ntwo\n"}, "patched a.txt"},
		{"a file twice", "--- a/a.txt\n+++ b/a.txt\n@@\n-one\n+ONE\n--- a/d/b.txt\n+++ b/d/b.txt\n@@\n-x\n+X\n--- a/a.txt\n+++ b/a.txt\n@@\n-two\n+TWO\n", map[string]string{"a.txt": "ONE\nTWO\n", "d/b.txt": "X\ny\n"}, "patched"},
		{"one hunk fits nowhere", "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Update File: d/b.txt\n@@\n-z\n+Z\n*** End Patch\n", nil, "nothing was changed in any file: d/b.txt was not patched: hunk 1 (@@) matches nowhere"},
		{"a new file is there", "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: c.txt\n+x\n*** End Patch\n", nil, "c.txt exists already"},
		{"a deleted one is not", "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Delete File: z.txt\n*** End Patch\n", nil, "z.txt does not exist"},
		{"a deleted one has more lines", "--- a/d/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", nil, "it has more lines than the diff deletes"},
		{"a new name is taken", "*** Begin Patch\n*** Update File: a.txt\n*** Move to: c.txt\n@@\n-one\n+ONE\n*** End Patch\n", nil, "c.txt exists already, so that a.txt cannot be renamed to it"},
		{"changed and deleted", "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Delete File: a.txt\n*** End Patch\n", nil, "more than one thing of a.txt"},
		{"no name", "@@\n-one\n+ONE\n", nil, "does not name the file that it changes; give the argument path"},
		{"two names", "--- a/a.txt\n+++ b/c.txt\n@@\n-one\n+ONE\n", nil, "names two files, a.txt and c.txt"},
		{"a copy", "diff --git a/a.txt b/z.txt\ncopy from a.txt\ncopy to z.txt\n", nil, "a copy is a new file"},
		{"git's directory", "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: .git/hooks/pre-commit\n+x\n*** End Patch\n", nil, "git's own directory"},
		{"outside", "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: ../x\n+x\n*** End Patch\n", nil, "outside the workspace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, files)
			out := w.run(patchAll(tt.diff))
			want(t, out, map[bool]State{true: Completed, false: Failed}[tt.want != nil], tt.says)
			after := maps.Clone(files)
			for name, text := range tt.want {
				after[name] = text
				if text == "" {
					delete(after, name)
				}
			}
			if got := w.all(); !maps.Equal(got, after) {
				t.Errorf("the files are %q, want %q", got, after)
			}
			if len(out.Changes()) != len(tt.want) {
				t.Errorf("%d changes, want %d", len(out.Changes()), len(tt.want))
			}
			if out.State == Failed && len(out.Text) > 600 {
				t.Errorf("the refusal has %d bytes: %s", len(out.Text), out.Text)
			}
		})
	}
}

// TestAPatchOfSeveralFilesIsDecidedByAllOfThem: what is denied for one denies it, and
// what one needs approval for, all do.
func TestAPatchOfSeveralFilesIsDecidedByAllOfThem(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "b.txt": "a\n", "go.sum": "a\n"}, func(c *Config) {
		c.Policy = Policy{Mode: ModeEdits, Deny: []Rule{{Family: FamilyWrite, Match: []string{"no"}}}}
	})
	update := func(names ...string) string {
		var b strings.Builder
		for _, n := range names {
			b.WriteString("*** Update File: " + n + "\n@@\n-a\n+b\n")
		}
		return "*** Begin Patch\n" + b.String() + "*** End Patch\n"
	}
	for diff, want := range map[string]struct {
		verdict Verdict
		title   string
	}{
		update("a.txt", "b.txt"):                                    {Allow, "Change a.txt, Change b.txt"},
		update("a.txt", "go.sum"):                                   {Ask, "Change a.txt, Change go.sum: it is a lock file"},
		update("go.sum", "none"):                                    {Allow, ""},
		update("a.txt", "no/x"):                                     {Deny, ""},
		update("a.txt", "../x"):                                     {Deny, ""},
		"*** Delete File: a.txt\n*** Add File: c.txt\n+c\n":         {Allow, "Delete a.txt, Create c.txt"},
		"*** Begin Patch\n*** Delete File: go.sum\n*** End Patch\n": {Ask, "Delete go.sum: it is a lock file"},
	} {
		d := w.Decide(t.Context(), patchAll(diff))
		if d.Verdict != want.verdict || want.title != "" && d.Title != want.title || d.Effect != Write {
			t.Errorf("%s\nis decided as %+v", diff, d)
		}
	}
	d := w.Decide(t.Context(), patchAll(update("a.txt", "go.sum")))
	if !slices.Equal(d.Lasting.Rule.Match, []string{"go.sum"}) || !strings.Contains(d.Detail, "+++ b/a.txt") || !strings.Contains(d.Detail, "+++ b/go.sum") {
		t.Errorf("the question is %+v", d)
	}
}

// failing is a workspace that cannot edit one file.
type failing struct {
	*Disk
	path string
}

func (f failing) Apply(ctx context.Context, e Edit) (Applied, error) {
	if e.Path == f.path {
		return Applied{}, errors.New("no room")
	}
	return f.Disk.Apply(ctx, e)
}

func TestEditsBeforeOneThatFailsAreTakenBack(t *testing.T) {
	files := map[string]string{"a.txt": "a\n", "b.txt": "a\n", "c.txt": "a\n"}
	w := newWorld(t, files, func(c *Config) { c.Workspace = failing{c.Workspace.(*Disk), "c.txt"} })
	out := w.run(patchAll("*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** Add File: n.txt\n+n\n*** Delete File: b.txt\n*** Update File: c.txt\n@@\n-a\n+A\n*** End Patch\n"))
	want(t, out, Failed, "nothing was changed in any file: c.txt: no room")
	if got := w.all(); !maps.Equal(got, files) {
		t.Errorf("the files are %q", got)
	}
}
