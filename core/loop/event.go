package loop

import "github.com/agent-lsp/agent-lsp/core/abi"

type kind byte

const (
	turnEvent kind = iota
	modelEvent
	resultEvent
	cancelEvent
	timerEvent
	rebaseEvent
)

// event is one that was read whole. Its slices alias the encoded event, or
// memory of their own where that was not spelt as the encoder spells it.
type event struct {
	kind   kind
	id     uint64 // of the turn, the ask or the call
	next   uint64 // of a rebase
	family family
	text   []byte // a literal, nil when a reply has none; of a rebase its messages, with commas between them
	failed bool
	calls  []request
}

// request is a call of the model.
type request struct {
	family  family
	body    []byte // the call, encoded
	refused []byte // the literal of its path when that is not inside the workspace
}

func (e *event) parse(encoded []byte) error {
	*e = event{calls: e.calls[:0]}
	r := abi.NewReader(encoded)
	name, bare := r.Variant()
	switch string(name) {
	case "Turn":
		e.kind, e.text = turnEvent, empty
		e.turn(&r)
	case "Model":
		e.kind = modelEvent
		e.answer(&r)
	case "Exec":
		e.output(&r, execFamily)
	case "File":
		e.output(&r, fileFamily)
	case "Git":
		e.output(&r, gitFamily)
	case "Browse":
		e.output(&r, browseFamily)
	case "Tool":
		e.output(&r, toolFamily)
	case "Cancel":
		e.kind = cancelEvent
		e.cancel(&r)
	case "Timer":
		e.kind = timerEvent
	case "Rebase":
		e.kind = rebaseEvent
		e.rebase(&r)
	default:
		r.Unknown("event", name)
	}
	if bare != (e.kind == timerEvent) {
		r.Fail("an event with a value it does not have, or without the one it has")
	}
	if !bare {
		r.Close()
	}
	return r.End()
}

// empty is the literal of the empty string.
var empty = []byte(`""`)

func (e *event) turn(r *abi.Reader) {
	var seen uint
	r.Enter('{')
	for r.More('}') {
		switch name := r.Name(); string(name) {
		case "id":
			r.Once(&seen, 0)
			e.id = r.Uint()
		case "prompt":
			r.Once(&seen, 1)
			e.text = r.Literal()
		default:
			r.Unknown("member", name)
		}
	}
	r.Whole(seen, 2)
}

func (e *event) cancel(r *abi.Reader) {
	var seen uint
	r.Enter('{')
	for r.More('}') {
		switch name := r.Name(); string(name) {
		case "turn":
			r.Once(&seen, 0)
			e.id = r.Uint()
		default:
			r.Unknown("member", name)
		}
	}
	r.Whole(seen, 1)
}

func (e *event) output(r *abi.Reader, f family) {
	e.kind, e.family, e.text = resultEvent, f, empty
	e.id, e.text, e.failed = readOutput(r)
}

// readOutput reads an abi.Output or an abi.Tool.
func readOutput(r *abi.Reader) (id uint64, text []byte, failed bool) {
	var seen uint
	text = empty
	r.Enter('{')
	for r.More('}') {
		switch name := r.Name(); string(name) {
		case "id":
			r.Once(&seen, 0)
			id = r.Uint()
		case "text":
			r.Once(&seen, 1)
			text = r.Literal()
		case "failed":
			r.Once(&seen, 2)
			failed = r.Bool()
		default:
			r.Unknown("member", name)
		}
	}
	r.Whole(seen, 3)
	return id, text, failed
}

func (e *event) answer(r *abi.Reader) {
	var seen uint
	r.Enter('{')
	for r.More('}') {
		switch name := r.Name(); string(name) {
		case "id":
			r.Once(&seen, 0)
			e.id = r.Uint()
		case "reply":
			r.Once(&seen, 1)
			e.reply(r)
		default:
			r.Unknown("member", name)
		}
	}
	r.Whole(seen, 2)
}

func (e *event) reply(r *abi.Reader) {
	var seen uint
	r.Enter('{')
	for r.More('}') {
		switch name := r.Name(); string(name) {
		case "text":
			r.Once(&seen, 0)
			e.text = optional(r)
		case "calls":
			r.Once(&seen, 1)
			if r.Null() {
				continue
			}
			r.Enter('[')
			for r.More(']') {
				e.calls = append(e.calls, readCall(r))
			}
		default:
			r.Unknown("member", name)
		}
	}
	r.Whole(seen, 2)
}

func (e *event) rebase(r *abi.Reader) {
	var seen uint
	r.Enter('{')
	for r.More('}') {
		switch name := r.Name(); string(name) {
		case "next_id":
			r.Once(&seen, 0)
			e.next = r.Uint()
		case "turn":
			r.Once(&seen, 1)
			e.id = r.Uint()
		case "messages":
			r.Once(&seen, 2)
			e.text = readMessages(r)
		default:
			r.Unknown("member", name)
		}
	}
	r.Whole(seen, 3)
}

// optional reads a literal or null, which is nil.
func optional(r *abi.Reader) []byte {
	if r.Null() {
		return nil
	}
	return r.Literal()
}
