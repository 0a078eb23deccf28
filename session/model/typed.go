package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/go-json-experiment/json/jsontext"
)

// Typed reads a provider's call as a typed one. Absent, blank and null arguments
// are {}. It is strict: a name that is no tool, arguments that are not one JSON
// object, and a member that is missing, unknown, given twice or of another type
// are errors. Such an error is one sentence for the model to read: it says what
// is wrong and which members the tool takes.
func Typed(call FunctionCall) (abi.Call, error) {
	i := indexOf(call.Name)
	if i < 0 {
		return abi.Call{}, fmt.Errorf("there is no tool %s; the tools are %s", quote(call.Name), names())
	}
	t := tools[i]
	v, err := t.parse(plainArguments(call.Arguments))
	if err != nil {
		return abi.Call{}, fmt.Errorf("%s was not called: %w; %s", t.name, err, t.usage())
	}
	return t.build(v), nil
}

// Untyped writes a typed call as a provider would send it: the tool's name and
// its arguments as compact JSON with members in the order of the definition,
// those that are not set left out. It is the inverse of Typed, and equal calls
// give equal bytes. A call with no variant set gives an empty name and "{}".
func Untyped(call abi.Call) (name, arguments string) {
	for _, t := range tools {
		v, ok := t.take(call)
		if !ok {
			continue
		}
		w := newWriter()
		w.object(func() {
			for _, m := range t.members {
				if s, ok := v.texts[m.name]; ok {
					w.text(m.name, s)
				} else if m.list {
					w.key(m.name)
					w.token(jsontext.BeginArray)
					for _, s := range v.lists[m.name] {
						w.token(jsontext.String(s))
					}
					w.token(jsontext.EndArray)
				}
			}
		})
		return t.name, string(w.value())
	}
	return "", "{}"
}

func indexOf(name string) int {
	for i := range tools {
		if tools[i].name == name {
			return i
		}
	}
	return -1
}

func names() string {
	var b strings.Builder
	for i, t := range tools {
		switch i {
		case 0:
		case len(tools) - 1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(t.name)
	}
	return b.String()
}

// plainArguments makes {} of what providers send for no arguments.
func plainArguments(text string) string {
	if s := strings.TrimSpace(text); s == "" || s == "null" {
		return "{}"
	}
	return text
}

// parse reads an object with exactly the tool's members.
func (t tool) parse(text string) (v values, err error) {
	v = values{texts: map[string]string{}, lists: map[string][]string{}}
	dec := jsontext.NewDecoder(strings.NewReader(text))
	if k := dec.PeekKind(); k != '{' {
		if _, err := dec.ReadValue(); err != nil {
			return v, notJSON(err)
		}
		return v, fmt.Errorf("the arguments are %s, not a JSON object", kindName(k))
	}
	if _, err := dec.ReadToken(); err != nil {
		return v, notJSON(err)
	}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return v, notJSON(err)
		}
		name := key.String()
		m := t.member(name)
		if m == nil {
			return v, fmt.Errorf("the member %s is not known", quote(name))
		}
		raw, err := dec.ReadValue()
		if err != nil {
			return v, notJSON(err)
		}
		if err := m.set(raw, v); err != nil {
			return v, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return v, notJSON(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return v, errors.New("the arguments go on after the JSON object")
	}
	for _, m := range t.members {
		_, text := v.texts[m.name]
		_, list := v.lists[m.name]
		if !m.optional && !text && !list {
			return v, fmt.Errorf("the member %q is missing", m.name)
		}
	}
	return v, nil
}

func (t tool) member(name string) *member {
	for i := range t.members {
		if t.members[i].name == name {
			return &t.members[i]
		}
	}
	return nil
}

// set stores a member's value if it is of the member's type.
func (m *member) set(raw jsontext.Value, v values) error {
	switch {
	case m.optional && raw.Kind() == 'n':
		return nil
	case !m.list && raw.Kind() == '"':
		v.texts[m.name] = unquote(raw)
		return nil
	case m.list && raw.Kind() == '[':
		list := []string{}
		dec := jsontext.NewDecoder(bytes.NewReader(raw))
		for _, _ = dec.ReadToken(); dec.PeekKind() != ']'; { // raw was read whole: it is well-formed
			item, err := dec.ReadValue()
			if err != nil {
				return notJSON(err)
			}
			if item.Kind() != '"' {
				return fmt.Errorf("the member %q holds %s at place %d, not a string", m.name, kindName(item.Kind()), len(list)+1)
			}
			list = append(list, unquote(item))
		}
		v.lists[m.name] = list
		return nil
	}
	return fmt.Errorf("the member %q is %s, not %s", m.name, kindName(raw.Kind()), m.kind())
}

// usage says what a tool takes, e.g. "exec takes argv (a list of strings) and
// optionally cwd (a string)".
func (t tool) usage() string {
	var b strings.Builder
	b.WriteString(t.name + " takes ")
	for i, m := range t.members {
		if i > 0 {
			b.WriteString(" and ")
		}
		if m.optional {
			b.WriteString("optionally ")
		}
		fmt.Fprintf(&b, "%s (%s)", m.name, m.kind())
	}
	return b.String()
}

func (m *member) kind() string {
	if m.list {
		return "a list of strings"
	}
	return "a string"
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "a list"
	case '{':
		return "an object"
	}
	return "nothing"
}

func unquote(raw jsontext.Value) string {
	out, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		panic("model: " + err.Error()) // raw came out of a decoder
	}
	return string(out)
}

func notJSON(err error) error {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the arguments end inside the JSON object")
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("the member %s is given twice", quote(syntactic.JSONPointer.LastToken()))
	case errors.As(err, &syntactic):
		return fmt.Errorf("the arguments are not JSON at byte %d (%w)", syntactic.ByteOffset, syntactic.Err)
	}
	return fmt.Errorf("the arguments are not JSON (%w)", err)
}

// quote bounds what a model made up before it is told back.
func quote(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
