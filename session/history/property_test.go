package history_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/loop"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/history/historytest"
	"github.com/google/go-cmp/cmp"
)

// The talks' core is a model of the real one: this holds the two together.
func TestTheTalksCoreIsTheRealOne(t *testing.T) {
	asked := 0
	for seed := range uint64(20) {
		talk := historytest.Random(rand.New(rand.NewPCG(seed, 1)), 6)
		want := map[uint64][]abi.Message{}
		for _, ask := range talk.Asks {
			want[ask.ID] = ask.Core
		}
		config, err := abi.AppendConfig(nil, abi.Config{})
		if err != nil {
			t.Fatal(err)
		}
		core, err := loop.New(config, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range talk.Steps {
			encoded, err := abi.AppendEvent(nil, step)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := core.Step(encoded)
			if err != nil {
				t.Fatal(err)
			}
			actions, err := abi.DecodeActions(answer)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range actions {
				if a.Op.Model == nil {
					continue
				}
				asked++
				got, err := abi.AppendActions(nil, []abi.Action{{Op: abi.Op{Model: &abi.Ask{Messages: want[a.ID]}}}})
				if err != nil {
					t.Fatal(err)
				}
				real, err := abi.AppendActions(nil, []abi.Action{{Op: a.Op}})
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, real) {
					t.Fatalf("seed %d, step %d, ask %d (-talk +core):\n%s", seed, i, a.ID, cmp.Diff(want[a.ID], a.Op.Model.Messages))
				}
				delete(want, a.ID)
			}
		}
		for id := range want {
			t.Fatalf("seed %d: the core never made the ask %d", seed, id)
		}
	}
	if asked < 200 {
		t.Errorf("only %d asks", asked)
	}
}

func TestFoldAgreesWithTheCoreAtEveryAsk(t *testing.T) {
	for seed := range uint64(12) {
		talk := historytest.Random(rand.New(rand.NewPCG(seed, 1)), 6)
		var f history.Folder
		added := 0
		for i, ask := range talk.Asks {
			events, err := talk.Events(ask.Events)
			if err != nil {
				t.Fatal(err)
			}
			h, err := history.Fold(stream(events))
			if err != nil {
				t.Fatal(err)
			}
			if err := history.Agree(h, ask.Core); err != nil {
				t.Fatalf("seed %d, ask %d: %v\n%s", seed, i, err, show(h))
			}
			for ; added < ask.Events; added++ {
				if err := f.Add(events[added], talk.Payloads[added]); err != nil {
					t.Fatal(err)
				}
			}
			if stepped := f.History(); !reflect.DeepEqual(h, stepped) {
				t.Fatalf("seed %d, ask %d: a Folder answers something else (-Fold +Folder):\n%s", seed, i, cmp.Diff(h, stepped))
			}
		}
	}
}
