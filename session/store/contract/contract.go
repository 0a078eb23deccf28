// Package contract is what a store of sessions promises: the interface, the
// values that go through it, its errors, and the encoding of records that all
// backends share. Callers use it through package store, which aliases every name
// here and opens backends; only backends import it by its own name, because store
// imports them.
package contract

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"
)

// Session is the record of one session. Put replaces it whole. Instants are UTC
// and whole microseconds: a finer one is cut, another zone reads back as UTC, and
// everything else reads back as it was given, nil or empty included. Its strings
// are UTF-8 without NUL; Put refuses others and names the field.
type Session struct {
	ID             uuid.UUID
	Subject        string // the owner, e.g. "operator"
	Harness        string
	Root           string // the workspace folder, an absolute path on the machine that made the session
	Account        *string
	Title          *string
	CreatedAt      time.Time // UTC, microseconds
	UpdatedAt      time.Time // UTC, microseconds
	Turns          uint64
	MCPTokenDigest *string
	Commands       []string
}

// Payload is an event's content; the store keeps its bytes, whatever they are, and
// never reads them. No bytes read back as empty, not nil.
type Payload struct {
	ContentType string // e.g. "application/json"; UTF-8 without NUL
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

// Lease says that one owner drives a session. It ends by Release or by not being
// renewed within its time to live. Renew it every third of that time.
type Lease interface {
	// Renew counts the time to live anew from now. A lease that ran out but that
	// nobody took since is renewed; one that is lost is ErrLeased, and whoever held
	// it must stop driving the session.
	Renew(context.Context) error
	// Release gives the lease up; a lease that is lost already is no error.
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
	// Get returns ok=false for an absent record.
	Get(ctx context.Context, id uuid.UUID) (s Session, ok bool, err error)
	// List is ordered by CreatedAt, then ID.
	List(ctx context.Context) (Listing, error)
	// Delete removes record, transcript, snapshots and lease; an absent session is no error.
	Delete(ctx context.Context, id uuid.UUID) error
	// Append assigns the next index. An unknown session is ErrNotFound. An event
	// whose index it returned is durable. Through a handle that acquired the session's lease and
	// lost it to another owner, it is ErrLeased: a driver that slept past its lease
	// cannot write into the transcript of the next one.
	Append(ctx context.Context, id uuid.UUID, at time.Time, p Payload) (index uint64, err error)
	// AppendAll assigns consecutive indices in one transaction and returns the first.
	// Without payloads it writes nothing and returns the head. It refuses like Append.
	AppendAll(ctx context.Context, id uuid.UUID, at time.Time, ps []Payload) (first uint64, err error)
	// Head is the next index: 0 for an unwritten or unknown session.
	Head(ctx context.Context, id uuid.UUID) (uint64, error)
	// Transcript streams events in order; after is exclusive, nil is from the start.
	// It ends at the head that it meets, or with an error, which is the last pair.
	// The store may be used, and the transcript appended to, while it is ranged over.
	Transcript(ctx context.Context, id uuid.UUID, after *uint64) iter.Seq2[Event, error]
	// SetDefaultHarness keeps a subject's last pick.
	SetDefaultHarness(ctx context.Context, subject, harness string) error
	// DefaultHarness returns ok=false for a subject that never picked.
	DefaultHarness(ctx context.Context, subject string) (harness string, ok bool, err error)
	// PutSnapshot keeps the newest two of a session, by at; one at the same index is
	// replaced. An unknown session is ErrNotFound.
	PutSnapshot(ctx context.Context, id uuid.UUID, at uint64, state []byte) error
	// Snapshots returns the kept ones, newest first.
	Snapshots(ctx context.Context, id uuid.UUID) ([]Snapshot, error)
	// Acquire takes the lease on a session for ttl, which is above zero, or fails with
	// a *LeasedError naming the holder. The holder itself gets a new lease, which ends
	// its old one. The session's record need not exist.
	Acquire(ctx context.Context, id uuid.UUID, owner string, ttl time.Duration) (Lease, error)
	// Close releases the backend. Nothing may be called afterwards.
	Close() error
}

// Reopener is what a backend implements whose sessions outlive their handle.
type Reopener interface {
	// Reopen opens another handle to the same place. The receiver may be closed.
	Reopen(ctx context.Context) (Store, error)
}

// RawWriter is what a backend implements to be repaired, and to be tested with
// records that cannot be decoded.
type RawWriter interface {
	// PutRaw creates or replaces the stored bytes of a record unread.
	PutRaw(ctx context.Context, id string, record []byte) error
}
