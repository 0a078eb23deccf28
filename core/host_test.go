package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARoundTripThroughTheModule(t *testing.T) {
	ctx := t.Context()
	c, err := Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	s, err := c.New(ctx, Config{Model: new("m")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	actions, err := s.Step(ctx, Event{Turn: &Turn{ID: 1, Prompt: "hi \"é\"\n"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Action{{ID: 1, Op: Op{Model: &Ask{Model: new("m"), Messages: []Message{{User: new("hi \"é\"\n")}}}}}}
	if diff := cmp.Diff(want, actions); diff != "" {
		t.Fatal(diff)
	}
	state, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Restore(ctx, state)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(ctx)
	event := Event{Model: &Answer{ID: 1, Reply: Reply{Text: new("bye")}}}
	actions, err = s.Step(ctx, event)
	if err != nil {
		t.Fatal(err)
	}
	other, err := r.Step(ctx, event)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(actions, other); diff != "" || len(actions) != 3 {
		t.Fatal(diff, actions)
	}
}
