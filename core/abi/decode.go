package abi

import "bytes"

// messageReader reads the types of this package: a Reader that knows which members
// and variants each of them has. Whoever needs no values, as package loop, reads
// with a Reader alone.
type messageReader struct{ Reader }

func newMessageReader(data []byte) messageReader { return messageReader{NewReader(data)} }

// DecodeConfig reads what AppendConfig wrote, in any order of members and with
// any spelling of JSON; what it does not know is an error (*Error).
func DecodeConfig(data []byte) (Config, error) {
	r := newMessageReader(data)
	c := r.config()
	return c, r.End()
}

// DecodeEvent reads what AppendEvent wrote, as strictly as DecodeConfig.
func DecodeEvent(data []byte) (Event, error) {
	r := newMessageReader(data)
	ev := r.event()
	return ev, r.End()
}

// DecodeActions reads what AppendActions wrote, as strictly as DecodeConfig.
func DecodeActions(data []byte) ([]Action, error) {
	var d Decoder
	return d.Actions(data)
}

// DecodeMessage reads what AppendMessage wrote, as strictly as DecodeConfig.
func DecodeMessage(data []byte) (Message, error) {
	r := newMessageReader(data)
	m := r.message()
	return m, r.End()
}

// Decoder reads the results of one session. It remembers the conversation of
// the last ask, so that the next one costs what was added to it. The zero value
// is ready; it is not safe for concurrent use.
type Decoder struct {
	text     []byte // the last ask's messages, encoded, without brackets
	messages []Message
}

// Actions reads an encoded result as strictly as DecodeConfig and keeps nothing
// of data. Messages that were in an earlier result too share their values with it,
// so callers must not change what these point to.
func (d *Decoder) Actions(data []byte) ([]Action, error) {
	r := newMessageReader(data)
	actions := elements(&r.Reader, func() Action { return r.action(d) })
	if err := r.End(); err != nil {
		return nil, err
	}
	return actions, nil
}

// conversation reads the messages of an ask.
func (d *Decoder) conversation(r *messageReader) []Message {
	r.space()
	start := r.at + 1 // behind the bracket
	known := 0
	if n := len(d.text); n > 0 && len(r.data) > start+n && r.peek() == '[' &&
		(r.data[start+n] == ',' || r.data[start+n] == ']') && bytes.Equal(r.data[start:start+n], d.text) {
		r.at, r.fresh, known = start+n, false, n
	} else {
		r.Enter('[')
		d.text, d.messages = d.text[:0], nil
	}
	for r.More(']') {
		d.messages = append(d.messages, r.message())
	}
	if r.err != nil {
		*d = Decoder{}
		return nil
	}
	d.text = append(d.text, r.data[start+known:r.at-1]...)
	return append(make([]Message, 0, len(d.messages)), d.messages...)
}

// elements reads a list; null stands for an empty one.
func elements[T any](r *Reader, each func() T) []T {
	if r.Null() {
		r.Foreign()
		return nil
	}
	all := []T{}
	r.Enter('[')
	for r.More(']') {
		all = append(all, each())
	}
	return all
}

// value reads a struct through a pointer, as a variant has it.
func value[T any](read func() T) *T {
	v := read()
	return &v
}

func (r *messageReader) event() (ev Event) {
	name, bare := r.Variant()
	if bare {
		if string(name) != "Timer" {
			r.Unknown("event without a value", name)
		}
		return Event{Timer: true}
	}
	switch string(name) {
	case "Turn":
		ev.Turn = value(r.turn)
	case "Model":
		ev.Model = value(r.answer)
	case "Exec":
		ev.Exec = value(r.output)
	case "File":
		ev.File = value(r.output)
	case "Git":
		ev.Git = value(r.output)
	case "Browse":
		ev.Browse = value(r.output)
	case "Tool":
		ev.Tool = value(r.output)
	case "Cancel":
		ev.Cancel = value(r.cancel)
	case "Rebase":
		ev.Rebase = value(r.rebase)
	default:
		r.Unknown("event", name)
	}
	r.Close()
	return ev
}

func (r *messageReader) op(d *Decoder) (o Op) {
	name, bare := r.Variant()
	if bare {
		if string(name) != "Save" {
			r.Unknown("operation without a value", name)
		}
		return Op{Save: true}
	}
	switch string(name) {
	case "Model":
		o.Model = value(func() Ask { return r.ask(d) })
	case "Read":
		o.Read = value(r.read)
	case "Write":
		o.Write = value(r.write)
	case "Patch":
		o.Patch = value(r.patch)
	case "Exec":
		o.Exec = value(r.exec)
	case "Git":
		o.Git = value(r.git)
	case "Browse":
		o.Browse = value(r.browse)
	case "Tool":
		o.Tool = value(r.use)
	case "Emit":
		o.Emit = value(r.Text)
	case "Done":
		o.Done = value(r.end)
	default:
		r.Unknown("operation", name)
	}
	r.Close()
	return o
}

func (r *messageReader) call() (c Call) {
	name, bare := r.Variant()
	switch {
	case bare:
		r.Unknown("call without a value", name)
		return c
	case string(name) == "Read":
		c.Read = value(r.read)
	case string(name) == "Write":
		c.Write = value(r.write)
	case string(name) == "Patch":
		c.Patch = value(r.patch)
	case string(name) == "Exec":
		c.Exec = value(r.exec)
	case string(name) == "Git":
		c.Git = value(r.git)
	case string(name) == "Browse":
		c.Browse = value(r.browse)
	case string(name) == "Tool":
		c.Tool = value(r.use)
	default:
		r.Unknown("call", name)
	}
	r.Close()
	return c
}

func (r *messageReader) message() (m Message) {
	name, bare := r.Variant()
	switch {
	case bare:
		r.Unknown("message without a value", name)
		return m
	case string(name) == "User":
		m.User = value(r.Text)
	case string(name) == "Agent":
		m.Agent = value(r.agent)
	case string(name) == "Tool":
		m.Tool = value(r.tool)
	default:
		r.Unknown("message", name)
	}
	r.Close()
	return m
}

func (r *messageReader) outcome() (o Outcome) {
	name, bare := r.Variant()
	switch {
	case bare && string(name) == "Complete":
		o.Complete = true
	case bare && string(name) == "Cancelled":
		o.Cancelled = true
	default:
		r.Unknown("outcome", name)
	}
	return o
}
