package history_test

import (
	"math/rand/v2"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/history/historytest"
	"github.com/google/go-cmp/cmp"
)

func TestFoldAgreesWithTheCoreAtEveryAsk(t *testing.T) {
	for seed := range uint64(60) {
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
			if diff := cmp.Diff(h, f.History()); diff != "" {
				t.Fatalf("seed %d, ask %d: a Folder answers something else (-Fold +Folder):\n%s", seed, i, diff)
			}
		}
	}
}
