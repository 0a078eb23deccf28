package projection

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

type rowKind int

const (
	systemRow rowKind = iota
	breakpointRow
	userRow
	assistantRow
	toolRow
	blockRow
)

// row is one wire message before it is encoded. Equal rows give equal bytes.
type row struct {
	kind      rowKind
	both      bool   // reasoning under two keys
	quiet     bool   // reasoning under none
	ordinal   int    // of the call that a tool row is the result of, in its message
	text      string // of all but a user's
	reasoning string
	id        string // of the call that a tool row is the result of
	arguments string // of that call
	calls     []wireCall
	sealed    jsontext.Value
	said      *said     // of a user's
	tools     *newTools // of a tool row and of a block
}

type wireCall struct{ id, name, arguments string }

// said is a user's message: texts, joined by a blank line, and the media after them.
type said struct {
	texts []string
	parts []part
}

// newTools is what became active: names for a reference, definitions for a block.
type newTools struct {
	refs []string
	defs []jsontext.Value
}

// part is one inlined file.
type part struct {
	kind mediaKind
	mime string
	name string
	data []byte
}

// equal reports whether two rows are equal. It is cheap where the strings are
// shared, as those of an unchanged history are.
func (r *row) equal(o *row) bool {
	return r.kind == o.kind && r.both == o.both && r.quiet == o.quiet && r.ordinal == o.ordinal &&
		r.text == o.text && r.reasoning == o.reasoning && r.id == o.id && r.arguments == o.arguments &&
		slices.Equal(r.calls, o.calls) && bytes.Equal(r.sealed, o.sealed) && r.said.equal(o.said) && r.tools.equal(o.tools)
}

func (s *said) equal(o *said) bool {
	if s == nil || o == nil {
		return s == o
	}
	return slices.Equal(s.texts, o.texts) && slices.EqualFunc(s.parts, o.parts, func(a, b part) bool {
		return a.kind == b.kind && a.mime == b.mime && a.name == b.name && bytes.Equal(a.data, b.data)
	})
}

func (n *newTools) equal(o *newTools) bool {
	if n == nil || o == nil {
		return n == o
	}
	return slices.Equal(n.refs, o.refs) &&
		slices.EqualFunc(n.defs, o.defs, func(a, b jsontext.Value) bool { return bytes.Equal(a, b) })
}

// size returns about how many bytes the row takes, for one allocation of them all.
func (r *row) size() int {
	n := 96 + len(r.text) + len(r.text)/16 + 2*len(r.reasoning) + len(r.sealed)
	for _, c := range r.calls {
		n += 96 + len(c.arguments) + len(c.arguments)/8
	}
	if r.said != nil {
		for _, t := range r.said.texts {
			n += len(t) + len(t)/16
		}
		for _, p := range r.said.parts {
			n += 128 + len(p.data)*4/3
		}
	}
	if r.tools != nil {
		for _, d := range r.tools.defs {
			n += len(d)
		}
	}
	return n
}
