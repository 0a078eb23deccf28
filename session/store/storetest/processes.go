package storetest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// Processes checks that eight appenders in two processes on one session of the
// store at dsn share no index and leave no hole: n appends in all.
func Processes(t *testing.T, dsn string, n int) {
	s := reach(t, dsn)
	id := uuid.New()
	s.must(s.store.Put(s.ctx, store.Session{ID: id}), "Put stores a record")
	children := []*process{spawn(t, "together", dsn, id, n/8), spawn(t, "together", dsn, id, n/8)}
	var all []uint64
	for _, p := range children {
		p.begin(t)
	}
	for _, p := range children {
		for index, ok := p.next(t); ok; index, ok = p.next(t) {
			all = append(all, index)
		}
		if err := p.cmd.Wait(); err != nil {
			t.Fatalf("an appending process failed: %v\n%s", err, p.stderr)
		}
	}
	slices.Sort(all)
	s.equal(len(all), n/8*8, "every append is answered")
	for i, index := range all {
		if index != uint64(i) {
			t.Fatalf("appenders in two processes never share an index and never leave a hole: %d is returned where %d is due", index, i)
		}
	}
	next := uint64(0)
	for e, err := range s.store.Transcript(s.ctx, id, nil) {
		s.must(err, "Transcript streams without an error")
		s.equal(e.Index, next, "the transcript is dense")
		next++
	}
	s.equal(next, uint64(len(all)), "the transcript holds what was answered")
}

// Crowd checks that eight processes with a session each, n appends in all, do not
// fail each other, nor a reader beside them.
func Crowd(t *testing.T, dsn string, n int) {
	const processes = 8
	s := reach(t, dsn)
	children := make([]*process, processes)
	ids := make([]uuid.UUID, processes)
	for i := range children {
		ids[i] = uuid.New()
		s.must(s.store.Put(s.ctx, store.Session{ID: ids[i]}), "Put stores a record")
		children[i] = spawn(t, "together", dsn, ids[i], n/processes/4)
	}
	for _, p := range children {
		p.begin(t)
	}
	for i, p := range children {
		for _, ok := p.next(t); ok; _, ok = p.next(t) {
			if _, err := s.store.Head(s.ctx, ids[i]); err != nil {
				t.Fatalf("a reader is not disturbed by writers: %v", err)
			}
		}
		if err := p.cmd.Wait(); err != nil {
			t.Fatalf("an appending process failed: %v\n%s", err, p.stderr)
		}
		s.head(ids[i], uint64(n/processes/4*4))
	}
	s.equal(len(s.listed(ids...)), processes, "each process has its session")
}

// Kills checks that what an append acknowledged is there after a crash: a child
// appends and prints each index, and is killed with SIGKILL after a few of them,
// as often as kills says. Before the child, crash ends and starts again whatever
// else must not lose a thing, such as a server; nil is nothing.
func Kills(t *testing.T, dsn string, kills int, crash func() error) {
	s := reach(t, dsn)
	id := uuid.New()
	s.must(s.store.Put(s.ctx, store.Session{ID: id}), "Put stores a record")
	s.must(s.store.Close(), "Close releases the store")
	random := rand.New(rand.NewPCG(1, 2))
	var checked, answered uint64 // events, and the highest acknowledged index plus one
	for range kills {
		p := spawn(t, "crash", dsn, id, 0)
		p.begin(t)
		for range 1 + random.IntN(12) {
			index, ok := p.next(t)
			if !ok {
				t.Fatalf("an appending process ended by itself: %v\n%s", p.cmd.Wait(), p.stderr)
			}
			answered = max(answered, index+1)
		}
		if crash != nil {
			s.must(crash(), "the server is killed and starts again")
		}
		s.must(p.cmd.Process.Kill(), "the child is killed")
		for index, ok := p.next(t); ok; index, ok = p.next(t) {
			answered = max(answered, index+1)
		}
		_ = p.cmd.Wait() // it was killed
		checked = checkAfterCrash(t, dsn, id, checked, answered)
	}
	t.Logf("%d kills, %d events, none that was acknowledged is missing", kills, checked)
}

// checkAfterCrash reads what is new since the last check and returns the head.
func checkAfterCrash(t *testing.T, dsn string, id uuid.UUID, from, answered uint64) uint64 {
	t.Helper()
	s := reach(t, dsn)
	defer func() { s.must(s.store.Close(), "Close releases the store") }()
	var after *uint64
	if from > 0 {
		after = new(from - 1)
	}
	var places []string
	for e, err := range s.store.Transcript(s.ctx, id, after) {
		s.must(err, "Transcript streams without an error")
		s.equal(e.Index, from+uint64(len(places)), "the transcript is dense after a crash")
		place, err := unseal(e.Payload)
		s.must(err, "a torn write is never visible")
		places = append(places, place)
	}
	head := from + uint64(len(places))
	if head < answered {
		t.Fatalf("an append that was acknowledged is durable: %d events are there, index %d was acknowledged", head, answered-1)
	}
	for len(places) > 0 { // each child began anew, and was killed between any two writes
		switch {
		case places[0] == "one":
			places = places[1:]
		case len(places) >= 3 && slices.Equal(places[:3], []string{"a", "b", "c"}):
			places = places[3:]
		default:
			t.Fatalf("a batch is there as a whole or not at all, got %v", places[:min(3, len(places))])
		}
	}
	s.head(id, head)
	return head
}

// reach opens the store at dsn for a check; it is closed by the end of the test.
func reach(t *testing.T, dsn string) *scope {
	t.Helper()
	st, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = st.Close() }) // once more is harmless
	return (&suite{store: st}).in(t)
}
