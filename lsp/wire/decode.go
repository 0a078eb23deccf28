package wire

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Decode reads params into a T of the caller, and copies its strings. Unknown
// members are ignored, later duplicates win. The error is InvalidParams and names
// the invalid member. For the protocol's types use protocol.Unmarshal.
func Decode[T any](params jsontext.Value) (T, error) {
	var v T
	if err := json.Unmarshal(params, &v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return v, InvalidParams("%s", explain(err))
	}
	return v, nil
}

// explain returns a decoder's error as a text for the sender of the value.
func explain(err error) string {
	var e *json.SemanticError
	if !errors.As(err, &e) {
		return err.Error()
	}
	at := "the argument"
	if e.JSONPointer != "" {
		at = "member " + strings.TrimPrefix(string(e.JSONPointer), "/")
	}
	if e.Err != nil {
		return fmt.Sprintf("%s: %s", at, e.Err)
	}
	return fmt.Sprintf("%s is a JSON %s, want %s", at, e.JSONKind, wanted(fmt.Sprint(e.GoType)))
}

func wanted(goType string) string {
	switch {
	case strings.HasPrefix(goType, "*"):
		return wanted(goType[1:])
	case strings.HasPrefix(goType, "["):
		return "an array"
	case strings.HasPrefix(goType, "uint"):
		return "a whole number that is not negative"
	case strings.HasPrefix(goType, "int"):
		return "a whole number"
	case goType == "string":
		return "a string"
	case goType == "bool":
		return "true or false"
	}
	return "an object"
}

// DidOpen is a textDocument/didOpen notification. The protocol's own decoder
// rewrites URIs; here they are as the client spells them, which is how a client
// expects them in replies.
type DidOpen struct {
	URI      string
	Language string
	Version  int32
	Text     string
}

// DidChange is a textDocument/didChange notification, decoded strictly: the
// protocol's own decoder reads a ranged change with an invalid member as one of the
// whole document, which would destroy the text.
type DidChange struct {
	URI     string
	Version int32
	Changes []text.Change
}

// DidSave is a textDocument/didSave notification. Text is nil unless the client
// includes it.
type DidSave struct {
	URI  string
	Text *string
}

// DidClose is a textDocument/didClose notification.
type DidClose struct{ URI string }

// DecodeDidOpen reads params; the error is InvalidParams.
func DecodeDidOpen(params jsontext.Value) (DidOpen, error) {
	p, err := Decode[struct {
		TextDocument struct {
			URI      *string `json:"uri"`
			Language string  `json:"languageId"`
			Version  number  `json:"version"`
			Text     *string `json:"text"`
		} `json:"textDocument"`
	}](params)
	d := p.TextDocument
	if err == nil {
		err = cmp.Or(required(d.URI, "textDocument/uri"), required(d.Text, "textDocument/text"))
	}
	if err != nil {
		return DidOpen{}, err
	}
	version, err := d.Version.int32("textDocument/version")
	if !d.Version.set {
		version, err = 0, nil
	}
	return DidOpen{URI: *d.URI, Language: d.Language, Version: version, Text: *d.Text}, err
}

// DecodeDidChange reads params; the error is InvalidParams, and then no change
// may be applied: the document is out of step with the client until it is opened
// again or replaced as a whole.
func DecodeDidChange(params jsontext.Value) (DidChange, error) {
	p, err := Decode[struct {
		TextDocument struct {
			URI     *string `json:"uri"`
			Version number  `json:"version"`
		} `json:"textDocument"`
		Changes []struct {
			Range jsontext.Value `json:"range"`
			Text  *string        `json:"text"`
		} `json:"contentChanges"`
	}](params)
	if err == nil {
		err = required(p.TextDocument.URI, "textDocument/uri")
	}
	if err != nil {
		return DidChange{}, err
	}
	d := DidChange{URI: *p.TextDocument.URI, Changes: make([]text.Change, len(p.Changes))}
	if d.Version, err = p.TextDocument.Version.int32("textDocument/version"); err != nil {
		return DidChange{}, err
	}
	for i, c := range p.Changes {
		at := "contentChanges/" + strconv.Itoa(i)
		if err := required(c.Text, at+"/text"); err != nil {
			return DidChange{}, err
		}
		d.Changes[i].Text = *c.Text
		if c.Range == nil {
			continue
		}
		if d.Changes[i].Range, err = decodeRange(c.Range, at+"/range"); err != nil {
			return DidChange{}, err
		}
	}
	return d, nil
}

// DecodeDidSave reads params; the error is InvalidParams.
func DecodeDidSave(params jsontext.Value) (DidSave, error) {
	p, err := Decode[struct {
		TextDocument struct {
			URI *string `json:"uri"`
		} `json:"textDocument"`
		Text *string `json:"text"`
	}](params)
	if err == nil {
		err = required(p.TextDocument.URI, "textDocument/uri")
	}
	if err != nil {
		return DidSave{}, err
	}
	return DidSave{URI: *p.TextDocument.URI, Text: p.Text}, nil
}

// DecodeDidClose reads params; the error is InvalidParams.
func DecodeDidClose(params jsontext.Value) (DidClose, error) {
	d, err := DecodeDidSave(params)
	return DidClose{URI: d.URI}, err
}

func decodeRange(raw jsontext.Value, at string) (*protocol.Range, error) {
	type place struct {
		Line      number `json:"line"`
		Character number `json:"character"`
	}
	var r struct {
		Start place `json:"start"`
		End   place `json:"end"`
	}
	if raw.Kind() != '{' {
		return nil, InvalidParams("member %s is a JSON %s, want an object or no such member", at, raw.Kind())
	}
	if err := json.Unmarshal(raw, &r, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, InvalidParams("in %s: %s", at, explain(err))
	}
	out := new(protocol.Range)
	for _, x := range []struct {
		to   *uint32
		from number
		name string
	}{
		{&out.Start.Line, r.Start.Line, "/start/line"},
		{&out.Start.Character, r.Start.Character, "/start/character"},
		{&out.End.Line, r.End.Line, "/end/line"},
		{&out.End.Character, r.End.Character, "/end/character"},
	} {
		v, err := x.from.whole(at + x.name)
		if err != nil {
			return nil, err
		}
		// Clients say "to the end" with numbers beyond any document.
		*x.to = uint32(min(v, math.MaxUint32))
		if v < 0 {
			return nil, InvalidParams("member %s%s is %v, want a number that is not negative", at, x.name, v)
		}
	}
	return out, nil
}

// number is a whole number in any spelling of JSON, such as 1.0.
type number struct {
	set   bool
	value float64
}

// UnmarshalJSON accepts numbers only.
func (n *number) UnmarshalJSON(raw []byte) error {
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || jsontext.Value(raw).Kind() != '0' {
		return fmt.Errorf("%s is no number", raw)
	}
	*n = number{set: true, value: v}
	return nil
}

func (n number) whole(at string) (float64, error) {
	if !n.set {
		return 0, InvalidParams("member %s is missing", at)
	}
	if n.value != math.Trunc(n.value) {
		return 0, InvalidParams("member %s is %v, want a whole number", at, n.value)
	}
	return n.value, nil
}

func (n number) int32(at string) (int32, error) {
	v, err := n.whole(at)
	if err == nil && (v > math.MaxInt32 || v < math.MinInt32) {
		err = InvalidParams("member %s is %v, want a 32 bit number", at, v)
	}
	if err != nil {
		return 0, err
	}
	return int32(v), nil
}

func required(value *string, member string) error {
	if value == nil {
		return InvalidParams("member %s is missing", member)
	}
	return nil
}

// cancelID reads the id of a $/cancelRequest, which may be any whole number or a
// string.
func cancelID(params []byte) (id jsonrpc2.ID, ok bool) {
	p, err := Decode[struct {
		ID jsontext.Value `json:"id"`
	}](params)
	if err != nil {
		return id, false
	}
	switch p.ID.Kind() {
	case '0':
		n, err := strconv.ParseInt(string(p.ID), 10, 64)
		return jsonrpc2.NewNumberID(n), err == nil
	case '"':
		s, err := jsontext.AppendUnquote(nil, p.ID)
		return jsonrpc2.NewStringID(string(s)), err == nil
	}
	return id, false
}

// processID returns the client's process id in initialize, 0 if there is none.
func processID(params []byte) int {
	p, err := Decode[struct {
		ProcessID jsontext.Value `json:"processId"`
	}](params)
	if err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(p.ProcessID), 64)
	if err != nil || v < 1 || v > math.MaxInt32 {
		return 0
	}
	return int(v)
}
