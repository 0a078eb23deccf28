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
	text      string   // of all but a user's
	texts     []string // of a user's, joined by a blank line
	parts     []part   // media of a user's
	reasoning string
	both      bool // reasoning under two keys
	calls     []wireCall
	id        string // of the call that a tool row answers
	arguments string // of that call
	refs      []string
	defs      []jsontext.Value
}

type wireCall struct{ id, name, arguments string }

// part is one inlined file.
type part struct {
	kind mediaKind
	mime string
	name string
	data []byte
}

// equal is cheap where the strings are shared, as those of an unchanged history
// are.
func (r *row) equal(o *row) bool {
	return r.kind == o.kind && r.text == o.text && r.reasoning == o.reasoning && r.both == o.both &&
		r.id == o.id && r.arguments == o.arguments &&
		slices.Equal(r.texts, o.texts) && slices.Equal(r.calls, o.calls) && slices.Equal(r.refs, o.refs) &&
		slices.EqualFunc(r.parts, o.parts, func(a, b part) bool {
			return a.kind == b.kind && a.mime == b.mime && a.name == b.name && bytes.Equal(a.data, b.data)
		}) &&
		slices.EqualFunc(r.defs, o.defs, func(a, b jsontext.Value) bool { return bytes.Equal(a, b) })
}

// size is about how many bytes the row takes, for one allocation of them all.
func (r *row) size() int {
	n := 96 + len(r.text) + len(r.text)/16 + 2*len(r.reasoning)
	for _, t := range r.texts {
		n += len(t) + len(t)/16
	}
	for _, p := range r.parts {
		n += 128 + len(p.data)*4/3
	}
	for _, c := range r.calls {
		n += 96 + len(c.arguments) + len(c.arguments)/8
	}
	for _, d := range r.defs {
		n += len(d)
	}
	return n
}
