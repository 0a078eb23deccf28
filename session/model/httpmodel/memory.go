package httpmodel

import (
	"sync"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
)

// Memory keeps the provider's own, signed form of reasoning for as long as the
// model lives, to be sent back unchanged. It is found by the id of the first call
// that came with it, and only while the recorded reasoning and the calls are what
// they were: a signature does not fit other text. The zero value is ready for use.
type Memory struct {
	mu    sync.Mutex // guards what follows
	kept  map[string]thought
	order []string // of the ids, oldest first
}

type thought struct {
	reasoning string
	calls     []model.FunctionCall
	blocks    []jsontext.Value
}

const maxThoughts = 512

// Keep remembers what an answer's reasoning was made of.
func (m *Memory) Keep(resp model.Response, blocks []jsontext.Value) {
	if len(blocks) == 0 || len(resp.Calls) == 0 || resp.Calls[0].ID == "" {
		return
	}
	t := thought{calls: resp.Calls, blocks: blocks}
	if resp.Reasoning != nil {
		t.reasoning = *resp.Reasoning
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]thought{}
	}
	id := resp.Calls[0].ID
	if _, ok := m.kept[id]; !ok {
		m.order = append(m.order, id)
	}
	m.kept[id] = t
	if len(m.order) > maxThoughts {
		delete(m.kept, m.order[0])
		m.order = m.order[1:]
	}
}

// Recall answers the blocks of a projected message, or none when anything of it
// changed.
func (m *Memory) Recall(msg *Message) []jsontext.Value {
	if len(msg.Calls) == 0 {
		return nil
	}
	m.mu.Lock()
	t, ok := m.kept[msg.Calls[0].ID]
	m.mu.Unlock()
	if !ok || t.reasoning != msg.Reasoning || len(t.calls) != len(msg.Calls) {
		return nil
	}
	for i, c := range msg.Calls {
		had := t.calls[i]
		if had.ID != c.ID || had.Name != c.Function.Name || model.Normalize([]model.FunctionCall{had})[0].Arguments != c.Function.Arguments {
			return nil
		}
	}
	return t.blocks
}
