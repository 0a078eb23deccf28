package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
)

// TestEveryEditorEndsWithTheSameTexts runs one prompt with the habits of each
// editor: it edits a document with unsaved text, a closed file and a new one.
func TestEveryEditorEndsWithTheSameTexts(t *testing.T) {
	const entries = `  - calls: [{read: {path: open.txt}}, {read: {path: closed.txt}}]
  - calls:
      - patch: {path: open.txt, diff: "@@\n-two\n+2 😀\n three\n"}
      - patch: {path: closed.txt, diff: "@@\n-two\n+2 😀\n three\n"}
      - write: {path: new/file.txt, text: "new\n"}
  - {when: "created new/file.txt", text: done}
`
	editors := map[string]lsptest.Options{
		"no applyEdit":       {NoApplyEdit: true},
		"no documentChanges": {NoDocumentChanges: true},
		"no create":          {NoCreate: true},
		"lazy":               {Edits: lsptest.EditLazy},
		"mute":               {Edits: lsptest.EditMute},
		"saves":              {SavesEdits: true},
		"saves, late":        {SavesEdits: true, Edits: lsptest.EditAfter},
	}
	for _, name := range []string{"neovim", "vscode", "helix", "eglot"} {
		editors[name], _ = lsptest.Client(name)
	}
	for name, o := range editors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, f := range []string{"open.txt", "closed.txt"} {
				put(t, filepath.Join(dir, f), "one\ntwo\nthree\n")
			}
			o.Folders, o.Transcript = []string{dir}, true
			o.InitializationOptions = scripted(t, entries, map[string]any{"approvals": "edits"})
			e := lsptest.Start(t, program(t), o)
			e.Initialize()
			uri := e.Open(filepath.Join(dir, "open.txt"))
			e.Replace(uri, "one", "typed")
			if o.Edits == lsptest.EditLazy {
				p := e.GoCommand("agent.prompt", map[string]any{"text": "go", "wait": true})
				for _, file := range []string{"open.txt", "new/file.txt"} {
					e.Wait("an edit", 0, func(m lsptest.Message) bool {
						return m.Method == "workspace/applyEdit" && !m.Sent && strings.Contains(string(m.Params), file)
					})
					e.Flush()
				}
				if _, err := p.Wait(); err != nil {
					t.Fatal(err)
				}
			} else if got := prompted(t, e, "go"); got != "done" {
				t.Errorf("the agent says %q", got)
			}
			e.Flush()
			e.Barrier()
			if o.NoApplyEdit {
				// Its unsaved text is nobody else's to change.
				if got, _ := e.Text(uri); got != "typed\ntwo\nthree\n" {
					t.Errorf("the buffer holds %q", got)
				}
			} else if got, _ := e.Text(uri); got != "typed\n2 😀\nthree\n" {
				t.Errorf("the buffer holds %q", got)
			}
			for f, want := range map[string]string{"closed.txt": "one\n2 😀\nthree\n", "new/file.txt": "new\n"} {
				if got, err := os.ReadFile(filepath.Join(dir, f)); string(got) != want {
					t.Errorf("%s holds %q, %v", f, got, err)
				}
			}
			if f := e.Faults(); len(f) > 0 {
				t.Error(f)
			}
			e.Shutdown()
		})
	}
}
