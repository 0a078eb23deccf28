//go:build wasip1

// Package main is the module that runs the loop inside a sandbox: its exports
// move bytes in and out of package loop and keep count of what is lent. It
// imports nothing but what the Go runtime itself wants of WASI; the host gives
// it no files, no real clock and no randomness.
package main

import (
	"runtime"
	"unsafe"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/loop"
)

func main() {}

const (
	maxLoan     = 32 << 20 // bytes of one loan
	maxLent     = 34 << 20 // bytes of all loans
	maxSessions = 64
	big         = 1 << 20 // an allocation from here on is made in a clean heap
)

var (
	slots   [maxSessions]slot
	loans   []loan
	lent    int // bytes in loans
	answers []answer
	// tape is a conversation's buffer that no session uses. The first one is made
	// at the start, so that the memory does not grow with a conversation. It is
	// never written before a conversation needs it, so it costs address space.
	tape = make([]byte, loop.TapeSize)
)

// slot is a place for a session. A handle is its index and its generation, so
// that an old handle stays wrong when the place is used again.
type slot struct {
	session    *loop.Session
	generation uint32
	poisoned   bool
	lent       bool // a result is out
}

// loan is memory that the host was given to write to.
type loan struct {
	at  uint32
	buf []byte
}

// answer is memory of a session's that the host reads.
type answer struct {
	at   uint32
	buf  []byte
	slot *slot // nil when its session was dropped
}

func init() {
	// The heap gets room at once for loans, results and what the collector has
	// not yet taken back, so that it does not creep up later.
	room := make([]byte, 6<<20)
	runtime.KeepAlive(room)
	// So do the books of allocator and collector, which are opened for each size of
	// object and in the first cycle.
	for size := 16; size <= 32<<10; size += size / 4 {
		plain, pointers := make([]byte, size), make([]*byte, size/8)
		runtime.KeepAlive(&plain)
		runtime.KeepAlive(&pointers)
	}
	runtime.GC()
	loans = make([]loan, 0, 64)
	answers = make([]answer, 0, 64)
}

//go:wasmexport dev_abi
func version() int32 { return abi.ABI }

//go:wasmexport dev_alloc
func alloc(n uint32) uint32 {
	if n > maxLoan || lent+int(n) > maxLent {
		return 0
	}
	if n >= big {
		runtime.GC()
	}
	buf := make([]byte, max(n, 1))
	lent += len(buf)
	at := address(buf)
	loans = append(loans, loan{at, buf})
	return at
}

//go:wasmexport dev_release
func release(at, _ uint32) {
	for i := range loans {
		if loans[i].at == at {
			lent -= len(loans[i].buf)
			last := len(loans) - 1
			loans[i] = loans[last]
			loans[last] = loan{}
			loans = loans[:last]
			return
		}
	}
}

//go:wasmexport dev_new
func create(config, n, out uint32) abi.Status {
	return open(config, n, out, loop.New)
}

//go:wasmexport dev_restore
func restore(state, n, out uint32) abi.Status {
	return open(state, n, out, loop.Restore)
}

func open(at, n, out uint32, start func(data, buffer []byte) (*loop.Session, error)) (status abi.Status) {
	data, cell := borrowed(at, n), borrowed(out, 8)
	if data == nil || cell == nil {
		return abi.Null
	}
	index := 0
	for index < maxSessions && slots[index].session != nil {
		index++
	}
	if index == maxSessions {
		return abi.Full
	}
	defer func() {
		if cause := recover(); cause != nil {
			complain(cause)
			status = abi.Panic
		}
	}()
	session, err := start(data, tape)
	if err != nil {
		return abi.Malformed
	}
	tape = nil
	s := &slots[index]
	*s = slot{session: session, generation: s.generation + 1}
	put32(cell, uint32(index))
	put32(cell[4:], s.generation)
	return abi.OK
}

//go:wasmexport dev_step
func step(handle uint64, event, n, out uint32) abi.Status {
	return answered(handle, out, func(s *loop.Session) ([]byte, abi.Status) {
		data := borrowed(event, n)
		if data == nil {
			return nil, abi.Null
		}
		if n >= big {
			runtime.GC()
		}
		actions, err := s.Step(data)
		if err != nil {
			return nil, abi.Malformed
		}
		return actions, abi.OK
	})
}

//go:wasmexport dev_snapshot
func snapshot(handle uint64, out uint32) abi.Status {
	return answered(handle, out, func(s *loop.Session) ([]byte, abi.Status) {
		return s.Snapshot(), abi.OK
	})
}

// answered runs one call of a session and lends its result.
func answered(handle uint64, out uint32, call func(*loop.Session) ([]byte, abi.Status)) (status abi.Status) {
	s := find(handle)
	cell := borrowed(out, 12)
	switch {
	case s == nil:
		return abi.Handle
	case s.poisoned:
		return abi.Poison
	case cell == nil:
		return abi.Null
	case s.lent:
		return abi.Busy
	}
	defer func() {
		if cause := recover(); cause != nil {
			complain(cause)
			s.poisoned = true
			status = abi.Panic
		}
	}()
	buf, status := call(s.session)
	if status != abi.OK {
		return status
	}
	s.lent = true
	answers = append(answers, answer{address(buf), buf, s})
	put32(cell, address(buf))
	put32(cell[4:], uint32(len(buf)))
	put32(cell[8:], uint32(cap(buf)))
	return abi.OK
}

//go:wasmexport dev_drop
func drop(handle uint64) {
	s := find(handle)
	if s == nil {
		return
	}
	if buf := s.session.Buffer(); !s.lent && len(buf) > len(tape) {
		tape = buf
	}
	for i := range answers {
		if answers[i].slot == s {
			answers[i].slot = nil
		}
	}
	s.session, s.lent = nil, false
}

//go:wasmexport dev_free
func free(cell uint32) {
	triple := borrowed(cell, 12)
	if triple == nil {
		return
	}
	at := get32(triple)
	for i := range answers {
		if answers[i].at == at {
			if s := answers[i].slot; s != nil {
				s.lent = false
			}
			last := len(answers) - 1
			answers[i] = answers[last]
			answers[last] = answer{}
			answers = answers[:last]
			break
		}
	}
	clear(triple)
}

func find(handle uint64) *slot {
	index := uint32(handle)
	if index >= maxSessions {
		return nil
	}
	s := &slots[index]
	if s.session == nil || s.generation != uint32(handle>>32) {
		return nil
	}
	return s
}

// borrowed is the n bytes at an address within one loan, nil when they are not.
func borrowed(at, n uint32) []byte {
	for i := range loans {
		l := &loans[i]
		if at >= l.at && uint64(at)+uint64(n) <= uint64(l.at)+uint64(len(l.buf)) {
			return l.buf[at-l.at : at-l.at+n]
		}
	}
	return nil
}

func address(buf []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(buf)))) }

func put32(b []byte, v uint32) {
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

func get32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// complain leaves a panic's text where the host finds it.
func complain(cause any) {
	if err, ok := cause.(error); ok {
		println("panic:", err.Error())
		return
	}
	println("panic in the core")
}
