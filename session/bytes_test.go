package session

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/tools"
	files "github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// TestAFileThatIsNotUTF8IsEditedResumedAndUndone changes one line of ASCII: every
// other byte stays, and the session is as good as any other.
func TestAFileThatIsNotUTF8IsEditedResumedAndUndone(t *testing.T) {
	for name, line := range map[string]string{
		"Latin-1":        "// caf\xe9\r\n",
		"CP1252":         "// 5 \x80 \x93so\x94\n",
		"Shift-JIS":      "// \x93\xfa\x96\x7b\x8c\xea\n",
		"half a letter":  "// \xf0\x9f\xa6\n",
		"a surrogate":    "// \xed\xa0\xbd\n",
		"no line breaks": "\xff\xfe\xfd",
	} {
		t.Run(name, func(t *testing.T) {
			before := "<?php\n" + line + "echo 1;\n" + line
			answers := `
version: 1
entries:
  - {when: "1/1", calls: [{read: {path: a.php}}, {patch: {path: a.php, diff: "@@\n-echo 1;\n+echo 2;\n"}}]}
  - {when: "1/2", text: Done.}
  - {when: "2/1", text: Next.}
  - {when: "3/1", text: Last.}
`
			if !strings.HasSuffix(line, "\n") {
				before = line + "\necho 1;\n"
			}
			r := start(t, map[string]string{"a.php": before}, answers)
			id, res := r.run("go")
			if want := strings.Replace(before, "echo 1", "echo 2", 1); res.Text != "Done." || r.read("a.php") != want {
				t.Fatalf("the turn ended %+v, the file is %q:\n%s", res, r.read("a.php"), r.kinds())
			}
			if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "more"}))); res.Text != "Next." {
				t.Errorf("the next turn ended %+v", res)
			}
			r.Shutdown()
			next := over(t, r.dir, r.store, answers)
			if _, err := next.Resume(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if _, err := next.Undo(t.Context(), UndoRequest{Session: &id}); err != nil || next.read("a.php") != before {
				t.Errorf("after the undo (%v) the file is %q", err, next.read("a.php"))
			}
			if res := next.result(id, must(next.Prompt(t.Context(), Prompt{Session: &id, Text: "more"}))); res.Text != "Last." {
				t.Errorf("the turn after the undo ended %+v", res)
			}
		})
	}
}

// TestAFileOfUTF16IsWrittenBackInKind edits, resumes and undoes.
func TestAFileOfUTF16IsWrittenBackInKind(t *testing.T) {
	for name, mark := range map[string]string{"little endian": "\xff\xfe", "big endian": "\xfe\xff"} {
		t.Run(name, func(t *testing.T) {
			as := func(text string) string {
				raw, err := files.Encode(text, []byte(mark))
				if err != nil {
					t.Fatal(err)
				}
				return string(raw)
			}
			before := as("eins\r\nzwei\r\n")
			script := `
version: 1
entries:
  - {when: "1/1", calls: [{patch: {path: a.txt, diff: "@@\n-zwei\n+één 漢 🦊\n"}}]}
  - {when: "1/2", text: Done.}
  - {when: "2/1", text: Next.}
  - {when: "3/1", text: Last.}
`
			r := start(t, map[string]string{"a.txt": before}, script)
			id, res := r.run("go")
			if want := as("eins\r\néén 漢 🦊\r\n"); res.Text != "Done." || r.read("a.txt") != want {
				t.Fatalf("the turn ended %+v, the file is %q:\n%s", res, r.read("a.txt"), r.kinds())
			}
			for _, p := range r.events {
				if res, ok := p.(*event.Result); ok && res.Edit != nil && !strings.Contains(res.Edit.Diff, "+één 漢 🦊") {
					t.Errorf("the transcript's diff is %q", res.Edit.Diff)
				}
			}
			r.Shutdown()
			next := over(t, r.dir, r.store, script)
			if _, err := next.Resume(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if res := next.result(id, must(next.Prompt(t.Context(), Prompt{Session: &id, Text: "more"}))); res.Text != "Next." {
				t.Errorf("the turn after the resume ended %+v", res)
			}
			if _, err := next.Undo(t.Context(), UndoRequest{Session: &id}); err != nil || next.read("a.txt") != before {
				t.Errorf("after the undo (%v) the file is %q", err, next.read("a.txt"))
			}
			if res := next.result(id, must(next.Prompt(t.Context(), Prompt{Session: &id, Text: "more"}))); res.Text != "Last." {
				t.Errorf("the turn after the undo ended %+v", res)
			}
		})
	}
}

func TestAFileWhoseNameIsNotUTF8IsNamedWithEscapes(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, `
version: 1
entries:
  - {when: "1/1", calls: [{exec: {argv: [sh, -c, "touch \"$(printf 'caf\\351-\\377.txt')\""]}}, {read: {path: .}}]}
  - {when: "1/2", text: Done.}
`)
	probe := filepath.Join(r.dir, "probe\xff")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		t.Skipf("this disk has no such names: %v", err)
	}
	if err := os.Remove(probe); err != nil {
		t.Fatal(err)
	}
	git(t, r.dir, "init", "-q")
	if _, res := r.run("go"); res.Text != "Done." {
		t.Fatalf("the turn ended %+v:\n%s", res, r.kinds())
	}
	const name = `caf\xE9-\xFF.txt`
	var results []*event.Result
	for _, p := range r.events {
		if res, ok := p.(*event.Result); ok {
			results = append(results, res)
		}
	}
	if len(results) != 2 || !cmp.Equal(results[0].Changed, []string{name}) || !strings.Contains(results[0].Text, "[changed files: "+name+"]") || !strings.Contains(results[1].Text, name) {
		t.Errorf("the results are %+v", results)
	}
}

// wildTools gives the same bytes for every command, and says that they are the
// names of files as well.
type wildTools struct {
	Tools
	bytes string
}

func (x wildTools) Decide(ctx context.Context, op tools.Op) tools.Decision {
	d := x.Tools.Decide(ctx, op)
	d.Title, d.Detail = x.bytes, x.bytes
	return d
}

func (x wildTools) Run(ctx context.Context, op tools.Op, label string) tools.Outcome {
	if op.Exec != nil {
		return tools.Outcome{State: tools.Completed, Text: x.bytes, Touched: []string{x.bytes}}
	}
	return x.Tools.Run(ctx, op, label)
}

// FuzzWhateverBytesComeTheTurnEndsAndTheSessionResumes puts bytes into the prompt,
// a file's text, the model's texts, its calls' arguments, a command's output and
// the names of files.
func FuzzWhateverBytesComeTheTurnEndsAndTheSessionResumes(f *testing.F) {
	for _, seed := range []string{"", "caf\xe9", "\x80\n\xff\r\n", "\xed\xa0\xbd\xed\xb8\x80", "\xc3", "\x00\x1b[31m\u2028\ufffd", `{"path":"\ud800"}`, "{\"path\":\"a\xff\"}", `"`, "\xef\xbb\xbf\xf4\x90\x80\x80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bytes string) {
		if len(bytes) > 1<<16 {
			t.Skip("bytes matter here, not size")
		}
		r := start(t, map[string]string{"a.txt": bytes + "\nend\n"}, "version: 1\nentries: []\n")
		quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(bytes, "\ufffd"))
		if err != nil {
			t.Fatal(err)
		}
		calls := []model.FunctionCall{
			{ID: bytes + "\xfe", Name: "read", Arguments: `{"path":"a.txt"}`},
			{ID: bytes + "\xff", Name: "exec", Arguments: `{"argv":[` + string(quoted) + `],"cwd":null}`},
			{ID: "3", Name: "patch", Arguments: `{"path":"a.txt","diff":"@@\n-end\n+END\n"}`},
			{ID: "4", Name: "write", Arguments: `{"path":"b.txt","text":` + string(quoted) + `}`},
			{ID: "5", Name: "read", Arguments: `{"path":` + string(quoted) + `}`},
		}
		replies := func() []model.Response {
			return []model.Response{
				{Text: &bytes, Reasoning: &bytes, Sealed: jsontext.Value(bytes), Calls: calls, Finish: bytes, ProviderID: bytes},
				{Calls: []model.FunctionCall{{ID: "6", Name: "read", Arguments: bytes}, {ID: "7", Name: bytes, Arguments: "{}"}}},
				{Text: &bytes, Finish: "stop"},
				{Text: new("Next."), Finish: "stop"},
			}
		}
		inner := r.cfg.Tools
		begin := func(r *rig, from int) *rig {
			r.Shutdown()
			m := &answers{replies: replies()[from:]}
			r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
				x, err := inner(ws)
				return wildTools{x, bytes}, err
			}
			withModel(r, m, 0)
			return r
		}
		begin(r, 0)
		id, turn, err := r.Prompt(t.Context(), Prompt{Root: r.dir, Text: "x" + bytes, Context: []event.Context{{Path: bytes, Text: bytes}}})
		if err != nil {
			t.Fatal(err)
		}
		if res := r.result(id, turn); res.Outcome != "complete" || res.Text != event.Text(bytes) {
			t.Errorf("the turn ended %+v:\n%s", res, r.kinds())
		}
		if kinds := r.kinds(); !strings.HasSuffix(kinds, "done complete\n") || !utf8.ValidString(kinds) || strings.Contains(kinds, "not run: encode") {
			t.Errorf("the transcript is %q", kinds)
		}
		ids := map[string]bool{}
		for _, p := range r.events {
			if c, ok := p.(*event.Call); ok && ids[c.ProviderID] {
				t.Errorf("two calls have the id %q", c.ProviderID)
			} else if ok {
				ids[c.ProviderID] = true
			}
		}
		r.Shutdown()
		next := begin(over(t, r.dir, r.store, "version: 1\nentries: []\n"), 3)
		if _, err := next.Resume(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if res := next.result(id, must(next.Prompt(t.Context(), Prompt{Session: &id, Text: "more"}))); res.Text != "Next." {
			t.Errorf("the turn after the resume ended %+v", res)
		}
		if _, err := next.Undo(t.Context(), UndoRequest{Session: &id}); err != nil && !strings.Contains(err.Error(), "no edit that stands") {
			t.Error(err)
		}
		if got := next.read("a.txt"); got != bytes+"\nend\n" {
			t.Errorf("a.txt is %q after the undo", got)
		}
	})
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@y"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}
