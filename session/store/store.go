// Package store keeps sessions and their transcripts: the one way to open a
// backend by DSN, and the names of the contract that every backend fulfils. It
// never parses a payload.
//
// The contract is written down in package contract, whose names are aliased here.
// Backends live in memory, sqlite and postgres; storetest holds the conformance
// suite that all of them pass unchanged.
package store

import "github.com/agent-lsp/agent-lsp/session/store/contract"

// The contract's values; see package contract.
type (
	// Store keeps sessions.
	Store = contract.Store
	// Session is the record of one session.
	Session = contract.Session
	// Payload is an event's content.
	Payload = contract.Payload
	// Event is one entry of a transcript.
	Event = contract.Event
	// Snapshot is a core's packed state.
	Snapshot = contract.Snapshot
	// Lease says that one owner drives a session.
	Lease = contract.Lease
	// Listing is what List found.
	Listing = contract.Listing
	// Undecodable is a record that exists but cannot be read.
	Undecodable = contract.Undecodable
	// Reopener is what a backend implements whose sessions outlive their handle.
	Reopener = contract.Reopener
	// RawWriter is what a backend implements to be repaired.
	RawWriter = contract.RawWriter
)

// The contract's errors; see package contract. Any other error than these and a
// context's own is a value that cannot be stored.
type (
	// NotFoundError names the session that a write was refused for.
	NotFoundError = contract.NotFoundError
	// LeasedError says who drives a session.
	LeasedError = contract.LeasedError
	// BackendError is a failure of the place where sessions are kept.
	BackendError = contract.BackendError
)

var (
	// ErrNotFound is matched by a *NotFoundError.
	ErrNotFound = contract.ErrNotFound
	// ErrLeased is matched by a *LeasedError.
	ErrLeased = contract.ErrLeased
)

// Forgets reports whether s loses everything when it is closed, as memory does.
func Forgets(s Store) bool {
	_, keeps := s.(Reopener)
	return !keeps
}
