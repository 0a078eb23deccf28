package session

import (
	"context"
	"testing"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
)

// TestOnlyTheSameCallWithTheSameResultRepeats varies one part of a call at a time.
func TestOnlyTheSameCallWithTheSameResultRepeats(t *testing.T) {
	type said struct{ name, args, text string }
	for name, c := range map[string]struct {
		second said
		want   int
	}{
		"the same":          {said{"read", "a", "x"}, 2},
		"another tool":      {said{"exec", "a", "x"}, 1},
		"another argument":  {said{"read", "b", "x"}, 1},
		"another result":    {said{"read", "a", "y"}, 1},
		"nothing is equal":  {said{"exec", "b", "y"}, 1},
		"an empty argument": {said{"read", "", "x"}, 1},
	} {
		var g guard
		g.repeats(&call{name: "read", args: "a"}, "x")
		if n := g.repeats(&call{name: c.second.name, args: c.second.args}, c.second.text); n != c.want {
			t.Errorf("%s: counted %d, want %d", name, n, c.want)
		}
	}
}

// TestAFailureIsOfItsOwnTurnOnly ends a turn, and those that waited behind it.
func TestAFailureIsOfItsOwnTurnOnly(t *testing.T) {
	ended := &core.Done{Turn: 2, Outcome: core.Outcome{Cancelled: true}}
	for name, c := range map[string]struct {
		done  *core.Done
		cause event.Payload
		want  string
	}{
		"its own failure":   {ended, &event.Error{Turn: 2}, "failed"},
		"another's failure": {ended, &event.Error{Turn: 1}, "cancelled"},
		"a cancel":          {ended, &event.Note{Turn: 2, Cancels: true}, "cancelled"},
		"its end":           {&core.Done{Turn: 2}, &event.Message{Turn: 2}, "complete"},
	} {
		if got := outcomeOf(c.done, 2, c.cause); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestAProfileThatNamesAnotherModelOpensIt changes a profile while its session lives.
func TestAProfileThatNamesAnotherModelOpensIt(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: hi}]\n")
	id, _ := r.run("go")
	s, err := r.session(id)
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	s.cfg.Provider = func(context.Context, model.Profile, ProviderEnv) (model.Model, error) {
		opened++
		return &small{}, nil
	}
	for i, c := range []struct {
		p    model.Profile
		want int
	}{
		{model.Profile{Name: "p", Provider: "x", Script: "a"}, 1},
		{model.Profile{Name: "p", Provider: "x", Script: "a", MaxOutput: 7}, 1},
		{model.Profile{Name: "p", Provider: "x", Script: "b"}, 2},
		{model.Profile{Name: "p", Provider: "y", Script: "b"}, 3},
		{model.Profile{Name: "q", Provider: "y", Script: "b"}, 4},
	} {
		if _, err := s.requests.modelOf(t.Context(), c.p); err != nil || opened != c.want {
			t.Errorf("profile %d: %d models were opened, %v, want %d", i, opened, err, c.want)
		}
	}
}
