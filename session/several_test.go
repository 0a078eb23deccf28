package session

import (
	"context"
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools"
)

// dying is an editor whose workspace makes only the first edits of several, and then
// never returns, as a process that is killed does.
type dying struct {
	*rig
	after int
	made  chan struct{} // closed when they are made
}

func (d dying) Workspace(string) (tools.Workspace, error) { return dyingWorkspace{d.disk, d}, nil }

type dyingWorkspace struct {
	*tools.Disk
	dying
}

func (w dyingWorkspace) Apply(ctx context.Context, e tools.Edit) (tools.Applied, error) {
	return w.Disk.Apply(ctx, e)
}

func (w dyingWorkspace) ApplyAll(ctx context.Context, edits []tools.Edit) error {
	for _, e := range edits[:w.after] {
		if _, err := w.Disk.Apply(ctx, e); err != nil {
			return err
		}
	}
	close(w.made)
	<-ctx.Done()
	return ctx.Err()
}

const severalScript = `
version: 1
entries:
  - when: "1/1"
    calls: [{patch: {diff: "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: n.txt\n+new\n*** Delete File: c.txt\n*** Update File: d.txt\n*** Move to: e.txt\n@@\n-four\n+FOUR\n*** End Patch\n"}}]
  - {when: "1/2", text: Changed.}
`

// TestEditsOfSeveralFilesAreCompletedAfterACrash: however many of them were made, a
// resume makes all of them, and one undo takes all back.
func TestEditsOfSeveralFilesAreCompletedAfterACrash(t *testing.T) {
	before := map[string]string{"a.txt": "one\n", "c.txt": "three\n", "d.txt": "four\n", "n.txt": "", "e.txt": ""}
	after := map[string]string{"a.txt": "ONE\n", "c.txt": "", "d.txt": "", "n.txt": "new\n", "e.txt": "FOUR\n"}
	for made := range 6 {
		t.Run(fmt.Sprint(made), func(t *testing.T) {
			r := start(t, map[string]string{"a.txt": "one\n", "c.txt": "three\n", "d.txt": "four\n"}, severalScript)
			r.Shutdown()
			editor := dying{r, made, make(chan struct{})}
			r.Manager = NewManager(r.cfg, editor)
			id := mustPrompt(t, r, "go")
			r.await(editor.made, "the edits")
			r.Shutdown()
			next := over(t, r.dir, r.store, severalScript)
			if _, err := next.Resume(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if res := next.result(id, 1); res.Text != "Changed." {
				t.Errorf("the turn ended %+v", res)
			}
			if got := next.texts(before); !maps.Equal(got, after) {
				t.Errorf("the files are %q, want %q; the transcript:\n%s", got, after, next.transcriptText(id))
			}
			if _, err := next.Undo(t.Context(), UndoRequest{Root: r.dir}); err != nil {
				t.Fatal(err)
			}
			if got := next.texts(before); !maps.Equal(got, before) {
				t.Errorf("the undo gives %q", got)
			}
		})
	}
}

// texts returns the texts of files that may not be there.
func (r *rig) texts(names map[string]string) map[string]string {
	out := map[string]string{}
	for name := range names {
		text, err := r.disk.Root().ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}
