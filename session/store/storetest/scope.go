package storetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// suite holds the store between scenarios; one of them replaces it.
type suite struct{ store store.Store }

// scope is a suite within one scenario. A failure states the rule that is broken.
type scope struct {
	*testing.T
	*suite
	ctx context.Context
}

func (s *suite) in(t *testing.T) *scope { return &scope{T: t, suite: s, ctx: t.Context()} }

// ID returns the session id of number n, as the suite and its users name sessions.
func ID(n uint64) uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[8:], n)
	return id
}

// At returns the instant some seconds after the suite's base.
func At(seconds int) time.Time {
	return time.Date(2026, 8, 29, 6, 0, seconds, 0, time.UTC)
}

// JSON returns an event's payload that holds text.
func JSON(text string) store.Payload {
	return store.Payload{
		ContentType: "application/json",
		Data:        fmt.Appendf(nil, `{"type":"delta","turn_id":"t-1","text":%q}`, text),
	}
}

// Record returns a record with every optional field absent.
func Record(n uint64, seconds int) store.Session {
	return store.Session{
		ID: ID(n), Subject: "operator", Harness: "claude",
		CreatedAt: At(seconds), UpdatedAt: At(seconds), Commands: []string{},
	}
}

// must fails the scenario when a call that the contract grants fails.
func (s *scope) must(err error, rule string) {
	s.Helper()
	if err != nil {
		s.Fatalf("%s: %v", rule, err)
	}
}

// equal fails the scenario when the rule is broken.
func (s *scope) equal(got, want any, rule string) {
	s.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.Fatalf("%s (-want +got):\n%s", rule, diff)
	}
}

func (s *scope) put(recs ...store.Session) {
	s.Helper()
	for _, r := range recs {
		s.must(s.store.Put(s.ctx, r), "Put stores a record")
	}
}

func (s *scope) append(id uuid.UUID, want uint64, text string) {
	s.Helper()
	got, err := s.store.Append(s.ctx, id, At(int(want)), JSON(text))
	s.must(err, "Append stores an event")
	s.equal(got, want, "Append answers the next index")
}

func (s *scope) head(id uuid.UUID, want uint64) {
	s.Helper()
	got, err := s.store.Head(s.ctx, id)
	s.must(err, "Head answers")
	s.equal(got, want, "Head is the next index")
}

// read returns the transcript, after nil or one index.
func (s *scope) read(id uuid.UUID, after ...uint64) []store.Event {
	s.Helper()
	var from *uint64
	if len(after) > 0 {
		from = &after[0]
	}
	var events []store.Event
	for e, err := range s.store.Transcript(s.ctx, id, from) {
		s.must(err, "Transcript streams without an error")
		events = append(events, e)
	}
	return events
}

func (s *scope) indices(events []store.Event, want ...uint64) {
	s.Helper()
	var got []uint64
	for _, e := range events {
		got = append(got, e.Index)
	}
	if !slices.Equal(got, want) {
		s.Fatalf("the transcript's indices are %v, the rule wants %v", got, want)
	}
}

// listed returns the listed records of these ids; the store holds others.
func (s *scope) listed(ids ...uuid.UUID) []store.Session {
	s.Helper()
	l, err := s.store.List(s.ctx)
	s.must(err, "List answers whatever the records are")
	return slices.DeleteFunc(l.Sessions, func(r store.Session) bool { return !slices.Contains(ids, r.ID) })
}

// another returns a second handle to the same place, or skips the scenario.
func (s *scope) another() store.Store {
	s.Helper()
	r, ok := s.store.(store.Reopener)
	if !ok {
		s.Skip("the store is no store.Reopener: it forgets what it holds when it is closed")
	}
	other, err := r.Reopen(s.ctx)
	s.must(err, "Reopen opens another handle")
	return other
}
