package script

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
)

// Print is the fingerprint of a request: one digest for its tools and one for
// each message, in the form role:hex. It leaves out what only concerns how a
// provider serves the request: the profile, cache_control marks, and the forms of
// reasoning that a profile's provider wants beside the common one.
type Print struct {
	Tools    string
	Messages []string
}

// NewPrint takes the fingerprint of a request as it reads with the secrets
// removed.
func NewPrint(req model.Request, secrets ...string) Print {
	return newPrint(req, newRedactor(secrets))
}

func newPrint(req model.Request, r *redactor) Print {
	p := Print{Messages: make([]string, len(req.Messages))}
	h := sha256.New()
	for _, t := range req.Tools {
		h.Write(canonical(t, r))
		h.Write([]byte{'\n'})
	}
	p.Tools = hex.EncodeToString(h.Sum(nil)[:8])
	for i, m := range req.Messages {
		sum := sha256.Sum256(canonical(m, r))
		p.Messages[i] = roleOf(m) + ":" + hex.EncodeToString(sum[:8])
	}
	return p
}

// diff reports how a request differs from the recorded one, in one sentence that
// names the first message that does; empty when it does not.
func (p *Print) diff(now Print, messages []jsontext.Value) string {
	for i, was := range p.Messages {
		if i == len(now.Messages) {
			return fmt.Sprintf("message %d (%s) is missing: the request has %d messages, the recorded one had %d",
				i+1, was[:strings.IndexByte(was, ':')], len(now.Messages), len(p.Messages))
		}
		if is := now.Messages[i]; is != was {
			return fmt.Sprintf("message %d differs: recorded %s, now %s, which begins %s", i+1, was, is, excerpt(messages[i]))
		}
	}
	if n := len(p.Messages); len(now.Messages) > n {
		return fmt.Sprintf("message %d (%s) was not there: the request has %d messages, the recorded one had %d; it begins %s",
			n+1, roleOf(messages[n]), len(now.Messages), n, excerpt(messages[n]))
	}
	if now.Tools != p.Tools {
		return fmt.Sprintf("the messages are the same, but the tools differ: recorded %s, now %s", p.Tools, now.Tools)
	}
	return ""
}

// excerpt is the head of a message's text, without secrets.
func excerpt(message jsontext.Value) string {
	text, err := contentText(message)
	if err != nil {
		text = string(message)
	}
	text = newRedactor(nil).text(text)
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	return strconv.Quote(text)
}

func roleOf(message jsontext.Value) string {
	dec := jsontext.NewDecoder(bytes.NewReader(message))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return "message"
	}
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			break
		}
		name := key.String()
		if name != "role" || dec.PeekKind() != '"' {
			if dec.SkipValue() != nil {
				break
			}
			continue
		}
		role, err := dec.ReadToken()
		if err != nil {
			break
		}
		if s := role.String(); isWord(s) {
			return s
		}
		break
	}
	return "message"
}

func isWord(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 20
}

// canonical is a value without the members of serving and secrets, its members
// sorted and its strings written in one way. A content that is a list of one
// text part is that text: the list only exists to carry a mark. A value that is
// not JSON stands for itself.
func canonical(v jsontext.Value, r *redactor) []byte {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if copyPlain(enc, dec, r) != nil {
		return []byte(r.text(string(v)))
	}
	plain := jsontext.Value(out.Bytes())
	if plain.Canonicalize(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return out.Bytes()
	}
	return plain
}

func copyPlain(enc *jsontext.Encoder, dec *jsontext.Decoder, r *redactor) error {
	switch dec.PeekKind() {
	case '{':
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		if err := enc.WriteToken(jsontext.BeginObject); err != nil {
			return err
		}
		for dec.PeekKind() == '"' {
			if err := copyMember(enc, dec, r); err != nil {
				return err
			}
		}
	case '[':
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		if err := enc.WriteToken(jsontext.BeginArray); err != nil {
			return err
		}
		for k := dec.PeekKind(); k != ']' && k != 0; k = dec.PeekKind() {
			if err := copyPlain(enc, dec, r); err != nil {
				return err
			}
		}
	case '"':
		t, err := dec.ReadToken()
		if err != nil {
			return err
		}
		return enc.WriteToken(jsontext.String(r.text(t.String())))
	}
	t, err := dec.ReadToken() // a scalar, or the end of what was opened
	if err != nil {
		return err
	}
	return enc.WriteToken(t)
}

func copyMember(enc *jsontext.Encoder, dec *jsontext.Decoder, r *redactor) error {
	key, err := dec.ReadToken()
	if err != nil {
		return err
	}
	name := key.String()
	if name == "cache_control" || name == "_sealed" || name == "reasoning" {
		return dec.SkipValue()
	}
	if err := enc.WriteToken(jsontext.String(name)); err != nil {
		return err
	}
	if name == "content" && dec.PeekKind() == '[' {
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if text, ok := loneText(raw); ok {
			return enc.WriteToken(jsontext.String(r.text(text)))
		}
		inner := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		return copyPlain(enc, inner, r)
	}
	return copyPlain(enc, dec, r)
}

// loneText returns the text of a list that has one text part and nothing else.
func loneText(raw jsontext.Value) (string, bool) {
	var text string
	var ok bool
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	for _, want := range []jsontext.Kind{'[', '{'} {
		if t, err := dec.ReadToken(); err != nil || t.Kind() != want {
			return "", false
		}
	}
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return "", false
		}
		name := key.String()
		value, err := dec.ReadValue()
		if err != nil {
			return "", false
		}
		switch {
		case name == "cache_control":
		case name == "type" && string(value) == `"text"`:
		case name == "text" && value.Kind() == '"':
			b, err := jsontext.AppendUnquote(nil, value)
			text, ok = string(b), err == nil
		default:
			return "", false
		}
	}
	for _, want := range []jsontext.Kind{'}', ']'} {
		if t, err := dec.ReadToken(); err != nil || t.Kind() != want {
			return "", false
		}
	}
	return text, ok
}
