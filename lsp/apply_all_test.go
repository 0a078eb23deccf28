package lsp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/tools"
)

func TestSeveralEditsAreOneStepOfTheEditor(t *testing.T) {
	files := map[string]string{"a.txt": before, "b.txt": before, "closed.txt": before, "gone.txt": before}
	for _, tt := range []struct {
		name    string
		how     lsptest.EditAnswer
		change  func(r *rig) // before the edits, behind their back
		err     string
		want    string // of a.txt, b.txt and closed.txt afterwards
		applied int    // messages that ask for an edit
	}{
		{name: "all land", how: lsptest.EditBefore, want: after, applied: 2},
		{name: "all land, answer first", how: lsptest.EditAfter, want: after, applied: 2},
		{name: "nothing is done and true said", how: lsptest.EditSkip, err: "still holds the text from before", want: before, applied: 1},
		{name: "half of them and false", how: lsptest.EditHalf, err: "the editor failed half way", want: before, applied: 2},
		{name: "refused", how: lsptest.EditRefuse, err: "the editor refuses edits", want: before, applied: 1},
		{name: "no answer", how: lsptest.EditNever, err: "did not answer", want: before, applied: 1},
		{name: "done without an answer", how: lsptest.EditMute, want: after, applied: 2},
		{name: "a stale file", how: lsptest.EditBefore, change: func(r *rig) { write(r.t, r.path("closed.txt"), "other\n") }, err: "changed on disk", applied: 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, lsptest.Options{}, files)
			a, b := r.Open(r.path("a.txt")), r.Open(r.path("b.txt"))
			r.Barrier()
			r.AnswerEdits(lsptest.EditBefore, tt.how)
			edits := []tools.Edit{r.edit("a.txt", after), r.edit("b.txt", after), r.edit("closed.txt", after), r.edit("gone.txt", "")}
			edits[3].Delete = true
			if tt.change != nil {
				tt.change(r)
			}
			batch, ok := r.workspace().(tools.Batcher)
			if !ok {
				t.Fatal("the workspace takes one edit at a time only")
			}
			err := batch.ApplyAll(t.Context(), edits)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if n := sent(r, "workspace/applyEdit"); n != tt.applied {
				t.Errorf("%d edits were sent, want %d", n, tt.applied)
			}
			if tt.change != nil {
				if !errors.Is(err, tools.ErrStale) {
					t.Errorf("%v is not ErrStale", err)
				}
				return
			}
			for _, uri := range []string{a, b} {
				if text, _ := r.Text(uri); text != tt.want {
					t.Errorf("%s is %q, want %q", uri, text, tt.want)
				}
			}
			if got := r.read("closed.txt"); got != tt.want {
				t.Errorf("closed.txt is %q, want %q", got, tt.want)
			}
		})
	}
}

// TestSeveralEditsWhileThePersonTypes are of two documents, of which the second one
// moves on before the editor takes them. Neither what was typed is lost nor does the
// first one keep its change, also where an editor looks at the first version only.
func TestSeveralEditsWhileThePersonTypes(t *testing.T) {
	neovim, _ := lsptest.Client("neovim")
	for name, o := range map[string]lsptest.Options{"neovim": neovim, "others": {}} {
		how := o.Edits
		o.Edits = lsptest.EditHold
		r := start(t, o, map[string]string{"a.txt": before, "b.txt": before})
		a, b := r.Open(r.path("a.txt")), r.Open(r.path("b.txt"))
		r.Barrier()
		edits := []tools.Edit{r.edit("a.txt", after), r.edit("b.txt", after)}
		done := make(chan error, 1)
		go func() { done <- r.workspace().(tools.Batcher).ApplyAll(context.Background(), edits) }()
		r.WaitHeld(1)
		r.Replace(b, "one", "typed\none")
		r.AnswerEdits(how)
		r.Release(how)
		if err := <-done; err == nil || !strings.Contains(err.Error(), "b.txt") {
			t.Errorf("%s: %v, want it to name b.txt", name, err)
		}
		r.Barrier()
		for uri, want := range map[string]string{a: before, b: "typed\n" + before} {
			if got, _ := r.Text(uri); got != want {
				t.Errorf("%s: %s holds %q, want %q", name, uri, got, want)
			}
		}
	}
}

// sent counts the server's messages of a method.
func sent(r *rig, method string) int {
	n := 0
	for _, m := range r.Traffic() {
		if m.Method == method {
			n++
		}
	}
	return n
}
