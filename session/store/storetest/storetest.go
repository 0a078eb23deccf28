// Package storetest is the conformance suite of stores: every backend passes it
// unchanged.
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Store { … })
//	}
package storetest

import (
	"context"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store"
)

// Open is how the suite is given the backend: a function that opens a store, in
// one of the forms that such a function has in practice. One without an error
// fails the test by itself.
type Open interface {
	func(*testing.T) store.Store | func(testing.TB) store.Store |
		func(context.Context) (store.Store, error) | func() (store.Store, error) | func() store.Store
}

// Run checks all that the contract promises, in a fixed order on one store, which
// open is asked for once and which Run closes. It need not be empty.
//
// A store that also implements [store.Reopener] must survive being closed and
// reopened; one that implements [store.RawWriter] must list a record that it
// cannot decode. Without them those scenarios are skipped, by name.
func Run[F Open](t *testing.T, open F) {
	t.Helper()
	s := &suite{store: call(t, open)}
	t.Cleanup(func() {
		if err := s.store.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) { sc.check(s.in(t)) })
	}
}

func call(t *testing.T, open any) store.Store {
	t.Helper()
	var s store.Store
	var err error
	switch open := open.(type) {
	case func(*testing.T) store.Store:
		s = open(t)
	case func(testing.TB) store.Store:
		s = open(t)
	case func(context.Context) (store.Store, error):
		s, err = open(t.Context())
	case func() (store.Store, error):
		s, err = open()
	case func() store.Store:
		s = open()
	}
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	if s == nil {
		t.Fatal("open returned no store")
	}
	return s
}

// scenarios run in this order on one store; the nine first ones are the core of
// the contract. Each uses ids of its own, and what it leaves stays for the others.
var scenarios = []struct {
	name  string
	check func(*scope)
}{
	{"record_round_trip", recordRoundTrip},
	{"listing_order", listingOrder},
	{"dense_from_zero", denseFromZero},
	{"interleaved_appenders", interleavedAppenders},
	{"after_excludes", afterExcludes},
	{"append_to_unknown_refuses_by_name", appendToUnknown},
	{"poisoned_row_is_listed", poisonedRow},
	{"last_pick_per_subject", lastPick},
	{"restart_survival", restartSurvival},

	{"record_fields_verbatim", recordFields},
	{"record_refuses_text_that_cannot_be_kept", recordRefusals},
	{"payload_bytes_verbatim", payloadBytes},
	{"append_all_is_one_write", appendAll},
	{"append_while_reading", appendWhileReading},
	{"long_transcript_in_order", longTranscript},
	{"snapshots_keep_newest_two", snapshots},
	{"delete_removes_everything", deletion},
	{"lease_has_one_owner", leaseOwner},
	{"lease_is_taken_over_when_it_ends", leaseTakeover},
	{"lease_lost_stops_appends", leaseFence},
	{"cancelled_context_writes_nothing", cancelled},
	{"cancelled_while_appending_leaves_no_hole", cancelledMidway},
	{"two_handles_share_one_transcript", twoHandles},
}
