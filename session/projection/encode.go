package projection

import (
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
)

// whole is the form of Project's messages, with all members.
var whole = model.ChatForm{Reasoning: true, Cache: true, Ours: true}

// encode returns the rows' messages and their bytes. A row that equals the old one
// at its index shares the old message and bytes; all others are written into one new
// buffer.
func (p *Projector) encode(rows []row) {
	size, changed, same := 0, 0, make([]bool, len(rows))
	for i := range rows {
		if i < len(p.rows) && rows[i].equal(&p.rows[i]) {
			same[i] = true
			continue
		}
		size += rows[i].size()
		changed++
	}
	messages, ends := make([]*model.Message, len(rows)), make([]int, len(rows))
	buf := make([]byte, 0, size)
	t := typist{messages: make([]model.Message, 0, changed), parts: make([]model.Part, 0, changed)}
	for i := range rows {
		if same[i] {
			messages[i] = p.messages[i]
		} else {
			messages[i] = t.message(&rows[i])
			buf = messages[i].AppendChat(buf, whole)
		}
		ends[i] = len(buf)
	}
	wire, start := make([]jsontext.Value, len(rows)), 0
	for i, end := range ends {
		if same[i] {
			wire[i] = p.wire[i]
		} else {
			wire[i] = jsontext.Value(buf[start:end:end])
		}
		start = end
	}
	p.rows, p.messages, p.wire = rows, messages, wire
}

// typist converts rows to messages. It keeps the calls of the preceding assistant
// message, so that arguments are parsed once for the call and its result.
type typist struct {
	messages []model.Message // room for all of them at once
	parts    []model.Part    // room for a text of each

	calls []wireCall
	lost  []bool
	read  reader
}

func (t *typist) message(r *row) *model.Message {
	t.messages = append(t.messages, model.Message{})
	m := &t.messages[len(t.messages)-1]
	switch r.kind {
	case userRow:
		m.Role, m.Content = model.RoleUser, t.said(r.said)
	case assistantRow:
		t.assistant(m, r)
	case toolRow:
		text := r.text
		if t.lostArguments(r) {
			text = withLost(text, r.arguments)
		}
		m.Role, m.CallID, m.Content = model.RoleTool, r.id, t.text(text, false)
		if r.tools != nil {
			m.References = r.tools.refs
		}
	case blockRow:
		m.Role, m.Tools = model.RoleSystem, r.tools.defs
	default:
		m.Role, m.Content = model.RoleSystem, t.text(r.text, r.kind == breakpointRow)
	}
	return m
}

// text returns a content of one text.
func (t *typist) text(text string, cache bool) []model.Part {
	t.parts = append(t.parts, model.Part{Text: text, Cache: cache})
	n := len(t.parts)
	return t.parts[n-1 : n : n]
}

// said returns a user's texts joined into one, and the media after it.
func (t *typist) said(s *said) []model.Part {
	var out []model.Part
	if len(s.texts) > 0 {
		out = t.text(strings.Join(s.texts, "\n\n"), false)
	}
	for _, p := range s.parts {
		out = append(out, model.Part{File: &model.File{Kind: fileKinds[p.kind], Name: p.name, MIME: p.mime, Data: p.data}})
	}
	return out
}

var fileKinds = [...]string{imageMedia: model.Image, videoMedia: model.Video, documentMedia: model.Document}

func (t *typist) assistant(m *model.Message, r *row) {
	t.calls, t.lost = r.calls, t.lost[:0]
	m.Role, m.Reasoning, m.ReasoningTwice, m.Sealed = model.RoleAssistant, r.reasoning, r.both && r.reasoning != "", r.sealed
	m.ReasoningQuiet = r.quiet
	if r.text != "" {
		m.Content = t.text(r.text, false)
	}
	if len(r.calls) > 0 {
		m.Calls = make([]model.FunctionCall, len(r.calls))
	}
	for i, c := range r.calls {
		arguments, lost := t.read.object(c.arguments)
		t.lost = append(t.lost, lost)
		m.Calls[i] = model.FunctionCall{ID: c.id, Name: c.name, Arguments: arguments}
	}
}

func (t *typist) lostArguments(r *row) bool {
	if r.ordinal < len(t.calls) && t.calls[r.ordinal].id == r.id {
		return t.lost[r.ordinal]
	}
	_, lost := t.read.object(r.arguments)
	return lost
}
