package core

import (
	"errors"
	"fmt"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// What a call on a Core or a Session may return, for errors.Is.
var (
	// ErrHandle says that the session is no more: closed, stopped by its context,
	// or ended because the module returned something unreadable. Its last snapshot
	// can be restored.
	ErrHandle = errors.New("the session has ended")
	// ErrMalformed says that an event, a configuration or a snapshot cannot be
	// read. The session is as it was.
	ErrMalformed = errors.New("the core cannot read this")
	// ErrPoison says that the session panicked in an earlier call: close it and
	// restore its last snapshot.
	ErrPoison = errors.New("the session panicked in an earlier call")
	// ErrPanic says that the session panicked in this call, for example because the
	// conversation is over its limit of 16 MiB.
	ErrPanic = errors.New("the session panicked")
	// ErrNull says that the session cannot take that many bytes at once. It is as
	// it was.
	ErrNull = errors.New("more bytes than the core can be lent")
	// ErrBusy says that another call of the session is not over. That one goes on.
	ErrBusy = errors.New("the session is busy with another call")
	// ErrFull says that the module has as many sessions as it can.
	ErrFull = errors.New("the core holds as many sessions as it can")
)

// failure is the error that a status stands for, nil for OK.
func failure(status abi.Status) error {
	switch status {
	case abi.OK:
		return nil
	case abi.Handle:
		return ErrHandle
	case abi.Malformed:
		return ErrMalformed
	case abi.Poison:
		return ErrPoison
	case abi.Panic:
		return ErrPanic
	case abi.Null:
		return ErrNull
	case abi.Busy:
		return ErrBusy
	case abi.Full:
		return ErrFull
	}
	return fmt.Errorf("%w: the module answered the unknown status %d", ErrHandle, status)
}
