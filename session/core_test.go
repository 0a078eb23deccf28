package session

import (
	"context"
	"errors"
	"testing"

	"github.com/agent-lsp/agent-lsp/core"
)

func TestStatusSaysWhyTheCoreIsNotOpen(t *testing.T) {
	base := start(t, nil, "version: 1\nentries: [{text: Done.}]\n")
	failing := true
	base.cfg.Core = func(ctx context.Context) (*core.Core, error) {
		if failing {
			return nil, errors.New("compile the core: no room")
		}
		return testCore()
	}
	m := NewManager(base.cfg, base)
	defer m.Shutdown()
	is := func(want string) {
		t.Helper()
		if got := m.Status().Core; got != want {
			t.Errorf("the core's state is %q, want %q", got, want)
		}
	}
	is("ready")
	ended := base.next("error")
	if _, _, err := m.Prompt(t.Context(), Prompt{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	base.await(ended, "the error of a session without a core")
	is("compile the core: no room")

	failing = false
	id, err := m.New(t.Context(), NewSession{})
	if err != nil {
		t.Fatal(err)
	}
	ended = base.next("done")
	if _, _, err := m.Prompt(t.Context(), Prompt{Session: &id, Text: "go"}); err != nil {
		t.Fatal(err)
	}
	base.await(ended, "the end of a turn with a core")
	is("ready")
}
