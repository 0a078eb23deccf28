package loop

import (
	"errors"
	"strconv"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// ErrSnapshot is what Restore returns for bytes that are no snapshot.
var ErrSnapshot = errors.New("not a snapshot of this version, or a damaged one")

var null = []byte("null")

// Snapshot returns all that the session is, sealed (see abi.Unseal). The bytes
// stand in memory of the session's: they are good until its next call.
func (s *Session) Snapshot() []byte {
	s.trim()
	s.out = s.out[:0]
	s.room(512 + len(s.model) + len(s.prelude) + s.queued + 64*(len(s.calls)+len(s.queue)))
	out := s.out[:abi.SealHead]
	member := func(name string, n uint64) {
		out = append(out, name...)
		out = strconv.AppendUint(out, n, 10)
	}
	out = append(out, `{"model":`...)
	out = append(out, s.model...)
	out = append(out, `,"prelude":`...)
	out = append(out, s.prelude...)
	member(`,"last":`, s.last)
	member(`,"highest":`, s.highest)
	out = append(out, `,"moved":`...)
	out = strconv.AppendBool(out, s.moved)
	member(`,"turn":`, s.turn)
	member(`,"ask":`, s.ask)
	out = append(out, `,"calls":[`...)
	for i, c := range s.calls {
		if i > 0 {
			out = append(out, ',')
		}
		member(`{"id":`, c.id)
		member(`,"family":`, uint64(c.family))
		out = append(out, '}')
	}
	out = append(out, `],"queue":[`...)
	for i, p := range s.queue {
		if i > 0 {
			out = append(out, ',')
		}
		member(`{"turn":`, p.turn)
		out = append(out, `,"prompt":`...)
		out = append(out, p.text...)
		out = append(out, '}')
	}
	out = append(out, `],"messages":[`...)
	s.out = out
	all := s.tape.lend(out, "]}", abi.SealTail)
	abi.PutSeal(all)
	return all
}

// Restore makes the session of which a snapshot was taken; the buffer is as for
// New. Bytes that are no whole and unchanged snapshot are ErrSnapshot.
func Restore(state, buffer []byte) (*Session, error) {
	body, ok := abi.Unseal(state)
	if !ok {
		return nil, ErrSnapshot
	}
	r := abi.NewReader(body)
	s := new(Session)
	s.restore(&r)
	first := r.At()
	for more := r.More(']'); more; more = r.More(']') {
		readMessage(&r, nil)
	}
	last := r.At() - 1
	r.Expect("}")
	if r.End() != nil || !r.Plain() || !s.sound() {
		return nil, ErrSnapshot
	}
	s.begin(buffer)
	s.charge(last - first)
	s.tape.grow(last - first)
	s.tape.put(body[first:last])
	return s, nil
}

// restore reads everything up to the conversation.
func (s *Session) restore(r *abi.Reader) {
	r.Expect(`{"model":`)
	s.model = keep(r)
	r.Expect(`,"prelude":`)
	s.prelude = keep(r)
	r.Expect(`,"last":`)
	s.last = r.Uint()
	r.Expect(`,"highest":`)
	s.highest = r.Uint()
	r.Expect(`,"moved":`)
	s.moved = r.Bool()
	r.Expect(`,"turn":`)
	s.turn = r.Uint()
	r.Expect(`,"ask":`)
	s.ask = r.Uint()
	r.Expect(`,"calls":`)
	r.Enter('[')
	for r.More(']') {
		r.Expect(`{"id":`)
		id := r.Uint()
		r.Expect(`,"family":`)
		f := r.Uint()
		r.Expect(`}`)
		if f > uint64(toolFamily) {
			r.Fail("unknown family")
		}
		s.calls = append(s.calls, call{id, family(f)})
	}
	r.Expect(`,"queue":`)
	r.Enter('[')
	for r.More(']') {
		r.Expect(`{"turn":`)
		turn := r.Uint()
		r.Expect(`,"prompt":`)
		text := append([]byte(nil), r.Literal()...)
		r.Expect(`}`)
		s.queue = append(s.queue, prompt{turn, text})
		s.queued += len(text)
	}
	r.Expect(`,"messages":`)
	r.Enter('[')
}

// sound says whether the state is one that events lead to.
func (s *Session) sound() bool {
	if s.turn == 0 && (s.ask != 0 || len(s.calls) > 0 || len(s.queue) > 0) {
		return false
	}
	if s.turn != 0 && (s.ask == 0) == (len(s.calls) == 0) {
		return false
	}
	id := uint64(0)
	for _, c := range s.calls {
		if c.id <= id {
			return false
		}
		id = c.id
	}
	turn := s.turn
	for _, p := range s.queue {
		if p.turn <= turn {
			return false
		}
		turn = p.turn
	}
	return id <= s.last && s.ask <= s.last && turn <= s.highest
}

// config reads an abi.Config, of which an absent member is null.
func (s *Session) config(r *abi.Reader) {
	s.model, s.prelude = null, null
	var seen uint
	r.Enter('{')
	for r.More('}') {
		switch name := r.Name(); string(name) {
		case "model":
			r.Once(&seen, 0)
			s.model = keep(r)
		case "prelude":
			r.Once(&seen, 1)
			s.prelude = keep(r)
		default:
			r.Unknown("member", name)
		}
	}
}

// keep reads a literal or null and returns a copy.
func keep(r *abi.Reader) []byte {
	if r.Null() {
		return null
	}
	return append([]byte(nil), r.Literal()...)
}
