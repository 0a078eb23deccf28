package storetest

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/session/store"
)

func recordRoundTrip(s *scope) {
	rec := Record(1, 0)
	rec.Account, rec.Title = new("account-1"), new("a title")
	rec.MCPTokenDigest = new(strings.Repeat("a", 64))
	s.put(rec)
	got, ok, err := s.store.Get(s.ctx, rec.ID)
	s.must(err, "Get answers")
	s.equal(ok, true, "a record that was put is there")
	s.equal(got, rec, "a record reads back verbatim")

	_, ok, err = s.store.Get(s.ctx, ID(99))
	s.must(err, "an absent record is no error")
	s.equal(ok, false, "an absent record is absent, never made up")

	rec.Turns, rec.Title, rec.UpdatedAt = 3, nil, At(9)
	s.put(rec)
	got, _, err = s.store.Get(s.ctx, rec.ID)
	s.must(err, "Get answers")
	s.equal(got, rec, "a second Put replaces the record whole")
	s.equal(len(s.listed(rec.ID)), 1, "a second Put is not a second record")
}

func listingOrder(s *scope) {
	s.put(Record(21, 300), Record(23, 100), Record(22, 100))
	var order []uint64
	for _, r := range s.listed(ID(21), ID(22), ID(23)) {
		order = append(order, uint64(r.ID[15]))
	}
	s.equal(order, []uint64{22, 23, 21}, "List is ordered by CreatedAt, then ID, whatever the insertion order")
}

func denseFromZero(s *scope) {
	id := ID(31)
	s.put(Record(31, 0))
	s.head(id, 0)
	s.equal(len(s.read(id)), 0, "an unwritten transcript is empty")
	for i := range uint64(5) {
		s.append(id, i, "event")
	}
	s.head(id, 5)
	events := s.read(id)
	s.indices(events, 0, 1, 2, 3, 4)
	s.equal(events[3], store.Event{Index: 3, At: At(3), Payload: JSON("event")}, "an event reads back verbatim")
	rec, _, err := s.store.Get(s.ctx, id)
	s.must(err, "Get answers")
	s.equal(rec, Record(31, 0), "Append leaves the record as it was put")
}

func interleavedAppenders(s *scope) {
	id := ID(41)
	s.put(Record(41, 0))
	s.append(id, 0, "first")
	const appenders, each = 8, 25
	s.together(id, appenders, each, func(int) store.Store { return s.store })
}

// together has several goroutines append to a transcript that holds one event,
// and checks that they shared no index and left no hole.
func (s *scope) together(id [16]byte, appenders, each int, of func(appender int) store.Store) {
	s.Helper()
	answers := make([][]uint64, appenders)
	failures := make([]error, appenders)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for a := range appenders {
		wg.Go(func() {
			<-start
			for range each {
				index, err := of(a).Append(s.ctx, id, At(a), JSON("together"))
				if err != nil {
					failures[a] = err
					return
				}
				answers[a] = append(answers[a], index)
			}
		})
	}
	close(start)
	wg.Wait()
	s.must(errors.Join(failures...), "concurrent appends succeed")
	var all, want []uint64
	for i := range uint64(appenders * each) {
		want = append(want, i+1)
	}
	for a, got := range answers {
		if !slices.IsSorted(got) {
			s.Fatalf("the indices of one appender ascend, and appender %d got %v", a, got)
		}
		all = append(all, got...)
	}
	slices.Sort(all)
	s.equal(all, want, "the store assigns the index: concurrent appenders never share one and never leave a hole")
	s.indices(s.read(id), append([]uint64{0}, want...)...)
	s.head(id, uint64(len(want)+1))
}

func afterExcludes(s *scope) {
	id := ID(51)
	s.put(Record(51, 0))
	for i := range uint64(4) {
		s.append(id, i, "event")
	}
	s.indices(s.read(id, 1), 2, 3)
	s.indices(s.read(id, 0), 1, 2, 3)
	s.indices(s.read(id, 3))
	s.indices(s.read(id, 4))
	s.indices(s.read(id, 1<<63))
	s.indices(s.read(id, 1<<64-1))
	s.indices(s.read(id), 0, 1, 2, 3)
	s.indices(s.read(ID(52)))
	s.head(ID(52), 0)
}

func appendToUnknown(s *scope) {
	id := ID(61)
	refused := func(err error, what string) {
		s.Helper()
		var unknown *store.NotFoundError
		if !errors.Is(err, store.ErrNotFound) || !errors.As(err, &unknown) {
			s.Fatalf("%s to an unknown session is refused with ErrNotFound, got %v", what, err)
		}
		s.equal(unknown.ID, id, "the refusal names the session")
		if !strings.Contains(err.Error(), id.String()) {
			s.Fatalf("the refusal's text names the session, got %q", err)
		}
	}
	_, err := s.store.Append(s.ctx, id, At(0), JSON("lost"))
	refused(err, "Append")
	_, err = s.store.AppendAll(s.ctx, id, At(0), []store.Payload{JSON("lost"), JSON("lost")})
	refused(err, "AppendAll")
	_, err = s.store.AppendAll(s.ctx, id, At(0), nil)
	refused(err, "AppendAll of nothing")
	refused(s.store.PutSnapshot(s.ctx, id, 0, []byte("lost")), "PutSnapshot")
	_, ok, err := s.store.Get(s.ctx, id)
	s.must(err, "Get answers")
	s.equal(ok, false, "a refused append creates nothing")
	s.equal(len(s.listed(id)), 0, "a refused append creates nothing")
	s.indices(s.read(id))
	s.put(Record(61, 0))
	s.append(id, 0, "kept")
}

func poisonedRow(s *scope) {
	raw, ok := s.store.(store.RawWriter)
	if !ok {
		s.Skip("the store is no store.RawWriter: its records cannot be poisoned")
	}
	id := ID(71)
	s.must(raw.PutRaw(s.ctx, id.String(), []byte("{ this is not a session record")), "PutRaw stores bytes unread")
	l, err := s.store.List(s.ctx)
	s.must(err, "one undecodable record never fails the listing")
	i := slices.IndexFunc(l.Undecodable, func(u store.Undecodable) bool { return u.ID == id.String() })
	if i < 0 {
		s.Fatalf("a poisoned row is listed under Undecodable with its raw id, got %v", l.Undecodable)
	}
	if l.Undecodable[i].Error == "" {
		s.Fatal("a poisoned row is listed with the decoding error")
	}
	if slices.ContainsFunc(l.Sessions, func(r store.Session) bool { return r.ID == id }) {
		s.Fatal("a poisoned row is never also listed as a record")
	}
	if _, _, err := s.store.Get(s.ctx, id); err == nil {
		s.Fatal("Get of a poisoned row is an error: it is not absent and cannot be read")
	}
	s.append(id, 0, "still here")
	s.append(id, 1, "still here")
	s.indices(s.read(id), 0, 1)

	s.must(raw.PutRaw(s.ctx, "not a uuid", []byte("{}")), "PutRaw stores bytes under any id")
	l, err = s.store.List(s.ctx)
	s.must(err, "one undecodable record never fails the listing")
	if !slices.ContainsFunc(l.Undecodable, func(u store.Undecodable) bool { return u.ID == "not a uuid" }) {
		s.Fatalf("a row whose id is no UUID is listed under Undecodable, got %v", l.Undecodable)
	}
}

func lastPick(s *scope) {
	pick := func(subject, want string) {
		s.Helper()
		got, ok, err := s.store.DefaultHarness(s.ctx, subject)
		s.must(err, "DefaultHarness answers")
		s.equal(got, want, "the last pick of "+subject)
		s.equal(ok, want != "", "whether "+subject+" has picked")
	}
	set := func(subject, harness string) {
		s.Helper()
		s.must(s.store.SetDefaultHarness(s.ctx, subject, harness), "SetDefaultHarness stores a pick")
	}
	pick("ada", "")
	set("ada", "claude")
	set("bob", "codex")
	pick("ada", "claude")
	pick("bob", "codex")
	set("ada", "gemini")
	pick("ada", "gemini")
	pick("bob", "codex")
	pick("nobody", "")
}

func restartSurvival(s *scope) {
	if store.Forgets(s.store) {
		s.Skip("the store is no store.Reopener: it forgets what it holds when it is closed")
	}
	id, rec := ID(81), Record(81, 0)
	s.put(rec)
	s.append(id, 0, "before")
	s.must(s.store.SetDefaultHarness(s.ctx, "ada", "kept"), "SetDefaultHarness stores a pick")
	s.must(s.store.PutSnapshot(s.ctx, id, 1, []byte("state")), "PutSnapshot stores a state")
	before, err := s.store.List(s.ctx)
	s.must(err, "List answers")

	s.must(s.store.Close(), "Close releases the store")
	s.store = s.another()

	got, ok, err := s.store.Get(s.ctx, id)
	s.must(err, "Get answers after a restart")
	s.equal(ok, true, "a record survives a restart")
	s.equal(got, rec, "a record survives a restart verbatim")
	s.equal(s.read(id), []store.Event{{At: At(0), Payload: JSON("before")}}, "a transcript survives a restart")
	pick, _, err := s.store.DefaultHarness(s.ctx, "ada")
	s.must(err, "DefaultHarness answers after a restart")
	s.equal(pick, "kept", "the last pick survives a restart")
	states, err := s.store.Snapshots(s.ctx, id)
	s.must(err, "Snapshots answers after a restart")
	s.equal(states, []store.Snapshot{{At: 1, State: []byte("state")}}, "a snapshot survives a restart")
	after, err := s.store.List(s.ctx)
	s.must(err, "List answers after a restart")
	s.equal(after, before, "the listing survives a restart")
	s.append(id, 1, "after")
}
