package model

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// ChatForm says what a message in chat-completions form has beyond that API's own
// members.
type ChatForm struct {
	Reasoning bool // reasoning_content, and reasoning
	Cache     bool // cache_control
	Ours      bool // _sealed and _tool_references, which no server is sent
	// Extra is the extra_content of each call, as its server sent it; nil for none.
	Extra []jsontext.Value
}

// Chat returns the message in chat-completions form. Equal messages give equal
// bytes, and one that came in this form and loses nothing is returned unchanged.
func (m *Message) Chat(form ChatForm) jsontext.Value {
	cache := slices.ContainsFunc(m.Content, func(p Part) bool { return p.Cache })
	whole := (form.Reasoning || m.Reasoning == "") && (form.Cache || !cache) &&
		(form.Ours || m.Sealed == nil && m.References == nil)
	if whole && form.Extra == nil && m.chat != nil {
		return m.chat
	}
	return m.AppendChat(nil, form)
}

// AppendChat appends the message in chat-completions form to b.
func (m *Message) AppendChat(b []byte, form ChatForm) []byte {
	b = quoted(append(b, `{"role":`...), m.Role)
	if m.CallID != "" {
		b = quoted(append(b, `,"tool_call_id":`...), m.CallID)
	}
	if m.Tools == nil {
		b = m.appendContent(append(b, `,"content":`...), form)
	}
	if form.Reasoning && m.Reasoning != "" && !m.ReasoningQuiet {
		b = quoted(append(b, `,"reasoning_content":`...), m.Reasoning)
		if m.ReasoningTwice {
			b = quoted(append(b, `,"reasoning":`...), m.Reasoning)
		}
	}
	if form.Ours && m.Sealed != nil {
		b = append(append(b, `,"_sealed":`...), m.Sealed...)
	}
	if form.Ours {
		b = list(b, "_tool_references", m.References, quoted)
	}
	n := 0
	b = list(b, "tool_calls", m.Calls, func(b []byte, c FunctionCall) []byte {
		b = quoted(append(b, `{"id":`...), c.ID)
		b = quoted(append(b, `,"type":"function","function":{"name":`...), c.Name)
		b = append(quoted(append(b, `,"arguments":`...), c.Arguments), '}')
		if n < len(form.Extra) && form.Extra[n] != nil {
			b = append(append(b, `,"extra_content":`...), form.Extra[n]...)
		}
		n++
		return append(b, '}')
	})
	b = list(b, "tools", m.Tools, func(b []byte, def jsontext.Value) []byte { return append(b, def...) })
	return append(b, '}')
}

// appendContent writes a lone text as a string and anything else as parts.
func (m *Message) appendContent(b []byte, form ChatForm) []byte {
	switch {
	case len(m.Content) == 0:
		return append(b, `""`...)
	case len(m.Content) == 1 && m.Content[0].File == nil && !m.Content[0].Cache:
		return quoted(b, m.Content[0].Text)
	}
	for i := range m.Content {
		sep := byte(',')
		if i == 0 {
			sep = '['
		}
		b = m.Content[i].appendChat(append(b, sep), form)
	}
	return append(b, ']')
}

func (p *Part) appendChat(b []byte, form ChatForm) []byte {
	if p.File != nil {
		return p.File.appendChat(b)
	}
	b = quoted(append(b, `{"type":"text","text":`...), p.Text)
	if form.Cache && p.Cache {
		b = append(b, `,"cache_control":{"type":"ephemeral"}`...)
	}
	return append(b, '}')
}

func (f *File) appendChat(b []byte) []byte {
	switch f.Kind {
	case Video:
		b = append(b, `{"type":"video_url","video_url":{"url":`...)
	case Document:
		b = quoted(append(b, `{"type":"file","file":{"filename":`...), f.Name)
		b = append(b, `,"file_data":`...)
	default:
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
	}
	return append(quoted(b, f.DataURL()), `}}`...)
}

// list appends a member that is a list, unless it is empty.
func list[T any](b []byte, name string, values []T, add func([]byte, T) []byte) []byte {
	if len(values) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	for i, v := range values {
		sep := byte(',')
		if i == 0 {
			sep = '['
		}
		b = add(append(b, sep), v)
	}
	return append(b, ']')
}

// quoted appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func quoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error only says that there were such bytes
	return b
}
