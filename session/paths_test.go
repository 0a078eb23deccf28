package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// TestNothingOfThisMachineEntersATranscript has every tool fail in the ways that
// errors of the system come through: no event names where the workspace lies.
func TestNothingOfThisMachineEntersATranscript(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n", "dir/b.txt": "b\n", "bad": "\xff\xfe\x00"}, `
version: 1
entries:
  - calls:
      - exec: {argv: [no-such-program]}
      - exec: {argv: [./a.txt]}
      - exec: {argv: [ls], cwd: nowhere}
      - exec: {argv: [ls], cwd: a.txt}
      - exec: {argv: [ls, nowhere]}
      - exec: {argv: []}
      - git: {argv: [status]}
      - git: {argv: [log, -1]}
      - read: {path: dir}
      - read: {path: nowhere}
      - read: {path: bad}
      - read: {path: a.txt/below}
      - read: {path: out/secret}
      - write: {path: dir, text: x}
      - write: {path: a.txt/below, text: x}
      - write: {path: out/new, text: x}
      - patch: {path: nowhere, diff: "@@\n-a\n+b\n"}
      - patch: {path: a.txt, diff: "@@\n-zzz\n+b\n"}
      - browse: {url: "http://127.0.0.1:1/"}
      - browse: {url: "file:///etc/passwd"}
  - text: Enough.
`)
	if err := os.Symlink(filepath.Join(filepath.Dir(r.dir)), filepath.Join(r.dir, "out")); err != nil {
		t.Skip(err)
	}
	id, res := r.run("try everything")
	if res.Text != "Enough." {
		t.Fatalf("turn ended %+v:\n%s", res, r.kinds())
	}
	text := transcriptOf(t, r, id)
	if n := strings.Count(text, `"kind":"result"`); n != 20 {
		t.Errorf("%d results, want 20:\n%s", n, r.kinds())
	}
	for line := range strings.Lines(text) {
		for _, own := range []string{r.dir, os.TempDir(), filepath.Base(filepath.Dir(r.dir))} {
			if strings.Contains(line, own) {
				t.Errorf("%q is in %s", own, line)
				break
			}
		}
	}
}

// TestAModelMayNameAFileByItsAbsolutePath as long as it lies in the workspace.
func TestAModelMayNameAFileByItsAbsolutePath(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, "version: 1\nentries: [{text: unused}]\n")
	quoted := func(name string) string { return strings.ReplaceAll(filepath.Join(r.dir, name), `\`, `\\`) }
	m := &answers{replies: []model.Response{
		{Calls: []model.FunctionCall{
			{ID: "1", Name: "read", Arguments: `{"path":"` + quoted("a.txt") + `"}`},
			{ID: "2", Name: "write", Arguments: `{"path":"` + quoted("new.txt") + `","text":"new\n"}`},
			{ID: "3", Name: "read", Arguments: `{"path":"` + quoted("../outside.txt") + `"}`},
		}},
		{Text: new("Done."), Finish: "stop"},
	}}
	withModel(r, m, 0)
	id, res := r.run("go")
	if res.Text != "Done." || r.read("new.txt") != "new\n" {
		t.Errorf("turn ended %+v, the file is %q", res, r.read("new.txt"))
	}
	text := transcriptOf(t, r, id)
	for _, says := range []string{`"text":"a\n"`, `"call":{"Read":{"path":"a.txt"}}`, "created new.txt", "outside.txt is not inside the workspace"} {
		if !strings.Contains(text, says) {
			t.Errorf("%s is not in\n%s", says, text)
		}
	}
}
