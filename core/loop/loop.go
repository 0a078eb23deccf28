// Package loop is the agent's reasoning loop as a pure state machine: an event
// in, the actions it wants performed out. It never does I/O, reads no clock and
// no randomness, starts no goroutine and ranges over no map, so that equal
// events give equal bytes wherever it runs: in the wasm module, which is how the
// product runs it, or natively, which is how tests compare it.
//
// Everything stays encoded. Strings are canonical JSON literals (see
// abi.Reader.Literal) from the event that brought them to the action that
// carries them, and the conversation is one run of bytes that an ask lends
// instead of writing it anew: a step costs what its event brings, not what was
// said before.
package loop

import (
	"errors"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// Limit is how many bytes of conversation, configuration and queued prompts a
// session has, encoded.
const Limit = 16 << 20

// ErrFull is what a session panics with when it would pass Limit. The session
// is of no use after that: its last snapshot carries on.
var ErrFull = errors.New("the conversation is over 16 MiB")

// Session is one conversation and where it stands. It is not safe for
// concurrent use.
type Session struct {
	model, prelude []byte // literals, or null
	last           uint64 // the last action's id
	highest        uint64 // the highest accepted turn
	moved          bool   // something changed since the last save
	turn           uint64 // the running turn, 0 when none
	ask            uint64 // the model ask that is awaited, 0 when none
	calls          []call // awaited results, in the order of their ids
	queue          []prompt
	queued         int // bytes of the prompts in queue

	tape  tape
	out   []byte // actions of the step under way
	event event  // the event being taken
}

// call is one whose result is awaited.
type call struct {
	id     uint64
	family family
}

// prompt is a queued turn.
type prompt struct {
	turn uint64
	text []byte // a literal
}

// family says which variant of event brings a result.
type family byte

const (
	execFamily family = iota
	fileFamily
	gitFamily
	browseFamily
	toolFamily
)

// New starts a session from an encoded abi.Config. The buffer is where the
// conversation will stand; nil, or one that becomes too small, is replaced. The
// session owns it from now on.
func New(config, buffer []byte) (*Session, error) {
	s := new(Session)
	r := abi.NewReader(config)
	s.config(&r)
	if err := r.End(); err != nil {
		return nil, err
	}
	s.begin(buffer)
	return s, nil
}

func (s *Session) begin(buffer []byte) {
	if len(s.model)+len(s.prelude) > Limit {
		panic(ErrFull)
	}
	s.tape = newTape(buffer, len(s.model)+len(s.prelude))
}

// Buffer is the one that the conversation stands in, for another session to be
// given when this one has ended.
func (s *Session) Buffer() []byte { return s.tape.buf }

// Step takes an encoded abi.Event and returns the encoded actions, which stand
// in memory of the session's: they are good until its next call. An event that
// does not parse is an error (*abi.Error) and changes nothing; one that would
// pass Limit panics.
func (s *Session) Step(encoded []byte) ([]byte, error) {
	if err := s.event.parse(encoded); err != nil {
		return nil, err
	}
	s.trim()
	s.out = append(s.out[:0], '[')
	asks := false
	switch ev := &s.event; ev.kind {
	case turnEvent:
		asks = s.takeTurn(ev)
	case modelEvent:
		asks = s.takeReply(ev)
	case resultEvent:
		asks = s.takeResult(ev)
	case cancelEvent:
		asks = s.takeCancel(ev)
	case timerEvent:
		if s.moved {
			s.save()
		}
	case rebaseEvent:
		s.takeRebase(ev)
	}
	if asks {
		return s.lendAsk(), nil
	}
	s.out = append(s.out, ']')
	return s.out, nil
}

// takeTurn accepts a turn with a higher id than any before.
func (s *Session) takeTurn(ev *event) (asks bool) {
	if ev.id <= s.highest {
		return false
	}
	s.highest, s.moved = ev.id, true
	if s.turn == 0 {
		s.start(ev.id, ev.text)
		return true
	}
	s.charge(len(ev.text))
	s.queued += len(ev.text)
	s.queue = append(s.queue, prompt{ev.id, append([]byte(nil), ev.text...)})
	s.save()
	return false
}

func (s *Session) start(turn uint64, text []byte) {
	s.turn, s.moved = turn, true // moved, also behind a save in the same step
	s.message(len(text) + 16)
	s.tape.add(`{"User":`)
	s.tape.put(text)
	s.tape.add(`}`)
}

// takeReply acts on what the model said to the ask that is awaited.
func (s *Session) takeReply(ev *event) (asks bool) {
	if s.ask == 0 || ev.id != s.ask {
		return false
	}
	s.ask, s.moved = 0, true
	if len(ev.calls) > 0 {
		return s.dispatch(ev)
	}
	if ev.text != nil {
		s.message(len(ev.text) + 48)
		s.tape.add(`{"Agent":{"text":`)
		s.tape.put(ev.text)
		s.tape.add(`,"calls":[]}}`)
		s.open(len(ev.text) + 16)
		s.out = append(s.out, `{"Emit":`...)
		s.out = append(s.out, ev.text...)
		s.out = append(s.out, "}}"...)
	}
	s.save()
	s.done("Complete")
	return s.next()
}

// dispatch gives each call of the model an id, makes actions of those that stay
// inside the workspace and ends the others itself.
func (s *Session) dispatch(ev *event) (asks bool) {
	size := len(ev.text) + 64
	for i := range ev.calls {
		size += len(ev.calls[i].body) + 128 + len(ev.calls[i].refused)
	}
	s.message(size)
	s.tape.add(`{"Agent":{"text":`)
	if ev.text == nil {
		s.tape.add("null")
	} else {
		s.tape.put(ev.text)
	}
	s.tape.add(`,"calls":[`)
	first := s.last + 1
	for i := range ev.calls {
		if i > 0 {
			s.tape.add(",")
		}
		s.tape.add(`{"id":`)
		s.tape.uint(first + uint64(i))
		s.tape.add(`,"call":`)
		s.tape.put(ev.calls[i].body)
		s.tape.add(`}`)
	}
	s.tape.add(`]}}`)
	for i := range ev.calls {
		c := &ev.calls[i]
		if c.refused != nil {
			s.last++
			s.refuse(s.last, c.refused)
			continue
		}
		s.open(len(c.body))
		s.out = append(s.out, c.body...)
		s.out = append(s.out, '}')
		s.calls = append(s.calls, call{s.last, c.family})
	}
	return len(s.calls) == 0
}

// refuse ends a call whose path, a literal, is not inside the workspace.
func (s *Session) refuse(id uint64, path []byte) {
	before, after := refusal()
	s.tool(id, len(path)+len(before)+len(after))
	s.tape.add(before)
	s.tape.put(path[1 : len(path)-1])
	s.tape.add(after)
	s.tape.add(`","failed":true}}`)
}

// tool begins the message of a result, up to the opening quote of its text.
func (s *Session) tool(id uint64, size int) {
	s.message(size + 64)
	s.tape.add(`{"Tool":{"id":`)
	s.tape.uint(id)
	s.tape.add(`,"text":"`)
}

// takeResult adds the result of an awaited call; the last one asks the model.
func (s *Session) takeResult(ev *event) (asks bool) {
	for i, c := range s.calls {
		if c.id != ev.id || c.family != ev.family {
			continue
		}
		s.moved = true
		s.calls = append(s.calls[:i], s.calls[i+1:]...)
		s.tool(c.id, len(ev.text))
		s.tape.put(ev.text[1:])
		if ev.failed {
			s.tape.add(`,"failed":true}}`)
		} else {
			s.tape.add(`,"failed":false}}`)
		}
		return len(s.calls) == 0
	}
	return false
}

// takeCancel ends a running or a queued turn.
func (s *Session) takeCancel(ev *event) (asks bool) {
	if ev.id == 0 {
		return false
	}
	if ev.id == s.turn {
		s.moved = true
		for _, c := range s.calls {
			s.tool(c.id, len(cancelled))
			s.tape.add(cancelled)
			s.tape.add(`","failed":true}}`)
		}
		s.calls, s.ask = s.calls[:0], 0
		s.save()
		s.done("Cancelled")
		return s.next()
	}
	for i, p := range s.queue {
		if p.turn != ev.id {
			continue
		}
		s.queued -= len(p.text)
		s.queue = append(s.queue[:i], s.queue[i+1:]...)
		running := s.turn
		s.turn = p.turn
		s.save()
		s.done("Cancelled")
		s.turn = running
		return false
	}
	return false
}

// takeRebase replaces the conversation between turns, where nothing is queued
// either. Ids and turns never go back.
func (s *Session) takeRebase(ev *event) {
	if s.turn != 0 || ev.next <= s.last || ev.id < s.highest {
		return
	}
	s.tape.end = s.tape.start
	s.message(len(ev.text))
	s.tape.put(ev.text)
	s.last, s.highest = ev.next-1, ev.id
	s.save()
}

// cancelled is the result that the calls of a cancelled turn get.
const cancelled = "cancelled"

// next starts the first queued turn when there is one.
func (s *Session) next() (asks bool) {
	s.turn = 0
	if len(s.queue) == 0 {
		return false
	}
	p := s.queue[0]
	s.queue = append(s.queue[:0], s.queue[1:]...)
	s.queued -= len(p.text)
	s.start(p.turn, p.text)
	return true
}

// message makes room for one more message of at most size bytes.
func (s *Session) message(size int) {
	s.charge(size)
	s.tape.grow(size + 1)
	if s.tape.end > s.tape.start {
		s.tape.add(",")
	}
}

func (s *Session) charge(size int) {
	if len(s.model)+len(s.prelude)+s.tape.end-s.tape.start+s.queued+size > Limit {
		panic(ErrFull)
	}
}
