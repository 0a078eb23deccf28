package lsp

import (
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
		{name: "a stale file", how: lsptest.EditBefore, change: func(r *rig) { write(r.t, r.path("closed.txt"), "other\n") }, err: "changed on disk", applied: 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, lsptest.Options{Edits: tt.how}, files)
			a, b := r.Open(r.path("a.txt")), r.Open(r.path("b.txt"))
			r.Barrier()
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
