package projection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
)

// longTalk is a conversation of n messages and about size bytes: prompts, replies
// and rounds with two calls each.
func longTalk(n, size int) history.History {
	each := size / (n * 5 / 4)
	code := strings.Repeat("\tif err != nil { return fmt.Errorf(\"read %q: %w\", path, err) }\n", each/63+1)[:each]
	prose := strings.Repeat("The größe of the file is wrong, so I read it. ", each/46+1)[:each]
	prose = strings.ToValidUTF8(prose, "")
	var h history.History
	for i := range n {
		m := history.Message{ID: uint64(i), Turn: uint64(i/8 + 1)}
		switch i % 8 {
		case 0:
			m.Role, m.Text = history.User, prose
		case 7:
			m.Role, m.Text = history.Assistant, prose
		default:
			m.Role = history.Assistant
			for k := range 2 {
				m.Calls = append(m.Calls, history.Call{
					ID: uint64(i*2 + k), ProviderID: fmt.Sprintf("call_%d_%d", i, k), Name: "write",
					Arguments: `{"path":"main.go","text":"` + strings.Repeat("x", each/6) + `"}`,
					State:     history.Done, Result: new(code[:each/2]),
				})
			}
		}
		h.Messages = append(h.Messages, m)
	}
	return h
}

func BenchmarkProject(b *testing.B) {
	h := longTalk(2000, 1<<20)
	cfg := Default()
	cfg.MaxToolResult = &ResultLimit{MaxChars: 4000, PreviousTurnsOnly: true}
	sys := System{Base: strings.Repeat("b", 4000), Static: []string{"rules"}, Dynamic: []string{"now"}}
	total := 0
	for _, m := range h.Messages {
		total += len(m.Text)
		for _, c := range m.Calls {
			total += len(c.Arguments) + len(*c.Result)
		}
	}
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(total))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Project(b.Context(), h, sys, Model{PromptCache: true}, cfg, Hooks{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("same again", func(b *testing.B) {
		b.SetBytes(int64(total))
		b.ReportAllocs()
		var p Projector
		for b.Loop() {
			if _, err := p.Project(b.Context(), h, sys, Model{PromptCache: true}, cfg, Hooks{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRound is what an engine does for one more ask of a long session: fold
// the events of a round and project.
func BenchmarkRound(b *testing.B) {
	var folder history.Folder
	var p Projector
	index := uint64(0)
	add := func(payload event.Payload) uint64 {
		if err := folder.Add(store.Event{Index: index}, payload); err != nil {
			b.Fatal(err)
		}
		index++
		return index - 1
	}
	text := strings.Repeat("\tif err != nil { return err }\n", 18)
	round := func() {
		add(&event.Message{Turn: 1, Text: new("next"), Calls: []model.FunctionCall{{ID: fmt.Sprint("c", index), Name: "read", Arguments: `{"path":"main.go"}`}}})
		call := add(&event.Call{Turn: 1, ID: index + 1})
		add(&event.Result{Turn: 1, Call: call, State: event.Completed, Text: text})
	}
	add(&event.User{Turn: 1, Text: "go"})
	for range 2000 {
		round()
	}
	sys := System{Base: strings.Repeat("b", 4000), Dynamic: []string{"now"}}
	b.ReportAllocs()
	for b.Loop() {
		round()
		if _, err := p.Project(b.Context(), folder.History(), sys, Model{PromptCache: true}, Default(), Hooks{}); err != nil {
			b.Fatal(err)
		}
	}
}
