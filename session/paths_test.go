package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/script"
	"github.com/agent-lsp/agent-lsp/tools/proc"
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
	nothingOfThisMachine(t, r, text)
}

// nothingOfThisMachine fails for a transcript that says where the workspace lies or
// where programs are looked for.
func nothingOfThisMachine(t *testing.T, r *rig, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		for _, own := range []string{r.dir, os.TempDir(), filepath.Base(filepath.Dir(r.dir)), os.Getenv("PATH")} {
			if strings.Contains(line, own) {
				t.Errorf("%q is in %s", own, line)
				break
			}
		}
	}
}

// TestNothingOfThisMachineIsInAFailure has the check's program missing, a check in a
// directory that is not there, and scripts that fail in each way, by an absolute path.
func TestNothingOfThisMachineIsInAFailure(t *testing.T) {
	for name, entries := range map[string]string{
		"nothing is left":          `[{calls: [{write: {path: a.txt, text: "b\n"}}]}]`,
		"none for the step":        `[{when: "1/1", calls: [{write: {path: a.txt, text: "b\n"}}]}, {when: "9/9", text: x}]`,
		"recorded of another":      `[{when: "1/1", calls: [{write: {path: a.txt, text: "b\n"}}]}, {when: "1/2", text: x, request: {tools: a, messages: "user:b"}}]`,
		"a kind of failure":        `[{when: "1/1", calls: [{write: {path: a.txt, text: "b\n"}}]}, {when: "1/2", fail: {kind: error, error: auth}}]`,
		"a call that fits nothing": `[{when: "1/1", calls: [{write: {path: a.txt, text: "b\n"}}]}, {when: "1/2", calls: [{nothing: {}}]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, map[string]string{"go.mod": "module x\n", "main.go": "package main\n"}, "version: 1\nentries: [{text: unused}]\n")
			r.Shutdown()
			s, err := script.Parse(filepath.Join(r.dir, "script.yaml"), []byte("version: 1\nentries: "+entries+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			r.cfg.Provider = func(_ context.Context, _ model.Profile, env ProviderEnv) (model.Model, error) {
				return script.New(s, env.Clock), nil
			}
			check := checker.New(checker.Config{Trusted: true, Commands: map[string]checker.Command{"go": {Argv: []string{"no-such-checker"}}}, Policy: proc.Unconfined("a test's own command")})
			t.Cleanup(func() { check.Close() })
			r.cfg.Checker = oneChecker{check}
			r.Manager = NewManager(r.cfg, r)
			id, _ := r.run("go")
			text := transcriptOf(t, r, id)
			if !strings.Contains(text, "no-such-checker") || !strings.Contains(text, "script.yaml") && name != "a kind of failure" && name != "a call that fits nothing" {
				t.Errorf("nothing failed:\n%s", r.kinds())
			}
			nothingOfThisMachine(t, r, text)
		})
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
