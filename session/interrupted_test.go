package session

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// cutBefore returns a store with a session as a process left it that died before it
// wrote the first event that is meant.
func cutBefore(t *testing.T, from store.Store, id uuid.UUID, meant func(event.Payload) bool) store.Store {
	t.Helper()
	to, err := store.Open(t.Context(), "memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close() })
	record, _, err := from.Get(t.Context(), id)
	if err == nil {
		err = to.Put(t.Context(), record)
	}
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range from.Transcript(t.Context(), id, nil) {
		if err != nil {
			t.Fatal(err)
		}
		p, err := event.Decode(e.Payload.Data)
		if err != nil {
			t.Fatal(err)
		}
		if meant(p) {
			return to
		}
		if _, err := to.Append(t.Context(), id, e.At, e.Payload); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the session has no such event")
	return nil
}

// TestWhatChangesSomethingIsNotRunAgain has a process die around the first of two
// calls that change something. Neither is run by the next process, and it is said of
// each whether it may have run.
func TestWhatChangesSomethingIsNotRunAgain(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	asked := func(p event.Payload) bool { _, ok := p.(*event.Approval); return ok }
	answered := func(p event.Payload) bool { a, ok := p.(*event.Approval); return ok && a.State == "answered" }
	ended := func(p event.Payload) bool { _, ok := p.(*event.Result); return ok }
	for name, c := range map[string]struct {
		calls string
		died  func(event.Payload) bool
		first string // what is said of the first call
	}{
		"a git command, before its question":   {`{git: {argv: [add, a.txt]}}, {exec: {argv: [touch, b.txt]}}`, asked, interruptedText},
		"a git command, before its answer":     {`{git: {argv: [add, a.txt]}}, {exec: {argv: [touch, b.txt]}}`, answered, notBegunText},
		"a git command, before its result":     {`{git: {argv: [add, a.txt]}}, {exec: {argv: [touch, b.txt]}}`, ended, interruptedText},
		"another command, before its question": {`{exec: {argv: [touch, b.txt]}}, {git: {argv: [add, a.txt]}}`, asked, interruptedText},
		"another command, before its answer":   {`{exec: {argv: [touch, b.txt]}}, {git: {argv: [add, a.txt]}}`, answered, notBegunText},
		"another command, before its result":   {`{exec: {argv: [touch, b.txt]}}, {git: {argv: [add, a.txt]}}`, ended, interruptedText},
	} {
		t.Run(name, func(t *testing.T) {
			const entries = "version: 1\nentries:\n  - {when: \"1/2\", text: One.}\n"
			r := start(t, map[string]string{"a.txt": "a\n"}, entries+"  - {when: \"1/1\", calls: ["+c.calls+"]}\n")
			git(t, r.dir, "init", "-q")
			id, _ := r.run("go")
			if git(t, r.dir, "ls-files") == "" || r.read("b.txt") != "" {
				t.Fatalf("the calls did not run:\n%s", r.kinds())
			}
			r.Shutdown()
			git(t, r.dir, "rm", "-q", "--cached", "a.txt")
			if err := os.Remove(filepath.Join(r.dir, "b.txt")); err != nil {
				t.Fatal(err)
			}
			next := over(t, r.dir, cutBefore(t, r.store, id, c.died), entries)
			got, err := next.Resume(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, text := range got.Interrupted {
				said = append(said, text[strings.Index(text, "interrupted: "):])
			}
			want := []string{c.first, notBegunText}
			if d := cmp.Diff(want, said); d != "" {
				t.Errorf("the person is told (-want +got):\n%s", d)
			}
			if res := next.result(id, 1); res.Text != "One." {
				t.Errorf("the turn ended %+v", res)
			}
			said = nil
			for _, p := range next.events {
				if res, ok := p.(*event.Result); ok {
					said = append(said, res.Text)
				}
			}
			if d := cmp.Diff(want, said); d != "" {
				t.Errorf("the model is told (-want +got):\n%s", d)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "b.txt")); !os.IsNotExist(err) || git(t, r.dir, "ls-files") != "" {
				t.Error("a call ran again")
			}
		})
	}
}

// TestWhatOnlyMemoryHasIsNotForgottenByAResume gives a session up that went on
// unsaved: what is stored of it is not all of it.
func TestWhatOnlyMemoryHasIsNotForgottenByAResume(t *testing.T) {
	r, f, id := stored(t)
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	f.fail = func() error {
		return &store.BackendError{Place: "sessions.db", Op: "append", Err: errors.New("no space left on device")}
	}
	if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "third"}))); res.Text != "Three." {
		t.Fatalf("the turn ended %+v", res)
	}
	s, err := r.session(id)
	if err != nil {
		t.Fatal(err)
	}
	s.mail.call(t.Context(), func() { s.lose(context.Canceled, &event.Note{}) })
	f.fail = nil
	if got, err := r.Resume(t.Context(), id); err == nil {
		t.Errorf("resumed %+v without what only memory has", got)
	}
	if events, _, err := r.Transcript(t.Context(), id, nil); err != nil || !strings.Contains(string(events[len(events)-1].Event), `"done"`) {
		t.Errorf("the turn that was not stored is gone: %v", err)
	}
}
