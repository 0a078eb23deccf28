//go:build unix

package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/tools"
)

// heldTools does not return from a command before it may.
type heldTools struct {
	Tools
	release <-chan struct{}
}

func (x heldTools) Run(ctx context.Context, op tools.Op, label string) tools.Outcome {
	out := x.Tools.Run(ctx, op, label)
	<-x.release
	return out
}

// TestWhatACancelledCommandDidIsTold cancels one call as it runs and the next before
// it begins. What the first printed and changed is in the transcript, for undo, and the
// model reads it before its next prompt.
func TestWhatACancelledCommandDidIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		does string // what the command does before it waits to be stopped
		told []string
		late bool
	}{
		"prints and writes": {"echo half; echo x > made.txt", []string{"half", "[changed files: made.txt]"}, true},
		"prints":            {"echo half; echo worse >&2", []string{"half", "worse"}, true},
		"writes":            {"echo x > made.txt", []string{"[changed files: made.txt]"}, true},
		"nothing":           {"true", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, map[string]string{"a.txt": "a\n", ".gitignore": "pipe\n"}, "version: 1\nentries: [{text: unused}]\n")
			git(t, r.dir, "init", "-q")
			git(t, r.dir, "add", "-A")
			git(t, r.dir, "commit", "-qm", "x")
			pipe := filepath.Join(r.dir, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			m := &answers{replies: []model.Response{
				{Calls: []model.FunctionCall{
					{ID: "1", Name: "exec", Arguments: `{"argv":["sh","-c","` + tt.does + `; echo now > pipe; exec sleep 600"]}`},
					{ID: "2", Name: "exec", Arguments: `{"argv":["touch","never.txt"]}`},
				}},
				{Text: new("Next."), Finish: "stop"},
			}}
			r.Shutdown()
			inner, release := r.cfg.Tools, make(chan struct{})
			r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
				x, err := inner(ws)
				return heldTools{x, release}, err
			}
			withModel(r, m, 0)
			id := mustPrompt(t, r, "work")
			if _, err := os.ReadFile(pipe); err != nil { // the command has come so far
				t.Fatal(err)
			}
			if ok, err := r.Cancel(t.Context(), &id, nil); !ok || err != nil {
				t.Fatalf("cancel: %v, %v", ok, err)
			}
			late := r.next(event.KindNote)
			close(release)
			if tt.late {
				r.await(late, "what the command did")
			}
			if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "again"}))); res.Text != "Next." {
				t.Fatalf("the next turn ended %+v", res)
			}
			text := transcriptOf(t, r, id)
			for _, says := range []string{`"text":"cancelled: stopped `, `"text":"cancelled: not started"`} {
				if n := strings.Count(text, says); n != 1 {
					t.Errorf("%s is %d times in\n%s", says, n, text)
				}
			}
			var request strings.Builder
			for _, msg := range m.requests[1].Messages {
				request.Write(msg)
			}
			if tells := strings.Contains(request.String(), "what the cancelled call exec did"); tells != tt.late {
				t.Errorf("the model is told %t, want %t: %s", tells, tt.late, &request)
			}
			for _, part := range tt.told {
				if !strings.Contains(request.String(), part) {
					t.Errorf("the model is not told %q: %s", part, &request)
				}
			}
			if _, err := os.Stat(filepath.Join(r.dir, "never.txt")); err == nil {
				t.Error("the second call ran")
			}
			if res, err := r.Undo(t.Context(), UndoRequest{Session: &id}); err == nil {
				t.Errorf("there is an edit to undo: %+v", res)
			}
		})
	}
}
