package lsp

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/tools"
)

func TestClosedAndNewFiles(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options lsptest.Options
		edits   int // requests to the client
	}{
		{"everything", lsptest.Options{}, 1},
		{"answers first", lsptest.Options{Edits: lsptest.EditAfter}, 1},
		{"saves", lsptest.Options{SavesEdits: true}, 1},
		{"keeps the text of new files to itself", lsptest.Options{Edits: lsptest.EditUnheard}, 1},
		{"keeps it, though it saves", lsptest.Options{Edits: lsptest.EditUnheard, SavesEdits: true}, 1},
		{"no documentChanges", lsptest.Options{NoDocumentChanges: true}, 0},
		{"no resource operations", lsptest.Options{NoCreate: true}, 0},
		{"no edits at all", lsptest.Options{NoApplyEdit: true}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := start(t, tt.options, map[string]string{"a.txt": "\uFEFFone\r\ntwo"})
			for name, content := range map[string]string{"a.txt": "\uFEFFone\r\n2", "new/deep/b.txt": "x\ny", "new/empty": ""} {
				if got, err := r.workspace().Apply(t.Context(), r.edit(name, content)); err != nil || got.Unsaved {
					t.Fatalf("%s: %+v, %v", name, got, err)
				}
				if s := r.read(name); s != content {
					t.Errorf("%s holds %q, want %q", name, s, content)
				}
			}
			r.Barrier()
			n := 0
			for _, m := range r.Traffic() {
				if m.Method == "workspace/applyEdit" {
					n++
				}
			}
			if n != 2*tt.edits {
				t.Errorf("%d edits were sent, want %d: a closed file is not loaded into a buffer", n, 2*tt.edits)
			}
		})
	}
}

func TestACreationThatFailsLeavesNothingHidden(t *testing.T) {
	for _, tt := range []struct {
		how  lsptest.EditAnswer
		err  string
		left string // what is there afterwards
	}{
		{lsptest.EditRefuse, "refused it (the editor refuses edits); there is no such file", ""},
		{lsptest.EditNever, "did not answer", ""},
		{lsptest.EditSkip, "said that it was applied, but there is no such file", ""},
		{lsptest.EditHalf, "the file was created without its text", "new/b.txt"},
	} {
		r := start(t, lsptest.Options{Edits: tt.how}, nil)
		_, err := r.workspace().Apply(t.Context(), r.edit("new/b.txt", "x\n"))
		if err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %q in it", tt.how, err, tt.err)
		}
		_, err = os.Stat(r.path("new"))
		if (err == nil) != (tt.left != "") {
			t.Errorf("%s: the new directory: %v", tt.how, err)
		}
	}
}

// TestACreationLeavesAloneWhatSomebodyElseMakes is about a file, and a buffer, that
// come to be while an edit that creates them is under way.
func TestACreationLeavesAloneWhatSomebodyElseMakes(t *testing.T) {
	r := start(t, lsptest.Options{Edits: lsptest.EditHold}, nil)
	e := r.edit("new/a.txt", "x\n")
	done := make(chan error, 1)
	go func() {
		_, err := r.workspace().Apply(context.Background(), e)
		done <- err
	}()
	r.WaitHeld(1)
	write(t, r.path("new/a.txt"), "of a build step\n")
	r.Release(lsptest.EditBefore)
	if err := <-done; err == nil || !strings.Contains(err.Error(), "exists); the file holds another text, which differs from the edit's in line 1: read it again") {
		t.Errorf("%v, want it to say what is there", err)
	}
	if got := r.read("new/a.txt"); got != "of a build step\n" {
		t.Errorf("the file holds %q", got)
	}
	e = r.edit("b.txt", "x\n")
	r.OpenText(text.URI(r.path("b.txt")), "a draft", 1)
	r.Barrier()
	if _, err := r.workspace().Apply(t.Context(), e); !errors.Is(err, tools.ErrStale) {
		t.Errorf("a file that the editor has open, unsaved: %v", err)
	}
	if n := sent(r, "workspace/applyEdit"); n != 1 {
		t.Errorf("%d edits were sent, want 1", n)
	}
}

func TestDeletions(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options lsptest.Options
		edits   int
		err     string
	}{
		{"by the client", lsptest.Options{}, 2, ""},
		{"no resource operations", lsptest.Options{NoCreate: true}, 0, ""},
		{"no edits at all", lsptest.Options{NoApplyEdit: true}, 0, ""},
		{"refused", lsptest.Options{Edits: lsptest.EditRefuse}, 2, "the editor refused it (the editor refuses edits); the file is still there"},
		{"true and nothing done", lsptest.Options{Edits: lsptest.EditSkip}, 2, "said that it was applied, but the file is still there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := start(t, tt.options, map[string]string{"open.txt": before, "closed.txt": before, "changed.txt": "other\n", "typed.txt": before})
			r.Open(r.path("open.txt"))
			typed := r.Open(r.path("typed.txt"))
			r.Replace(typed, "two", "typed")
			r.Barrier()
			for _, name := range []string{"open.txt", "closed.txt"} {
				_, err := r.workspace().Apply(t.Context(), tools.Edit{Path: name, Delete: true, Before: before, Open: name == "open.txt"})
				if want := strings.Replace(tt.err, "the file", map[string]string{"open.txt": "its document (version 1)", "closed.txt": "the file"}[name], 1); (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", name, err, want)
				}
				if _, err := os.Stat(r.path(name)); (err == nil) != (tt.err != "") {
					t.Errorf("%s: %v", name, err)
				}
				if _, open := r.workspace().Buffer(name); open && tt.err == "" {
					t.Errorf("%s is still open", name)
				}
			}
			for _, name := range []string{"changed.txt", "typed.txt", "missing.txt"} {
				if _, err := r.workspace().Apply(t.Context(), tools.Edit{Path: name, Delete: true, Before: before}); !errors.Is(err, tools.ErrStale) {
					t.Errorf("%s: %v, want it to be stale", name, err)
				}
			}
			r.Barrier()
			n := 0
			for _, m := range r.Traffic() {
				if m.Method == "workspace/applyEdit" {
					n++
				}
			}
			if n != tt.edits {
				t.Errorf("%d edits were sent, want %d", n, tt.edits)
			}
		})
	}
}
