package core

import (
	"bytes"
	"os"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/loop"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// hostMade is a session as the module of 0990ad1 left it, and what that module
// returned for further events. The file is never made anew.
type hostMade struct {
	Name    string           `json:"name"`
	State   []byte           `json:"state"`
	Events  []jsontext.Value `json:"events"`
	Actions []jsontext.Value `json:"actions"`
	Then    []byte           `json:"then"`
}

func TestHostSnapshotsOfTheFirstModuleRestoreAndContinue(t *testing.T) {
	ctx := t.Context()
	c := hostOpen(t)
	data, err := os.ReadFile("testdata/made-by-0990ad1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for line := range bytes.Lines(data) {
		var m hostMade
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		cases++
		native, err := loop.Restore(m.State, nil)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		s, err := c.Restore(ctx, m.State)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		defer func() { _ = s.Close(ctx) }()
		for i, ev := range m.Events {
			got, err := native.Step(ev)
			if err != nil || !bytes.Equal(m.Actions[i], got) {
				t.Fatalf("%s: to %s the loop answers %s, %v, want %s", m.Name, ev, got, err, m.Actions[i])
			}
			if err := s.step(ctx, ev, func(answer []byte) error { got = bytes.Clone(answer); return nil }); err != nil || !bytes.Equal(m.Actions[i], got) {
				t.Fatalf("%s: to %s the module answers %s, %v, want %s", m.Name, ev, got, err, m.Actions[i])
			}
		}
		state, err := s.Snapshot(ctx)
		if err != nil || !bytes.Equal(m.Then, state) || !bytes.Equal(m.Then, native.Snapshot()) {
			t.Fatalf("%s: another snapshot at the end, %v", m.Name, err)
		}
	}
	if cases != 3 {
		t.Fatalf("%d snapshots were tried, want 3", cases)
	}
}
