package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/google/go-cmp/cmp"
)

const undoScript = `
version: 1
entries:
  - calls: [{read: {path: a.txt}}, {read: {path: b.txt}}]
  - calls:
      - write: {path: a.txt, text: "one\nTWO\nthree\nfour\nfive\n"}
      - write: {path: b.txt, text: "B\n"}
      - write: {path: dir/new.txt, text: "new\n"}
      - patch: {path: a.txt, diff: "@@\n-TWO\n+2\n"}
  - text: Edited.
  - text: Second.
`

var undoFiles = map[string]string{"a.txt": "one\ntwo\nthree\nfour\nfive\n", "b.txt": "b\n"}

func TestUndoTakesATurnBackAndKeepsWhatWasTypedElsewhere(t *testing.T) {
	r := start(t, undoFiles, undoScript)
	id, _ := r.run("edit")
	write(t, r, "a.txt", "zero\none\n2\nthree\nfour\nfive!\n")
	out, err := r.Undo(t.Context(), UndoRequest{Root: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Undone{Session: id, Turn: 1, Files: []string{"a.txt", "dir/new.txt", "b.txt"}, NotCovered: []string{}}, out); d != "" {
		t.Errorf("undo (-want +got):\n%s", d)
	}
	if got, want := r.read("a.txt"), "zero\none\ntwo\nthree\nfour\nfive!\n"; got != want {
		t.Errorf("a.txt is %q, want %q", got, want)
	}
	if got := r.read("b.txt"); got != "b\n" {
		t.Errorf("b.txt is %q", got)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "dir", "new.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the created file is still there: %v", err)
	}
	if _, err := r.Undo(t.Context(), UndoRequest{Root: r.dir}); err == nil || !strings.Contains(err.Error(), "no edit that stands") {
		t.Errorf("a second undo answered %v", err)
	}
	r.run("and now?")
	messages := r.Manager.sessions[id].journal.history().Messages
	var notes int
	for _, m := range messages {
		if strings.Contains(m.Text, "the user undid the edits of turn 1") {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("the model is told of the undo %d times, want once", notes)
	}
}

func TestUndoOfOneEdit(t *testing.T) {
	r := start(t, undoFiles, undoScript)
	r.run("edit")
	var index uint64
	entries, _, err := r.Transcript(t.Context(), r.recent[r.dir], nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		p, err := event.Decode(e.Event)
		if err != nil {
			t.Fatal(err)
		}
		if res, ok := p.(*event.Result); ok && res.Edit != nil && res.Edit.Path == "b.txt" {
			index = e.Index
		}
	}
	if _, err := r.Undo(t.Context(), UndoRequest{Root: r.dir, Edit: &index}); err != nil {
		t.Fatal(err)
	}
	if a, b := r.read("a.txt"), r.read("b.txt"); !strings.Contains(a, "2") || b != "b\n" {
		t.Errorf("a.txt is %q, b.txt is %q", a, b)
	}
	// The rest of the turn does not take it back once more.
	write(t, r, "b.txt", "B\n")
	if out, err := r.Undo(t.Context(), UndoRequest{Root: r.dir}); err != nil || slices.Contains(out.Files, "b.txt") {
		t.Errorf("the rest of the turn: %+v, %v", out, err)
	}
	if a, b := r.read("a.txt"), r.read("b.txt"); a != undoFiles["a.txt"] || b != "B\n" {
		t.Errorf("a.txt is %q, b.txt is %q", a, b)
	}
}

// TestUndoSaysWhatACommandChanged: only the agent's own edits are taken back.
func TestUndoSaysWhatACommandChanged(t *testing.T) {
	r := start(t, undoFiles, `
version: 1
entries:
  - calls: [{read: {path: a.txt}}, {read: {path: b.txt}}, {exec: {argv: [sh, -c, "echo x > b.txt; echo y > a.txt"]}}, {write: {path: new.txt, text: "new\n"}}, {exec: {argv: [sh, -c, "echo more >> a.txt"]}}]
  - text: Done.
  - calls: [{exec: {argv: [sh, -c, "echo later > b.txt"]}}]
  - text: Done.
`)
	r.run("edit")
	r.run("another turn")
	out, err := r.Undo(t.Context(), UndoRequest{Root: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a.txt", "b.txt"}, out.NotCovered); d != "" {
		t.Errorf("not covered (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"new.txt"}, out.Files); d != "" {
		t.Errorf("undone (-want +got):\n%s", d)
	}
}

func TestUndoRefusesACollisionAndChangesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       ConflictError
	}{
		"the same line": {"a.txt", "one\nmine\nthree\nfour\nfive\n", ConflictError{Path: "a.txt", Lines: []tools.Lines{{First: 2, Last: 2}}, Why: "was changed since"}},
		"created file":  {"dir/new.txt", "new\nand more\n", ConflictError{Path: "dir/new.txt", Why: "was created by this turn and changed since"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, undoFiles, undoScript)
			r.run("edit")
			write(t, r, c.file, c.text)
			_, err := r.Undo(t.Context(), UndoRequest{Root: r.dir})
			got, ok := errors.AsType[*ConflictError](err)
			if !ok {
				t.Fatalf("undo answered %v", err)
			}
			if d := cmp.Diff(c.want, *got); d != "" {
				t.Errorf("conflict (-want +got):\n%s", d)
			}
			if r.read(c.file) != c.text || r.read("b.txt") != "B\n" {
				t.Error("a refused undo changed something")
			}
		})
	}
}

// TestUndoTrustsNoTextThatIsNotTheOneThatWasThere damages what is kept of an edit: of
// a text that only looks like the one before nothing is written.
func TestUndoTrustsNoTextThatIsNotTheOneThatWasThere(t *testing.T) {
	for name, damage := range map[string]func(event.Payload){
		"the text before": func(p event.Payload) {
			if in, ok := p.(*event.Intent); ok && in.Edit.Base != "" {
				in.Edit.Base = deflate("one\ntwo\nthree\nfour\nfive!\n")
			}
		},
		"a text before that is cut off": func(p event.Payload) {
			if in, ok := p.(*event.Intent); ok && in.Edit.Base != "" {
				in.Edit.Base = in.Edit.Base[:len(in.Edit.Base)/2]
			}
		},
		"the change": func(p event.Payload) {
			if res, ok := p.(*event.Result); ok && res.Edit != nil {
				res.Edit.Diff = strings.ReplaceAll(res.Edit.Diff, "+TWO", "+TOO")
			}
		},
		"its hash after": func(p event.Payload) {
			if res, ok := p.(*event.Result); ok && res.Edit != nil {
				res.Edit.After = hashOf("another")
			}
		},
		"its hash before": func(p event.Payload) {
			if res, ok := p.(*event.Result); ok && res.Edit != nil && res.Edit.Before != "" {
				res.Edit.Before = hashOf("another")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, undoFiles, undoScript)
			f := &faultyStore{Store: r.store}
			r = over(t, r.dir, f, undoScript)
			r.run("edit")
			f.events = func(all []store.Event) []store.Event {
				for i := range all {
					p, err := event.Decode(all[i].Payload.Data)
					if err != nil {
						t.Fatal(err)
					}
					damage(p)
					if all[i].Payload.Data, err = event.Encode(p); err != nil {
						t.Fatal(err)
					}
				}
				return all
			}
			was := r.read("a.txt")
			if _, err := r.Undo(t.Context(), UndoRequest{Root: r.dir}); err == nil || !strings.Contains(err.Error(), "is not kept") {
				t.Errorf("undo returned %v", err)
			}
			if r.read("a.txt") != was || r.read("b.txt") != "B\n" {
				t.Error("something was undone all the same")
			}
		})
	}
}

func write(t *testing.T, r *rig, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
