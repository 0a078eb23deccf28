package session

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
)

func TestAnOpenRequestIsResumedThoughItsProfileWasRenamed(t *testing.T) {
	r := start(t, nil, "version: 1\nentries:\n  - {when: \"1/1\", fail: {kind: hang}}\n")
	asked := r.next(event.KindAsk)
	id := mustPrompt(t, r, "go")
	r.await(asked, "the ask")
	r.Shutdown()
	next := over(t, r.dir, r.store, "version: 1\nentries:\n  - {when: \"1/1\", text: Fine.}\n")
	next.Shutdown()
	next.cfg.Settings.Profile = "other"
	next.cfg.Settings.Profiles = map[string]model.Profile{"other": {Provider: "script"}}
	next.Manager = NewManager(next.cfg, next)
	if _, err := next.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if res := next.result(id, 1); res.Text != "Fine." {
		t.Errorf("the turn ended %+v", res)
	}
}

func TestATurnDuringWhichAPromptWasQueuedIsResumed(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, `
version: 1
entries:
  - {when: "1/1", calls: [{exec: {argv: [cat, a.txt]}}]}
  - {when: "1/2", fail: {kind: hang}}
`)
	gate := make(chan struct{})
	r.answer = func(context.Context, Question) Answer { <-gate; return Answer{Decision: AllowOnce} }
	asked := r.next(event.KindApproval)
	id := mustPrompt(t, r, "first")
	r.await(asked, "the question")
	mustPrompt(t, r, "second")
	again := r.next(event.KindAsk)
	close(gate)
	r.await(again, "the second ask")
	r.Shutdown()
	next := over(t, r.dir, r.store, "version: 1\nentries:\n  - {when: \"1/1\", text: Never.}\n  - {when: \"1/2\", text: One.}\n  - {when: \"2/1\", text: Two.}\n")
	if _, err := next.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for turn, want := range map[uint64]string{1: "One.", 2: "Two."} {
		if res := next.result(id, turn); res.Text != want {
			t.Errorf("turn %d ended %+v", turn, res)
		}
	}
}

func TestUndoIsRefusedWhileATurnRuns(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, `
version: 1
entries:
  - {when: "1/1", calls: [{read: {path: a.txt}}]}
  - {when: "1/2", calls: [{write: {path: a.txt, text: "b\n"}}]}
  - {when: "1/3", text: One.}
  - {when: "2/1", fail: {kind: hang}}
`)
	id, _ := r.run("go")
	asked := r.next(event.KindAsk)
	must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "second"}))
	r.await(asked, "the ask")
	if u, err := r.Undo(t.Context(), UndoRequest{Session: &id}); err == nil || r.read("a.txt") != "b\n" {
		t.Errorf("undone %+v while a turn runs", u)
	}
}

func TestWhatWasUndoneIsNotWrittenOverUnread(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\nmiddle\nz\n"}, `
version: 1
entries:
  - {when: "1/1", calls: [{read: {path: a.txt}}]}
  - {when: "1/2", calls: [{write: {path: a.txt, text: "B\nmiddle\nz\n"}}]}
  - {when: "1/3", text: One.}
  - {when: "2/1", calls: [{write: {path: a.txt, text: "B\nmiddle\nZ\n"}}]}
  - {when: "2/2", text: Two.}
`)
	id, _ := r.run("go")
	if _, err := r.Undo(t.Context(), UndoRequest{Session: &id}); err != nil {
		t.Fatal(err)
	}
	r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "second"})))
	if !strings.Contains(r.kinds(), "read it") || r.read("a.txt") != "a\nmiddle\nz\n" {
		t.Errorf("the file is %q:\n%s", r.read("a.txt"), r.kinds())
	}
}
