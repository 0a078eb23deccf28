package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
)

func recordFields(s *scope) {
	full := Record(101, 0)
	full.Account, full.Title = new(""), new("line\nline\u2028 \"quoted\" \\ \x1b[0m </x> é 漢字 🙂")
	full.MCPTokenDigest = new(strings.Repeat("0", 64))
	full.Turns = math.MaxUint64
	full.Commands = []string{"go test ./...", "", "a\tb"}
	full.CreatedAt = time.Date(1969, 7, 20, 20, 17, 40, 1000, time.UTC)
	full.UpdatedAt = time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	bare := store.Session{ID: ID(102)}
	for _, want := range []store.Session{full, bare} {
		s.put(want)
		got, _, err := s.store.Get(s.ctx, want.ID)
		s.must(err, "Get answers")
		s.equal(got, want, "every field reads back verbatim, nil and empty kept apart")
		s.equal(got.CreatedAt == want.CreatedAt && got.UpdatedAt == want.UpdatedAt, true, "instants are equal by ==") //nolint:staticcheck // that is the promise
		s.equal(s.listed(want.ID), []store.Session{want}, "List reads as Get does")
	}

	fine := Record(103, 0)
	fine.CreatedAt = time.Date(2026, 8, 29, 8, 0, 0, 123456789, time.FixedZone("CEST", 7200))
	s.put(fine)
	got, _, err := s.store.Get(s.ctx, fine.ID)
	s.must(err, "Get answers")
	s.equal(got.CreatedAt == time.Date(2026, 8, 29, 6, 0, 0, 123456000, time.UTC), true, //nolint:staticcheck // == is the promise
		"an instant reads back in UTC, cut to microseconds")
}

func recordRefusals(s *scope) {
	for name, change := range map[string]func(*store.Session){
		"subject": func(r *store.Session) { r.Subject = "\xff" },
		"title":   func(r *store.Session) { r.Title = new("a\x00b") },
		"command": func(r *store.Session) { r.Commands = []string{"ok", "\xc3("} },
	} {
		r := Record(104, 0)
		change(&r)
		if err := s.store.Put(s.ctx, r); err == nil || !strings.Contains(err.Error(), name) {
			s.Fatalf("text that is not kept verbatim is refused naming %s, got %v", name, err)
		}
	}
	_, ok, err := s.store.Get(s.ctx, ID(104))
	s.must(err, "Get answers")
	s.equal(ok, false, "a refused record is not stored")
	s.put(Record(104, 0))
	if _, err := s.store.Append(s.ctx, ID(104), At(0), store.Payload{ContentType: "\xff"}); err == nil {
		s.Fatal("a content type that is not kept verbatim is refused")
	}
	s.head(ID(104), 0)
}

// payloads are what tends to tear a transcript that is kept as text.
func payloads() []store.Payload {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	big := bytes.Repeat(every, 10<<20/256)
	var ps []store.Payload
	for _, data := range [][]byte{
		{},
		[]byte("\n"), []byte("a\nb\r\nc\r"), []byte("\x00"), []byte("a\x00b\x00"),
		[]byte("\u2028\u2029"), []byte("\xff\xfe\xc3("), []byte("\x1b[31m</x>"), []byte(`{"i":4,"p":"abc`),
		[]byte("'; DROP TABLE events; --"), []byte(`\x00 \\ \n`), every, big,
	} {
		ps = append(ps, store.Payload{ContentType: "application/octet-stream", Data: data})
	}
	random := rand.New(rand.NewPCG(3, 4))
	parts := []string{"\n", "\r\n", "\x00", "\u2028", "\xff", "\xed\xa0\x80", "{", "\"", "\\", "'", "é", "🙂", "\x1b", "plain "}
	for range 200 {
		var data []byte
		for range 1 + random.IntN(40) {
			data = append(data, parts[random.IntN(len(parts))]...)
		}
		ps = append(ps, store.Payload{ContentType: "application/octet-stream", Data: data})
	}
	return append(ps, store.Payload{ContentType: "", Data: []byte{}}, store.Payload{ContentType: "text/plain; charset=é", Data: []byte("x")})
}

func payloadBytes(s *scope) {
	s.put(Record(111, 0), Record(112, 0))
	ps := payloads()
	for _, p := range ps {
		_, err := s.store.Append(s.ctx, ID(111), At(1), p)
		s.must(err, "Append stores any bytes")
	}
	_, err := s.store.AppendAll(s.ctx, ID(112), At(1), ps)
	s.must(err, "AppendAll stores any bytes")
	for _, id := range []uint64{111, 112} {
		events := s.read(ID(id))
		s.equal(len(events), len(ps), "each payload is one event")
		for i, e := range events {
			if e.Index != uint64(i) || e.At != At(1) || e.Payload.ContentType != ps[i].ContentType ||
				e.Payload.Data == nil || !bytes.Equal(e.Payload.Data, ps[i].Data) {
				s.Fatalf("payload %d of %d bytes reads back verbatim, got %d bytes, type %q",
					i, len(ps[i].Data), len(e.Payload.Data), e.Payload.ContentType)
			}
		}
	}
	_, err = s.store.AppendAll(s.ctx, ID(112), At(1), []store.Payload{{}})
	s.must(err, "Append stores nothing as an event")
	last := s.read(ID(112), uint64(len(ps)-1))
	s.equal(last[0].Payload, store.Payload{Data: []byte{}}, "no bytes read back as empty, not nil")
	mine := []byte("before")
	_, err = s.store.Append(s.ctx, ID(111), At(1), store.Payload{Data: mine})
	s.must(err, "Append stores an event")
	copy(mine, "after!")
	got := s.read(ID(111), uint64(len(ps)-1))
	s.equal(string(got[0].Payload.Data), "before", "the store keeps no caller's buffer")
}

func appendAll(s *scope) {
	id := ID(121)
	s.put(Record(121, 0))
	first, err := s.store.AppendAll(s.ctx, id, At(0), nil)
	s.must(err, "AppendAll of nothing")
	s.equal(first, uint64(0), "AppendAll of nothing answers the head")
	s.append(id, 0, "one")
	batch := []store.Payload{JSON("a"), JSON("b"), JSON("c")}
	for _, want := range []uint64{1, 4} {
		first, err = s.store.AppendAll(s.ctx, id, At(7), batch)
		s.must(err, "AppendAll stores a batch")
		s.equal(first, want, "AppendAll answers the first of consecutive indices")
	}
	first, err = s.store.AppendAll(s.ctx, id, At(0), []store.Payload{})
	s.must(err, "AppendAll of nothing")
	s.equal(first, uint64(7), "AppendAll of nothing answers the head")
	events := s.read(id)
	s.indices(events, 0, 1, 2, 3, 4, 5, 6)
	s.equal(events[6], store.Event{Index: 6, At: At(7), Payload: JSON("c")}, "a batch keeps its order")

	bad := []store.Payload{JSON("d"), {ContentType: "\xff"}}
	if _, err := s.store.AppendAll(s.ctx, id, At(0), bad); err == nil {
		s.Fatal("a batch with a payload that cannot be kept is refused")
	}
	s.head(id, 7)

	var wg sync.WaitGroup
	failures := make([]error, 6)
	for i := range failures {
		wg.Go(func() { _, failures[i] = s.store.AppendAll(s.ctx, id, At(i), batch) })
	}
	wg.Wait()
	s.must(errors.Join(failures...), "concurrent batches succeed")
	for i, e := range s.read(id, 6) {
		s.equal(string(e.Payload.Data), string(batch[i%3].Data), "batches never mix")
	}
	s.head(id, 25)
}

func appendWhileReading(s *scope) {
	id := ID(131)
	s.put(Record(131, 0))
	for i := range uint64(3) {
		s.append(id, i, "event")
	}
	for e, err := range s.store.Transcript(s.ctx, id, nil) {
		s.must(err, "Transcript streams without an error")
		if e.Index == 1 {
			s.append(id, 3, "while reading")
			s.put(Record(131, 5))
			break
		}
	}
	s.indices(s.read(id), 0, 1, 2, 3)
}

func longTranscript(s *scope) {
	const n = 5000
	id := ID(141)
	s.put(Record(141, 0))
	ps := make([]store.Payload, n)
	for i := range ps {
		ps[i] = store.Payload{ContentType: "text/plain", Data: fmt.Append(nil, i)}
	}
	ps[1500].Data = bytes.Repeat([]byte("x"), 3<<20)
	_, err := s.store.AppendAll(s.ctx, id, At(0), ps)
	s.must(err, "AppendAll stores a large batch")
	var next uint64
	for e, err := range s.store.Transcript(s.ctx, id, nil) {
		s.must(err, "Transcript streams without an error")
		if e.Index != next || !bytes.Equal(e.Payload.Data, ps[next].Data) {
			s.Fatalf("a transcript streams in order without a hole: index %d where %d is due", e.Index, next)
		}
		next++
	}
	s.equal(next, uint64(n), "a transcript ends at its head")
	s.equal(len(s.read(id, n-3)), 2, "after is exclusive anywhere")
}

func snapshots(s *scope) {
	id := ID(151)
	kept := func(want ...store.Snapshot) {
		s.Helper()
		got, err := s.store.Snapshots(s.ctx, id)
		s.must(err, "Snapshots answers")
		s.equal(got, want, "the newest two snapshots are kept, newest first")
	}
	put := func(at uint64, state string) {
		s.Helper()
		s.must(s.store.PutSnapshot(s.ctx, id, at, []byte(state)), "PutSnapshot stores a state")
	}
	kept()
	s.put(Record(151, 0))
	kept()
	one, two, three := store.Snapshot{At: 3, State: []byte("one")}, store.Snapshot{At: 5, State: []byte("two\x00\xff")}, store.Snapshot{At: 9, State: []byte("three")}
	put(3, "one")
	kept(one)
	put(5, "two\x00\xff")
	kept(two, one)
	put(9, "three")
	kept(three, two)
	put(4, "older than both")
	kept(three, two)
	put(9, "again")
	three.State = []byte("again")
	kept(three, two)
	s.head(id, 0)
}

func deletion(s *scope) {
	id, other := ID(161), ID(162)
	s.must(s.store.Delete(s.ctx, id), "Delete of an absent session is no error")
	s.put(Record(161, 0), Record(162, 0))
	for _, of := range [][16]byte{id, other} {
		s.append(of, 0, "event")
		s.must(s.store.PutSnapshot(s.ctx, of, 0, []byte("state")), "PutSnapshot stores a state")
	}
	_, err := s.store.Acquire(s.ctx, id, "owner", time.Hour)
	s.must(err, "Acquire takes a free lease")
	s.must(s.store.Delete(s.ctx, id), "Delete removes a session")
	_, ok, err := s.store.Get(s.ctx, id)
	s.must(err, "Get answers")
	s.equal(ok, false, "Delete removes the record")
	s.equal(len(s.listed(id, other)), 1, "Delete removes one record")
	s.indices(s.read(id))
	s.head(id, 0)
	if _, err := s.store.Append(s.ctx, id, At(0), JSON("lost")); !errors.Is(err, store.ErrNotFound) {
		s.Fatalf("a deleted session is unknown to Append, got %v", err)
	}
	s.put(Record(161, 0))
	got, err := s.store.Snapshots(s.ctx, id)
	s.must(err, "Snapshots answers")
	s.equal(len(got), 0, "Delete removes the snapshots")
	_, err = s.store.Acquire(s.ctx, id, "someone else", time.Hour)
	s.must(err, "Delete removes the lease")
	s.append(id, 0, "anew")
	s.indices(s.read(other), 0)
	got, err = s.store.Snapshots(s.ctx, other)
	s.must(err, "Snapshots answers")
	s.equal(len(got), 1, "Delete leaves other sessions alone")
	s.must(s.store.Delete(s.ctx, id), "Delete removes a session")
}

func cancelled(s *scope) {
	id := ID(171)
	s.put(Record(171, 0))
	s.append(id, 0, "event")
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	var failed []error
	add := func(err error) { failed = append(failed, err) }
	_, err := s.store.Append(ctx, id, At(0), JSON("lost"))
	add(err)
	_, err = s.store.AppendAll(ctx, id, At(0), []store.Payload{JSON("lost"), JSON("lost")})
	add(err)
	add(s.store.Put(ctx, Record(172, 0)))
	_, _, err = s.store.Get(ctx, id)
	add(err)
	_, err = s.store.List(ctx)
	add(err)
	_, err = s.store.Head(ctx, id)
	add(err)
	add(s.store.Delete(ctx, id))
	add(s.store.SetDefaultHarness(ctx, "cancelled", "lost"))
	_, _, err = s.store.DefaultHarness(ctx, "cancelled")
	add(err)
	add(s.store.PutSnapshot(ctx, id, 0, nil))
	_, err = s.store.Snapshots(ctx, id)
	add(err)
	_, err = s.store.Acquire(ctx, id, "owner", time.Hour)
	add(err)
	for _, err := range s.store.Transcript(ctx, id, nil) {
		add(err)
		break
	}
	s.equal(len(failed), 13, "a cancelled context is an error of every call")
	for i, err := range failed {
		if !errors.Is(err, context.Canceled) {
			s.Fatalf("a cancelled context is the error of call %d, got %v", i, err)
		}
	}
	s.append(id, 1, "event")
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	err = nil
	for e, failure := range s.store.Transcript(ctx, id, nil) {
		if failure == nil && (err != nil || e.Index != 0) {
			s.Fatalf("a transcript ends with its context's error, and went on to event %d", e.Index)
		}
		err = failure
		stop()
	}
	if !errors.Is(err, context.Canceled) {
		s.Fatalf("a transcript whose context ends between two events ends with its error, got %v", err)
	}
	s.indices(s.read(id), 0, 1)
	s.equal(len(s.listed(ID(171), ID(172))), 1, "a cancelled call writes nothing")
	_, err = s.store.Acquire(s.ctx, id, "owner", time.Hour)
	s.must(err, "a cancelled Acquire takes nothing")
}

func cancelledMidway(s *scope) {
	id := ID(181)
	s.put(Record(181, 0))
	batch := []store.Payload{JSON("a"), JSON("b"), JSON("c")}
	var answered uint64
	for round := range 20 {
		ctx, cancel := context.WithCancel(s.ctx)
		begun, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			<-begun
			cancel()
		}()
		for i := 0; ; i++ {
			if i == round%4 {
				close(begun)
			}
			if i == round%4+3 {
				<-ended // the call at hand may have met the end, the next one does
			}
			if _, err := s.store.AppendAll(ctx, id, At(0), batch); err != nil {
				if !errors.Is(err, context.Canceled) {
					s.Fatalf("a cancelled call answers its context's error, got %v", err)
				}
				break
			}
			answered++
		}
		<-ended
	}
	events := s.read(id)
	for i, e := range events {
		if e.Index != uint64(i) || !bytes.Equal(e.Payload.Data, batch[i%3].Data) {
			s.Fatalf("a cancelled append leaves the whole of it or nothing: event %d is %d %s", i, e.Index, e.Payload.Data)
		}
	}
	if got := uint64(len(events)); got%3 != 0 || got < 3*answered {
		s.Fatalf("a cancelled append leaves the whole of it or nothing: %d events after %d answered batches of 3", got, answered)
	}
	s.append(id, uint64(len(events)), "after")
}

func twoHandles(s *scope) {
	other := s.another()
	defer func() { s.must(other.Close(), "Close releases the store") }()
	id := ID(191)
	s.put(Record(191, 0))
	s.append(id, 0, "first")
	s.together(id, 4, 25, func(appender int) store.Store {
		return []store.Store{s.store, other}[appender%2]
	})
	var got []store.Event
	for e, err := range other.Transcript(s.ctx, id, nil) {
		s.must(err, "Transcript streams without an error")
		got = append(got, e)
	}
	s.equal(got, s.read(id), "two handles read the same transcript")
}
