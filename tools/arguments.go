package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// member is one parameter of a tool.
type member struct {
	name, about string
	optional    bool
	typ         reflect.Type // without the pointer of an optional one
}

// Define makes the definition of a tool that decodes its arguments into A, a
// struct: the tag json names a member, and about describes it to the model. A
// pointer, or omitzero in the json tag, makes a member optional. It panics for a
// struct that has no such form.
func Define[A any](name, description string, effect Effect) Definition {
	members := membersOf(reflect.TypeFor[A]())
	return Definition{Name: name, Description: description, Parameters: schema(members), Effect: effect, members: members}
}

// Arguments decodes a call's arguments into the struct that its tool was defined
// with. It panics for another struct: the arguments were checked before.
func Arguments[A any](c Call) (args A) {
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
		panic("tools: the arguments of " + c.Name + " do not fit what it was defined with: " + err.Error())
	}
	return args
}

func membersOf(t reflect.Type) (out []member) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		m := member{name: name, about: f.Tag.Get("about"), typ: f.Type, optional: slices.Contains(strings.Split(options, ","), "omitzero")}
		if f.Type.Kind() == reflect.Pointer {
			m.typ, m.optional = f.Type.Elem(), true
		}
		if name == "" {
			panic(fmt.Sprintf("tools: %s.%s has no json name", t, f.Name))
		}
		out = append(out, m)
	}
	return out
}

// schema returns a JSON Schema of an object with these members. Equal members give
// equal bytes.
func schema(members []member) jsontext.Value {
	var buf bytes.Buffer
	enc := jsontext.NewEncoder(&buf)
	writeObject(enc, members)
	return jsontext.Value(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
}

func tokens(enc *jsontext.Encoder, all ...jsontext.Token) {
	for _, t := range all {
		if err := enc.WriteToken(t); err != nil {
			panic("tools: write a schema: " + err.Error())
		}
	}
}

func writeObject(enc *jsontext.Encoder, members []member) {
	tokens(enc, jsontext.BeginObject, jsontext.String("type"), jsontext.String("object"), jsontext.String("properties"), jsontext.BeginObject)
	for _, m := range members {
		tokens(enc, jsontext.String(m.name))
		writeType(enc, m.typ, m.about)
	}
	tokens(enc, jsontext.EndObject, jsontext.String("required"), jsontext.BeginArray)
	for _, m := range members {
		if !m.optional {
			tokens(enc, jsontext.String(m.name))
		}
	}
	tokens(enc, jsontext.EndArray, jsontext.String("additionalProperties"), jsontext.False, jsontext.EndObject)
}

func writeType(enc *jsontext.Encoder, t reflect.Type, about string) {
	if t.Kind() == reflect.Struct {
		writeObject(enc, membersOf(t))
		return
	}
	tokens(enc, jsontext.BeginObject)
	if t == commandLineType {
		tokens(enc, jsontext.String("anyOf"), jsontext.BeginArray)
		writeType(enc, reflect.TypeFor[[]string](), "")
		writeType(enc, reflect.TypeFor[string](), "")
		tokens(enc, jsontext.EndArray)
	} else {
		tokens(enc, jsontext.String("type"), jsontext.String(kindOfType(t).schema))
	}
	if t.Kind() == reflect.Slice && t != commandLineType {
		tokens(enc, jsontext.String("items"))
		writeType(enc, t.Elem(), "")
	}
	if about != "" {
		tokens(enc, jsontext.String("description"), jsontext.String(about))
	}
	tokens(enc, jsontext.EndObject)
}

// kind names a Go type in JSON Schema and in texts for the model.
type kind struct{ schema, one, many string }

func kindOfType(t reflect.Type) kind {
	switch t.Kind() {
	case reflect.String:
		return kind{"string", "a string", "strings"}
	case reflect.Bool:
		return kind{"boolean", "true or false", "booleans"}
	case reflect.Int:
		return kind{"integer", "a whole number", "whole numbers"}
	case reflect.Struct:
		return kind{"object", "an object", "objects"}
	case reflect.Slice:
		one := "a list of " + kindOfType(t.Elem()).many
		if t == commandLineType {
			one += " or one string"
		}
		return kind{"array", one, "lists"}
	}
	panic(fmt.Sprintf("tools: no parameter of a tool is a %s", t))
}

// usage describes a tool's parameters, e.g. "exec takes argv (a list of strings) and
// optionally cwd (a string)".
func (d Definition) usage() string {
	var b strings.Builder
	b.WriteString(d.Name + " takes ")
	for i, m := range d.members {
		if i > 0 {
			b.WriteString(" and ")
		}
		if m.optional {
			b.WriteString("optionally ")
		}
		fmt.Fprintf(&b, "%s (%s)", m.name, kindOfType(m.typ).one)
	}
	return b.String()
}

// parse reads what a model sent as the arguments of a tool, strictly, and returns
// them as Call.Arguments has them. An error is a sentence for the model to read.
func (d Definition) parse(text string) (string, error) {
	if s := strings.TrimSpace(text); s == "" || s == "null" {
		text = "{}" // what providers send for no arguments
	}
	out, err := canonical(text, d.members)
	if err != nil || d.members != nil {
		return string(out), err
	}
	v := jsontext.Value(text) // what there is in it is the tool's own affair
	err = v.Compact()
	return string(v), err
}

// canonical reads an object with these members, nil for any, and writes it anew:
// members in order, those that are null left out.
func canonical(text string, members []member) (jsontext.Value, error) {
	values, err := object(text, members)
	if err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for _, m := range members {
		raw, ok := values[m.name]
		if !ok && !m.optional {
			return nil, fmt.Errorf("the member %q is missing", m.name)
		}
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, m.name)
		out = append(append(out, ':'), raw...)
	}
	return append(out, '}'), nil
}

// object reads an object's members, canonical ones by name.
func object(text string, members []member) (map[string]jsontext.Value, error) {
	dec := jsontext.NewDecoder(strings.NewReader(text))
	if k := dec.PeekKind(); k != '{' {
		if _, err := dec.ReadValue(); err != nil {
			return nil, notJSON(err)
		}
		return nil, fmt.Errorf("the arguments are %s, not a JSON object", kindName(k))
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, notJSON(err)
	}
	values := map[string]jsontext.Value{}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil, notJSON(err)
		}
		name := key.String()
		i := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if i < 0 && members != nil {
			return nil, fmt.Errorf("the member %s is not known", quoted(name))
		}
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, notJSON(err)
		}
		if i < 0 || raw.Kind() == 'n' && members[i].optional {
			continue
		}
		if values[name], err = members[i].value(raw.Clone()); err != nil {
			return nil, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, notJSON(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the arguments go on after the JSON object")
	}
	return values, nil
}

// value is a member's value in canonical spelling if it is of the member's type.
func (m member) value(raw jsontext.Value) (jsontext.Value, error) {
	if m.typ == commandLineType && raw.Kind() == '"' {
		var err error
		if raw, err = listOf(raw); err != nil {
			return nil, fmt.Errorf("the member %q %w", m.name, err)
		}
	}
	if !fits(raw, m.typ) {
		return nil, fmt.Errorf("the member %q is %s, not %s", m.name, kindName(raw.Kind()), kindOfType(m.typ).one)
	}
	if m.typ.Kind() != reflect.Slice {
		return plain(raw, m.typ)
	}
	var items []jsontext.Value
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, notJSON(err)
	}
	elem, out := m.typ.Elem(), []byte{'['}
	for i, item := range items {
		if !fits(item, elem) {
			return nil, fmt.Errorf("the member %q holds %s at place %d, not %s", m.name, kindName(item.Kind()), i+1, kindOfType(elem).one)
		}
		value, err := plain(item, elem)
		if err != nil {
			return nil, fmt.Errorf("at place %d of the member %q %w", i+1, m.name, err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	return append(out, ']'), nil
}

// plain returns the canonical JSON of a value of a type other than a list.
func plain(raw jsontext.Value, t reflect.Type) (jsontext.Value, error) {
	switch t.Kind() {
	case reflect.Struct:
		return canonical(string(raw), membersOf(t))
	case reflect.String:
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, notJSON(err)
		}
		return jsontext.AppendQuote(nil, text)
	}
	return raw, nil
}

// fits reports whether a value is of the kind of JSON that a type is decoded from.
func fits(raw jsontext.Value, t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return raw.Kind() == '"'
	case reflect.Bool:
		return raw.Kind() == 't' || raw.Kind() == 'f'
	case reflect.Int:
		_, err := strconv.Atoi(string(raw))
		return err == nil
	case reflect.Slice:
		return raw.Kind() == '['
	}
	return raw.Kind() == '{'
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

func notJSON(err error) error {
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the arguments end inside the JSON object")
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("the member %s is given twice", quoted(syntactic.JSONPointer.LastToken()))
	case errors.As(err, &syntactic):
		return fmt.Errorf("the arguments are not JSON at byte %d (%w)", syntactic.ByteOffset, syntactic.Err)
	}
	return fmt.Errorf("the arguments are not JSON (%w)", err)
}

// quoted quotes and shortens a text of the model's for an error that it reads.
func quoted(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
