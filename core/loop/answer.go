package loop

import (
	"strconv"
	"strings"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// open begins an action with the next id, up to its operation, and makes room
// for size bytes of that.
func (s *Session) open(size int) {
	s.room(size + 48)
	if len(s.out) > 1 {
		s.out = append(s.out, ',')
	}
	s.last++
	s.out = append(s.out, `{"id":`...)
	s.out = strconv.AppendUint(s.out, s.last, 10)
	s.out = append(s.out, `,"op":`...)
}

// room grows the result at once to what is known to come.
func (s *Session) room(size int) {
	if need := len(s.out) + size; need > cap(s.out) {
		s.out = append(make([]byte, 0, max(need, 2*cap(s.out), 512)), s.out...)
	}
}

// trim drops the memory of a result of unusual size.
func (s *Session) trim() {
	if cap(s.out) > 64<<10 {
		s.out = nil
	}
}

func (s *Session) save() {
	s.open(0)
	s.out = append(s.out, `"Save"}`...)
	s.moved = false
}

func (s *Session) done(outcome string) {
	s.open(0)
	s.out = append(s.out, `{"Done":{"turn":`...)
	s.out = strconv.AppendUint(s.out, s.turn, 10)
	s.out = append(s.out, `,"outcome":"`...)
	s.out = append(s.out, outcome...)
	s.out = append(s.out, `"}}}`...)
}

// lendAsk ends the result with a request of the model: what stands in out goes
// right before the conversation and the closing brackets right behind it.
func (s *Session) lendAsk() []byte {
	s.open(len(s.model) + len(s.prelude) + 64)
	s.ask = s.last
	s.out = append(s.out, `{"Model":{"model":`...)
	s.out = append(s.out, s.model...)
	s.out = append(s.out, `,"prelude":`...)
	s.out = append(s.out, s.prelude...)
	s.out = append(s.out, `,"messages":[`...)
	return s.tape.lend(s.out, "]}}}]", 0)
}

// refusal is abi.Refused around the path.
func refusal() (before, after string) {
	before, after, _ = strings.Cut(abi.Refused("\x00"), "\x00")
	return before, after
}
