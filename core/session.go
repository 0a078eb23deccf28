package core

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// kept is the largest event, in bytes, whose place in the module's memory the
// session keeps for the next one.
const kept = 64 << 10

// Session is one conversation. One call runs at a time; another one beside it
// returns ErrBusy. A context that ends during a call stops it and ends the
// session.
type Session struct {
	core     *Core
	inst     *instance
	busy     atomic.Bool // a call is inside; it owns everything below but ended
	ended    atomic.Bool // set once, by who has set busy
	poisoned bool
	handle   uint64
	place    uint32 // memory lent by the module, kept bytes long, 0 before the first use
	cell     uint32 // memory lent by the module for what it returns
	encoded  []byte // the last event, kept for its memory
	decoder  abi.Decoder
}

// cellSize is room for a handle or a result buffer.
const cellSize = 16

// Step passes the session an event and returns what it wants done, in order.
// Messages of an Ask share memory with those of earlier ones: read them, do not
// change what they point to.
//
// Errors: ErrMalformed for an event without exactly one variant in each union
// or with text that is not UTF-8, ErrNull for one too large to hand over (about
// 32 MiB): both leave the session as it was. ErrPanic when the conversation
// would pass 16 MiB, ErrPoison after that, ErrBusy, ErrHandle.
func (s *Session) Step(ctx context.Context, event Event) ([]Action, error) {
	var actions []Action
	err := s.call(ctx, func(ctx context.Context) error {
		encoded, err := abi.AppendEvent(s.encoded[:0], event)
		if err != nil {
			return fmt.Errorf("%w: the event: %w", ErrMalformed, err)
		}
		if cap(encoded) <= kept {
			s.encoded = encoded
		}
		return s.stepInside(ctx, encoded, func(answer []byte) (err error) {
			actions, err = s.decoder.Actions(answer)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return actions, nil
}

// step is Step on encoded bytes. The result is the module's memory: use must
// copy what it keeps. An error of use ends the session.
func (s *Session) step(ctx context.Context, encodedEvent []byte, use func(answer []byte) error) error {
	return s.call(ctx, func(ctx context.Context) error { return s.stepInside(ctx, encodedEvent, use) })
}

func (s *Session) stepInside(ctx context.Context, event []byte, use func(answer []byte) error) error {
	at, giveBack, err := s.lend(ctx, event)
	if err != nil {
		return err
	}
	status, err := s.status(ctx, "dev_step", s.handle, uint64(at), uint64(len(event)), uint64(s.cell))
	if err != nil {
		return err
	}
	if err := giveBack(); err != nil {
		return err
	}
	if err := failure(status); err != nil {
		return err
	}
	return s.take(ctx, use)
}

// Snapshot returns all that the session is, for Restore, in this process or
// another one of the same ABI. Errors: ErrPoison, ErrPanic, ErrBusy, ErrHandle.
func (s *Session) Snapshot(ctx context.Context) ([]byte, error) {
	var state []byte
	err := s.call(ctx, func(ctx context.Context) error {
		status, err := s.status(ctx, "dev_snapshot", s.handle, uint64(s.cell))
		if err == nil {
			err = failure(status)
		}
		if err != nil {
			return err
		}
		return s.take(ctx, func(answer []byte) error {
			state = append(make([]byte, 0, len(answer)), answer...)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return state, nil
}

// Close ends the session. It returns nil, also for one that has ended before,
// and ErrBusy while another call is inside: end that one's context first.
func (s *Session) Close(context.Context) error {
	s.core.mu.RLock()
	defer s.core.mu.RUnlock()
	if s.gone() {
		return nil
	}
	if !s.busy.CompareAndSwap(false, true) {
		if s.gone() {
			return nil
		}
		return ErrBusy
	}
	defer s.busy.Store(false)
	s.end()
	return nil
}

// gone reports whether the session has ended or its core is closed.
func (s *Session) gone() bool { return s.ended.Load() || s.core.life.Err() != nil }

// end ends the session. Only who has set busy may call it.
func (s *Session) end() {
	if !s.ended.Swap(true) {
		s.inst.close(context.Background())
		s.decoder, s.encoded = abi.Decoder{}, nil
	}
}

// call runs one call of the session's by its rules.
func (s *Session) call(ctx context.Context, run func(context.Context) error) error {
	if s.gone() {
		return ErrHandle
	}
	if !s.busy.CompareAndSwap(false, true) {
		if s.gone() {
			return ErrHandle
		}
		return ErrBusy
	}
	defer s.busy.Store(false)
	s.core.mu.RLock()
	defer s.core.mu.RUnlock()
	switch {
	case s.gone():
		return ErrHandle
	case ctx.Err() != nil:
		s.end()
		return fmt.Errorf("%w: %w", ErrHandle, ctx.Err())
	case s.poisoned:
		return ErrPoison
	}
	bounded, release := s.core.bound(ctx)
	defer release()
	err := run(bounded)
	switch {
	case ctx.Err() != nil && s.core.life.Err() == nil:
		// Also after a call that succeeded: the engine may have closed the instance
		// just behind it.
		s.end()
		return fmt.Errorf("%w: %w", ErrHandle, ctx.Err())
	case errors.Is(err, ErrHandle):
		s.end()
	case errors.Is(err, ErrPanic):
		s.poisoned = true
		err = fmt.Errorf("%w%s", err, s.inst.said.last())
	case errors.Is(err, ErrPoison):
		s.poisoned = true
	}
	return err
}

// start has the export make the session of data.
func (s *Session) start(ctx context.Context, export string, data []byte) error {
	at, giveBack, err := s.lend(ctx, data)
	if err != nil {
		return err
	}
	if s.cell, err = s.alloc(ctx, cellSize); err != nil {
		return err
	}
	status, err := s.status(ctx, export, uint64(at), uint64(len(data)), uint64(s.cell))
	if err != nil {
		return err
	}
	if err := giveBack(); err != nil {
		return err
	}
	if err := failure(status); err != nil {
		return fmt.Errorf("%w%s", err, s.inst.said.last())
	}
	memory := s.inst.Memory()
	if memory == nil {
		return fmt.Errorf("%w: %w: it exports no memory", ErrHandle, errAbsent)
	}
	handle, ok := memory.ReadUint64Le(s.cell)
	if !ok {
		return fmt.Errorf("%w: the module lent %d, which is outside its memory", ErrHandle, s.cell)
	}
	s.handle = handle
	return nil
}

// lend writes data to the module's memory and returns where. giveBack ends the
// loan, unless the session keeps the place.
func (s *Session) lend(ctx context.Context, data []byte) (at uint32, giveBack func() error, err error) {
	giveBack = func() error { return nil }
	switch {
	case len(data) > kept:
		if at, err = s.alloc(ctx, len(data)); err != nil {
			return 0, nil, err
		}
		giveBack = func() error { return s.invoke(ctx, "dev_release", uint64(at), uint64(len(data))) }
	case s.place == 0:
		if s.place, err = s.alloc(ctx, kept); err != nil {
			return 0, nil, err
		}
		fallthrough
	default:
		at = s.place
	}
	memory := s.inst.Memory() // looked up anew: the call may have grown it
	if memory == nil {
		return 0, nil, fmt.Errorf("%w: %w: it exports no memory", ErrHandle, errAbsent)
	}
	if !memory.Write(at, data) {
		return 0, nil, fmt.Errorf("%w: the module lent %d bytes at %d, which are outside its memory", ErrHandle, len(data), at)
	}
	return at, giveBack, nil
}

// alloc borrows n bytes of the module's memory. It returns ErrNull when the
// module has none to lend.
func (s *Session) alloc(ctx context.Context, n int) (uint32, error) {
	if n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%w: %d bytes", ErrNull, n)
	}
	got, err := s.status(ctx, "dev_alloc", uint64(n))
	if err != nil {
		return 0, err
	}
	if got == 0 {
		return 0, fmt.Errorf("%w: %d bytes", ErrNull, n)
	}
	return uint32(got), nil
}

// take reads the result that the module wrote to the cell, hands it to use and
// gives its buffer back.
func (s *Session) take(ctx context.Context, use func(answer []byte) error) error {
	memory := s.inst.Memory()
	at, ok := memory.ReadUint32Le(s.cell)
	n, ok2 := memory.ReadUint32Le(s.cell + 4)
	if !ok || !ok2 {
		return fmt.Errorf("%w: the module lent %d, which is outside its memory", ErrHandle, s.cell)
	}
	answer, ok := memory.Read(at, n)
	if !ok {
		return fmt.Errorf("%w: the module's answer, %d bytes at %d, is outside its memory", ErrHandle, n, at)
	}
	if err := use(answer); err != nil {
		return fmt.Errorf("%w: its answer: %w", ErrHandle, err)
	}
	return s.invoke(ctx, "dev_free", uint64(s.cell))
}

// status calls an export that returns one number.
func (s *Session) status(ctx context.Context, export string, args ...uint64) (abi.Status, error) {
	got, err := s.inst.Call(ctx, export, args...)
	if err != nil {
		return 0, s.core.judge(ctx, err)
	}
	if len(got) != 1 {
		return 0, fmt.Errorf("%w: %w: its %s answers %d values", ErrHandle, errAbsent, export, len(got))
	}
	return abi.Status(got[0]), nil
}

// invoke calls an export that returns nothing.
func (s *Session) invoke(ctx context.Context, export string, args ...uint64) error {
	if _, err := s.inst.Call(ctx, export, args...); err != nil {
		return s.core.judge(ctx, err)
	}
	return nil
}
