package projection

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/history/historytest"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json/jsontext"
)

// variant is one way to set all knobs.
type variant struct {
	name   string
	model  Model
	config *Config
	hooks  Hooks
	window bool // a window moves, so that its messages do not only grow
}

var variants = []variant{
	{name: "default", config: with(func(*Config) {})},
	{name: "references", model: Model{PromptCache: true, Rendering: DeferredToolReference}, config: with(func(c *Config) {
		c.MaxToolResult = &ResultLimit{MaxChars: 8, PreviousTurnsOnly: true}
		c.ActivationAnchorTool, c.ReasoningEcho = "activate_tools", Both
	})},
	{name: "blocks", model: Model{Rendering: SystemToolBlock, Capabilities: []string{"vision"}}, config: with(func(c *Config) {
		c.MaxToolResult = &ResultLimit{MaxChars: 20}
		c.ReasoningPlaceholder, c.SummarySuffix = new("(none)"), new("[end]")
	}), hooks: Hooks{Media: everywhere{}, Digest: counting{}, Extras: skippedNote{}}},
	{name: "window", model: Model{Capabilities: []string{"vision"}}, config: with(func(c *Config) {
		c.MaxMessages = 5
		c.Media.MaxTotal, c.Media.Notes = 70, true
	}), hooks: Hooks{Media: everywhere{}}, window: true},
}

// everywhere has a picture for every message and every call.
type everywhere struct{}

func (everywhere) MessageMedia(context.Context, history.Message) []Blob {
	return []Blob{file{name: "a.png", data: png(30)}}
}

func (everywhere) CallMedia(_ context.Context, calls []history.Call) []Blob {
	var out []Blob
	for i := range calls {
		out = append(out, file{name: fmt.Sprint(i), data: png(20 + i)})
	}
	return out
}

func stream(events []store.Event) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// script plays a random talk and hands over what is sent at each ask, in each
// variant. The dynamic layer differs from ask to ask, as an editor's state does.
func script(t *testing.T, seed uint64, each func(v variant, n int, ask historytest.Ask, wire []jsontext.Value)) {
	t.Helper()
	talk := historytest.Random(rand.New(rand.NewPCG(seed, 2)), 5)
	projectors := make([]Projector, len(variants))
	var folder history.Folder
	added := 0
	for n, ask := range talk.Asks {
		for ; added < ask.Events; added++ {
			if err := folder.Add(store.Event{Index: uint64(added)}, talk.Payloads[added]); err != nil {
				t.Fatal(err)
			}
		}
		h := folder.History()
		sys := System{Base: "BASE", Static: []string{"rules"}, Dynamic: []string{fmt.Sprint("ask ", n)}, Reminder: new("mind")}
		for i, v := range variants {
			wire, err := Project(t.Context(), h, sys, v.model, *v.config, v.hooks)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := projectors[i].Project(t.Context(), h, sys, v.model, *v.config, v.hooks)
			if err != nil {
				t.Fatal(err)
			}
			if !equalWire(wire, kept) {
				t.Fatalf("seed %d, ask %d, %s: a projector that saw the asks before answers something else", seed, n, v.name)
			}
			each(v, n, ask, wire)
		}
	}
}

func equalWire(a, b []jsontext.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func TestRandomTalksAreWellFormed(t *testing.T) {
	for seed := range uint64(10) {
		script(t, seed, func(v variant, n int, _ historytest.Ask, wire []jsontext.Value) {
			defer func() {
				if t.Failed() {
					t.Logf("seed %d, ask %d, %s", seed, n, v.name)
				}
			}()
			wellFormed(t, wire)
		})
	}
}

// Without this a provider's prompt cache misses at every round.
func TestWithinATurnMessagesOnlyGrow(t *testing.T) {
	const tail = 2 // the dynamic layer and the reminder
	grown := 0
	for seed := range uint64(10) {
		last, turns := map[string][]jsontext.Value{}, map[string]uint64{}
		script(t, seed, func(v variant, n int, ask historytest.Ask, wire []jsontext.Value) {
			before := last[v.name]
			last[v.name] = wire[:len(wire)-tail]
			same := turns[v.name] == ask.Turn
			turns[v.name] = ask.Turn
			if !same || ask.Compacted || v.window {
				return
			}
			if len(wire)-tail < len(before) {
				t.Fatalf("seed %d, ask %d, %s: %d messages after %d", seed, n, v.name, len(wire)-tail, len(before))
			}
			for i := range before {
				if !bytes.Equal(before[i], wire[i]) {
					t.Fatalf("seed %d, ask %d, %s: message %d was\n%s\nand is\n%s", seed, n, v.name, i, before[i], wire[i])
				}
			}
			grown++
		})
	}
	if grown < 200 {
		t.Errorf("only %d asks followed another of their turn", grown)
	}
}

// The digest is the same in every process and on every machine.
func TestEqualTalksGiveEqualBytes(t *testing.T) {
	const want = "58025e0af31852896dde05d344c486d26c54829b99b0ebcb3ca5f68d27875065"
	var sums [2]string
	for i := range sums {
		hash := sha256.New()
		for seed := range uint64(3) {
			script(t, seed, func(_ variant, _ int, _ historytest.Ask, wire []jsontext.Value) {
				for _, m := range wire {
					hash.Write(m)
					hash.Write([]byte{'\n'})
				}
			})
		}
		sums[i] = hex.EncodeToString(hash.Sum(nil))
	}
	if sums[0] != sums[1] {
		t.Errorf("two runs gave %s and %s", sums[0], sums[1])
	}
	if sums[0] != want {
		t.Errorf("digest %s, want %s: if messages were meant to change, put the new one here", sums[0], want)
	}
}
