package projection

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// encode answers the rows' bytes. A row that equals the old one at its place
// shares the old bytes; all others are written into one new buffer.
func encode(rows, old []row, wire []jsontext.Value) []jsontext.Value {
	size, same := 0, make([]bool, len(rows))
	for i := range rows {
		if i < len(old) && rows[i].equal(&old[i]) {
			same[i] = true
			continue
		}
		size += rows[i].size()
	}
	buf, ends := make([]byte, 0, size), make([]int, len(rows))
	var e encoder
	for i := range rows {
		if !same[i] {
			buf = e.append(buf, &rows[i])
		}
		ends[i] = len(buf)
	}
	out, start := make([]jsontext.Value, len(rows)), 0
	for i, end := range ends {
		if same[i] {
			out[i] = wire[i]
		} else {
			out[i] = jsontext.Value(buf[start:end:end])
		}
		start = end
	}
	return out
}

// encoder remembers the calls of the assistant message it wrote last, so that the
// arguments are looked through once for the call and its result.
type encoder struct {
	calls []wireCall
	lost  []bool
	read  reader
}

func (e *encoder) append(b []byte, r *row) []byte {
	switch r.kind {
	case breakpointRow:
		b = append(b, `{"role":"system","content":[{"type":"text","text":`...)
		b = quote(b, r.text)
		return append(b, `,"cache_control":{"type":"ephemeral"}}]}`...)
	case userRow:
		return appendUser(b, r)
	case assistantRow:
		return e.assistant(b, r)
	case toolRow:
		return e.tool(b, r)
	case blockRow:
		b = append(b, `{"role":"system","tools":[`...)
		for i, def := range r.tools.defs {
			b = comma(b, i)
			b = append(b, def...)
		}
		return append(b, `]}`...)
	default:
		b = append(b, `{"role":"system","content":`...)
		b = quote(b, r.text)
		return append(b, '}')
	}
}

func appendUser(b []byte, r *row) []byte {
	text := ""
	if len(r.said.texts) == 1 {
		text = r.said.texts[0]
	} else {
		text = strings.Join(r.said.texts, "\n\n")
	}
	b = append(b, `{"role":"user","content":`...)
	if len(r.said.parts) == 0 {
		b = quote(b, text)
		return append(b, '}')
	}
	b = append(b, '[')
	if text != "" {
		b = append(b, `{"type":"text","text":`...)
		b = quote(b, text)
		b = append(b, `},`...)
	}
	for i, p := range r.said.parts {
		b = comma(b, i)
		b = p.append(b)
	}
	return append(b, `]}`...)
}

func (p *part) append(b []byte) []byte {
	switch p.kind {
	case documentMedia:
		b = append(b, `{"type":"file","file":{"filename":`...)
		b = quote(b, p.name)
		b = append(b, `,"file_data":"`...)
	case videoMedia:
		b = append(b, `{"type":"video_url","video_url":{"url":"`...)
	default:
		b = append(b, `{"type":"image_url","image_url":{"url":"`...)
	}
	b = append(b, `data:`...)
	b = append(b, p.mime...)
	b = append(b, `;base64,`...)
	b = base64.StdEncoding.AppendEncode(b, p.data)
	return append(b, `"}}`...)
}

func (e *encoder) assistant(b []byte, r *row) []byte {
	e.calls, e.lost = r.calls, e.lost[:0]
	b = append(b, `{"role":"assistant","content":`...)
	b = quote(b, r.text)
	if r.reasoning != "" {
		b = append(b, `,"reasoning_content":`...)
		b = quote(b, r.reasoning)
		if r.both {
			b = append(b, `,"reasoning":`...)
			b = quote(b, r.reasoning)
		}
	}
	if len(r.sealed) > 0 {
		b = append(b, `,"_sealed":`...)
		b = append(b, r.sealed...)
	}
	if len(r.calls) > 0 {
		b = append(b, `,"tool_calls":[`...)
		for i, c := range r.calls {
			b = comma(b, i)
			b = append(b, `{"id":`...)
			b = quote(b, c.id)
			b = append(b, `,"type":"function","function":{"name":`...)
			b = quote(b, c.name)
			b = append(b, `,"arguments":`...)
			arguments, lost := e.read.object(c.arguments)
			e.lost = append(e.lost, lost)
			b = quote(b, arguments)
			b = append(b, `}}`...)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (e *encoder) tool(b []byte, r *row) []byte {
	b = append(b, `{"role":"tool","tool_call_id":`...)
	b = quote(b, r.id)
	b = append(b, `,"content":`...)
	text := r.text
	if e.lostArguments(r) {
		text = withLost(text, r.arguments)
	}
	b = quote(b, text)
	if r.tools != nil && len(r.tools.refs) > 0 {
		b = append(b, `,"_tool_references":[`...)
		for i, name := range r.tools.refs {
			b = comma(b, i)
			b = quote(b, name)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (e *encoder) lostArguments(r *row) bool {
	if r.ordinal < len(e.calls) && e.calls[r.ordinal].id == r.id {
		return e.lost[r.ordinal]
	}
	_, lost := e.read.object(r.arguments)
	return lost
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}
