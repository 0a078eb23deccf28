// Package store is the contract for keeping sessions and their transcripts, and
// the one way to open a backend by DSN. It never parses a payload.
//
// Backends live in memory, sqlite and postgres; storetest holds the conformance
// suite that all of them pass unchanged.
package store

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/google/uuid"
)

// Session is the record of one session. Put replaces it whole.
type Session struct {
	ID             uuid.UUID
	Subject        string // the owner, e.g. "operator"
	Harness        string
	Account        *string
	Title          *string
	CreatedAt      time.Time // UTC, microseconds
	UpdatedAt      time.Time // UTC, microseconds
	Turns          uint64
	MCPTokenDigest *string
	Commands       []string
}

// Payload is an event's content; the store keeps its bytes and never reads them.
type Payload struct {
	ContentType string // e.g. "application/json"
	Data        []byte
}

// Event is one entry of a transcript.
type Event struct {
	Index   uint64 // dense from 0 within a session, assigned by the store
	At      time.Time
	Payload Payload
}

// Snapshot is a core's packed state.
type Snapshot struct {
	At    uint64 // the transcript index it belongs to
	State []byte
}

// Lease says that one owner drives a session. It ends by Release or by not
// being renewed within its time to live.
type Lease interface {
	Renew(context.Context) error
	Release(context.Context) error
}

// Undecodable is a record that exists but cannot be read.
type Undecodable struct {
	ID    string // the raw id
	Error string
}

// Listing is what List found. One bad record never hides the others.
type Listing struct {
	Sessions    []Session
	Undecodable []Undecodable
}

// Store keeps sessions. Every method is safe for concurrent use, in one process
// and, where the backend is durable, in several. A context that ends stops a
// call promptly and leaves either the whole of a write or nothing of it.
type Store interface {
	// Put creates or replaces a record.
	Put(ctx context.Context, s Session) error
	// Get answers ok=false for an absent record.
	Get(ctx context.Context, id uuid.UUID) (s Session, ok bool, err error)
	// List is ordered by CreatedAt, then ID.
	List(ctx context.Context) (Listing, error)
	// Delete removes record, transcript and snapshots; an absent session is no error.
	Delete(ctx context.Context, id uuid.UUID) error
	// Append assigns the next index. An unknown session is ErrNotFound.
	Append(ctx context.Context, id uuid.UUID, at time.Time, p Payload) (index uint64, err error)
	// AppendAll assigns consecutive indices in one transaction and answers the first.
	AppendAll(ctx context.Context, id uuid.UUID, at time.Time, ps []Payload) (first uint64, err error)
	// Head is the next index: 0 for an unwritten or unknown session.
	Head(ctx context.Context, id uuid.UUID) (uint64, error)
	// Transcript streams events in order; after is exclusive, nil is from the start.
	Transcript(ctx context.Context, id uuid.UUID, after *uint64) iter.Seq2[Event, error]
	// SetDefaultHarness keeps a subject's last pick.
	SetDefaultHarness(ctx context.Context, subject, harness string) error
	// DefaultHarness answers ok=false for a subject that never picked.
	DefaultHarness(ctx context.Context, subject string) (harness string, ok bool, err error)
	// PutSnapshot keeps the newest two of a session.
	PutSnapshot(ctx context.Context, id uuid.UUID, at uint64, state []byte) error
	// Snapshots answers the kept ones, newest first.
	Snapshots(ctx context.Context, id uuid.UUID) ([]Snapshot, error)
	// Acquire takes the lease on a session, or fails with ErrLeased naming the holder.
	Acquire(ctx context.Context, id uuid.UUID, owner string, ttl time.Duration) (Lease, error)
	// Close releases the backend. Nothing may be called afterwards.
	Close() error
}

var (
	// ErrNotFound is matched by a *NotFoundError.
	ErrNotFound = errors.New("session not found")
	// ErrLeased is matched by the error of an Acquire that another owner holds.
	ErrLeased = errors.New("session is driven by another process")
)

// NotFoundError names the session that a write was refused for.
type NotFoundError struct{ ID uuid.UUID }

func (e *NotFoundError) Error() string { return "session " + e.ID.String() + " not found" }

// Is matches ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }
