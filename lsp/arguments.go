package lsp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// arguments is the one argument object of a command. Its getters consume members
// and store the first failure, which done returns: a member that is missing, has
// the wrong type, or is unknown. The error always names the member.
type arguments struct {
	prefix  string // of the members' names in messages
	parent  *arguments
	members map[string]jsontext.Value
	order   []string // members not consumed, in the order of the object
	known   []string // members that the command reads, for the error on an unknown one
	err     error

	docs   editor.Snapshot // the documents as they were when the command arrived
	ticket *ticket         // the command's place in the server's line; nil for one that does not wait
}

// readArguments takes the arguments array of workspace/executeCommand. No
// argument, or null, is the empty object.
func readArguments(raw []jsontext.Value) *arguments {
	a := &arguments{members: map[string]jsontext.Value{}}
	if len(raw) == 0 || (len(raw) == 1 && raw[0].Kind() == 'n') {
		return a
	}
	if len(raw) > 1 {
		a.fail("arguments", "must hold one object, not %d values", len(raw))
		return a
	}
	if raw[0].Kind() != '{' {
		a.fail("arguments[0]", "must be an object, not %s", kindName(raw[0]))
		return a
	}
	a.load(raw[0], "arguments[0]")
	return a
}

// object reads a nested value as an object; its failures are stored in its parent.
func (a *arguments) object(raw jsontext.Value, name string) *arguments {
	o := &arguments{prefix: name + ".", parent: a, members: map[string]jsontext.Value{}, docs: a.docs}
	if raw.Kind() != '{' {
		a.fail(name, "must be an object, not %s", kindName(raw))
		return o
	}
	o.load(raw, name)
	return o
}

func (a *arguments) load(raw jsontext.Value, name string) {
	if err := json.Unmarshal(raw, &a.members); err != nil {
		a.fail(name, "%v", err)
		return
	}
	a.order = slices.Sorted(maps.Keys(a.members))
}

// fail stores the first error.
func (a *arguments) fail(member, format string, args ...any) {
	if a.parent != nil {
		a.parent.fail(a.prefix+member, format, args...)
		return
	}
	if a.err == nil {
		a.err = &session.ArgumentError{Member: member, Text: fmt.Sprintf(format, args...)}
	}
}

// consume returns a member's raw value; a null counts as absent.
func (a *arguments) consume(name string) (jsontext.Value, bool) {
	a.known = append(a.known, name)
	v, ok := a.members[name]
	if i := slices.Index(a.order, name); i >= 0 {
		a.order = slices.Delete(a.order, i, i+1)
	}
	return v, ok && v.Kind() != 'n'
}

// done returns the first failure, an unknown member included.
func (a *arguments) done() error {
	if len(a.order) > 0 {
		a.fail(a.order[0], "unknown member: use %s", oneOf(a.known))
	}
	return a.err
}

func oneOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// scalar decodes a member of one kind of JSON value into a Go value.
func scalar[T any](a *arguments, name, want string, required bool, kinds string) (v T, ok bool) {
	raw, ok := a.consume(name)
	if !ok {
		if required {
			a.fail(name, "is missing: it must be %s", want)
		}
		return v, false
	}
	if !strings.ContainsRune(kinds, rune(raw.Kind())) {
		a.fail(name, "must be %s, not %s", want, kindName(raw))
		return v, false
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		a.fail(name, "must be %s, not %s", want, brief(raw))
		return v, false
	}
	return v, true
}

// text reads a text that must not be blank.
func (a *arguments) text(name string) string {
	s, ok := scalar[string](a, name, "a string", true, `"`)
	if ok && strings.TrimSpace(s) == "" {
		a.fail(name, "must not be empty")
	}
	return strings.Clone(s)
}

func (a *arguments) optionalText(name string) (string, bool) {
	s, ok := scalar[string](a, name, "a string", false, `"`)
	return strings.Clone(s), ok
}

func (a *arguments) flag(name string) bool {
	v, _ := scalar[bool](a, name, "a boolean", false, "tf")
	return v
}

func (a *arguments) index(name string) *uint64 {
	v, ok := scalar[uint64](a, name, "a whole number that is not negative", false, "0")
	if !ok {
		return nil
	}
	return &v
}

func (a *arguments) session(required bool) *uuid.UUID {
	const name = "session"
	s, ok := scalar[string](a, name, "a session id", required, `"`)
	if !ok {
		return nil
	}
	id, err := uuid.Parse(s)
	if err != nil || len(s) != 36 {
		a.fail(name, "must be a session id such as 123e4567-e89b-12d3-a456-426614174000, not %q", s)
		return nil
	}
	return &id
}

// list returns the elements of an array.
func (a *arguments) list(name string, required bool) []jsontext.Value {
	v, _ := scalar[[]jsontext.Value](a, name, "an array", required, "[")
	return v
}

func kindName(v jsontext.Value) string {
	switch v.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "nothing"
}

// brief returns a value for an error message, shortened.
func brief(v jsontext.Value) string {
	const limit = 60
	r := []rune(string(v))
	if len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return string(r)
}
