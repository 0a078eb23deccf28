package httpmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Segment is a piece of a reply in the order of the reply: reasoning in the
// provider's own, signed form, a call, or else text.
type Segment struct {
	Sealed jsontext.Value
	Call   *model.FunctionCall
	Text   string
}

// seal is the content of a reply's Sealed. Parts are the reply's pieces in order:
// the signed ones as they came, a number for so many bytes of the text, null for
// the next call.
type seal struct {
	By    string           `json:"by"`
	Sum   string           `json:"sum"`
	Parts []jsontext.Value `json:"parts"`
}

// maxSealed bounds what is kept of one reply's reasoning.
const maxSealed = 1 << 20

// Seal keeps the signed reasoning of a reply that calls tools, and the order of
// its pieces, for by, who signed it. It is nil when there is neither anything signed
// nor an order other than one text and then the calls, or when the pieces are not
// the reply.
func Seal(by string, resp model.Response, pieces []Segment) jsontext.Value {
	s := seal{By: by}
	signed, mixed, calls, text := false, false, 0, ""
	for _, p := range pieces {
		switch {
		case p.Sealed != nil:
			if !p.Sealed.IsValid() {
				return nil // it would not be kept as it is
			}
			signed = true
			s.Parts = append(s.Parts, p.Sealed)
		case p.Call != nil:
			calls++
			s.Parts = append(s.Parts, jsontext.Value("null"))
		default:
			mixed = mixed || p.Text != "" && (text != "" || calls > 0)
			text += p.Text
			n, _ := json.Marshal(len(p.Text)) // a number
			s.Parts = append(s.Parts, n)
		}
	}
	answer := model.Message{Calls: make([]model.FunctionCall, len(resp.Calls))}
	if resp.Reasoning != nil {
		answer.Reasoning = *resp.Reasoning
	}
	for i, c := range resp.Calls {
		answer.Calls[i] = model.FunctionCall{ID: c.ID, Name: c.Name, Arguments: model.Normalize([]model.FunctionCall{c})[0].Arguments}
	}
	if !signed && !mixed || calls == 0 || calls != len(resp.Calls) || (resp.Text == nil) != (text == "") || resp.Text != nil && *resp.Text != text {
		return nil
	}
	s.Sum = digestOf(&answer, text)
	out, err := Marshal(s)
	if err != nil || len(out) > maxSealed {
		return nil
	}
	return out
}

// digestOf is the digest of what a signature must fit. Ids are not of it: those that
// a server left out or used twice are made anew.
func digestOf(m *model.Message, text string) string {
	if strings.TrimSpace(text) == "" {
		text = ""
	}
	words := []string{m.Reasoning, text}
	for _, c := range m.Calls {
		words = append(words, c.Name, c.Arguments)
	}
	all, _ := json.Marshal(words, Lenient) // strings only
	digest := sha256.Sum256(all)
	return hex.EncodeToString(digest[:16])
}

// Segments are what an assistant's message says. With them are those that by signed,
// unchanged and in their places, as long as the message's reasoning, text and
// calls are what they were: a signature does not fit anything else.
func Segments(m *model.Message, by string) []Segment {
	if out, ok := unseal(m, by); ok {
		return out
	}
	var out []Segment
	if text := m.Text(); text != "" {
		out = append(out, Segment{Text: text})
	}
	for i := range m.Calls {
		out = append(out, Segment{Call: &m.Calls[i]})
	}
	return out
}

func unseal(m *model.Message, by string) ([]Segment, bool) {
	var s seal
	text := m.Text()
	if m.Sealed == nil || json.Unmarshal(m.Sealed, &s, Lenient) != nil || s.By != by || s.Sum != digestOf(m, text) {
		return nil, false
	}
	var out []Segment
	calls := m.Calls
	for _, part := range s.Parts {
		switch part.Kind() {
		case 'n':
			if len(calls) == 0 {
				return nil, false
			}
			out = append(out, Segment{Call: &calls[0]})
			calls = calls[1:]
		case '0':
			var n int
			if json.Unmarshal(part, &n) != nil || n < 0 {
				return nil, false
			}
			n = min(n, len(text)) // blank text was not sent
			if n > 0 {
				out = append(out, Segment{Text: text[:n]})
			}
			text = text[n:]
		default:
			out = append(out, Segment{Sealed: part})
		}
	}
	return out, len(calls) == 0 && text == ""
}
