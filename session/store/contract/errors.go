package contract

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

var (
	// ErrNotFound is matched by a *NotFoundError.
	ErrNotFound = errors.New("session not found")
	// ErrLeased is matched by a *LeasedError.
	ErrLeased = errors.New("session is driven by another process")
)

// NotFoundError names the session that a write was refused for.
type NotFoundError struct{ ID uuid.UUID }

func (e *NotFoundError) Error() string { return "session " + e.ID.String() + " not found" }

// Is matches ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// LeasedError says who drives the session that was asked for.
type LeasedError struct {
	ID    uuid.UUID
	Owner string    // the holder; empty when a lease was lost and nobody holds it now
	Until time.Time // when the holder's lease ends unless it is renewed; zero without a holder
}

func (e *LeasedError) Error() string {
	if e.Owner == "" {
		return fmt.Sprintf("the lease on session %s is lost; acquire it again", e.ID)
	}
	return fmt.Sprintf("session %s is driven by %s until %s", e.ID, e.Owner, e.Until.UTC().Format(time.RFC3339))
}

// Is matches ErrLeased.
func (e *LeasedError) Is(target error) bool { return target == ErrLeased }

// BackendError is a failure of the place where sessions are kept: a full disk, a
// damaged or read-only file, a server that does not answer. What was stored before
// stays stored; the write that failed is not there, except that a write whose
// connection was lost while it was committed may be.
type BackendError struct {
	Place string // the file, or the server without its credentials
	Op    string // what was being done, e.g. "append"
	Err   error
}

func (e *BackendError) Error() string {
	return fmt.Sprintf("store %s: %s: %v", e.Place, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *BackendError) Unwrap() error { return e.Err }

// Fault makes the error that a backend returns for err: nil for nil, ctx's own
// error when ctx has ended, the contract's refusals as they are, and a
// *BackendError for anything else.
func Fault(ctx context.Context, place, op string, err error) error {
	var backend *BackendError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrLeased), errors.As(err, &backend):
		return err
	}
	return &BackendError{Place: place, Op: op, Err: err}
}
