package session

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

const resumeScript = `
version: 1
entries:
  - {when: "1/1", text: Looking., calls: [{read: {path: a.txt}}, {read: {path: ../out}}]}
  - {when: "1/2", text: One.}
  - {when: "2/1", calls: [{read: {path: ../all}}]}
  - {when: "2/2", calls: [{read: {path: a.txt}}]}
  - {when: "2/3", text: Two.}
  - {when: "3/1", text: Three.}
`

// faultyStore is a store with faults on demand.
type faultyStore struct {
	store.Store
	snapshots func([]store.Snapshot) []store.Snapshot
	events    func([]store.Event) []store.Event
	fail      func() error // of appends
}

func (f *faultyStore) Snapshots(ctx context.Context, id uuid.UUID) ([]store.Snapshot, error) {
	s, err := f.Store.Snapshots(ctx, id)
	if f.snapshots != nil {
		s = f.snapshots(s)
	}
	return s, err
}

func (f *faultyStore) Transcript(ctx context.Context, id uuid.UUID, after *uint64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		var all []store.Event
		for e, err := range f.Store.Transcript(ctx, id, after) {
			if err != nil {
				yield(e, err)
				return
			}
			all = append(all, e)
		}
		if f.events != nil {
			all = f.events(all)
		}
		for i, e := range all {
			e.Index = uint64(i) // whatever the fault, it is a whole transcript
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (f *faultyStore) AppendAll(ctx context.Context, id uuid.UUID, at time.Time, ps []store.Payload) (uint64, error) {
	if f.fail != nil {
		if err := f.fail(); err != nil {
			return 0, err
		}
	}
	return f.Store.AppendAll(ctx, id, at, ps)
}

// stored runs two turns and suspends the session.
func stored(t *testing.T) (*rig, *faultyStore, uuid.UUID) {
	t.Helper()
	r := start(t, map[string]string{"a.txt": "a\n"}, resumeScript)
	f := &faultyStore{Store: r.store}
	id, _ := r.run("first")
	r.run("second")
	r.Shutdown()
	next := over(t, r.dir, f, resumeScript)
	return next, f, id
}

func folds(t *testing.T, st store.Store, id uuid.UUID) history.History {
	t.Helper()
	h, err := history.Fold(st.Transcript(t.Context(), id, nil))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestResumeGoesOnFromWhateverSnapshotIsIntact(t *testing.T) {
	flip := func(s *store.Snapshot) {
		s.State = bytes.Clone(s.State)
		s.State[len(s.State)/2] ^= 4
	}
	for name, damage := range map[string]func([]store.Snapshot) []store.Snapshot{
		"none damaged": func(s []store.Snapshot) []store.Snapshot { return s },
		"the newest":   func(s []store.Snapshot) []store.Snapshot { flip(&s[0]); return s },
		"both":         func(s []store.Snapshot) []store.Snapshot { flip(&s[0]); flip(&s[1]); return s },
		"cut off":      func(s []store.Snapshot) []store.Snapshot { s[0].State = s[0].State[:7]; return s[:1] },
		"from beyond":  func(s []store.Snapshot) []store.Snapshot { s[0].At = 1 << 40; return s },
		"of the head":  func(s []store.Snapshot) []store.Snapshot { s[1].At = s[0].At + 1; return s[1:] }, // no event is there yet
		"none kept":    func([]store.Snapshot) []store.Snapshot { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			r, f, id := stored(t)
			f.snapshots = damage
			before := folds(t, r.store, id)
			got, err := r.Resume(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if got.State != "idle" || len(got.Interrupted) != 0 {
				t.Errorf("resumed %+v", got)
			}
			turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "third"}))
			if res := r.result(id, turn); res.Text != "Three." {
				t.Errorf("the turn after the resume ended %+v", res)
			}
			after := folds(t, r.store, id)
			if d := cmp.Diff(before.Messages, after.Messages[:len(before.Messages)]); d != "" {
				t.Errorf("the history changed:\n%s", d)
			}
		})
	}
}

func must(_ uuid.UUID, turn uint64, err error) uint64 {
	if err != nil {
		panic(err)
	}
	return turn
}

func TestResumeStopsAtTheFirstDifference(t *testing.T) {
	changed := func(old, new string) func(store.Event) []store.Event {
		return func(e store.Event) []store.Event {
			e.Payload.Data = []byte(strings.Replace(string(e.Payload.Data), old, new, 1))
			return []store.Event{e}
		}
	}
	missing := func(store.Event) []store.Event { return nil }
	twice := func(e store.Event) []store.Event { return []store.Event{e, e} }
	for name, c := range map[string]struct {
		kind string // of the events that are damaged, the nth one of them
		nth  int
		by   func(store.Event) []store.Event
		at   string
	}{
		"another prompt":           {"user", 2, changed("second", "another"), "event 12: the core emits {\"kind\":\"ask\""},
		"another id of a call":     {"call", 1, changed(`"id":2,`, `"id":9,`), "event 3: "},
		"another call":             {"call", 1, changed(`a.txt`, `b.txt`), "event 3: "},
		"another conversation":     {"ask", 1, changed(`"messages":1`, `"messages":2`), "event 1: "},
		"another answer":           {"emit", 1, changed("One.", "Uno."), "event 9: "},
		"another end":              {"done", 1, changed("complete", "cancelled"), "event 10: "},
		"no first ask":             {"ask", 1, missing, "event 1: "},
		"no later ask":             {"ask", 2, missing, "event 7: "},
		"no call":                  {"call", 1, missing, "event 3: "},
		"no refused call":          {"call", 2, missing, "event 4: "},
		"no answer to show":        {"emit", 1, missing, "event 9: "},
		"no end":                   {"done", 1, missing, "event 10: "},
		"no end of the transcript": {"done", 2, missing, "the journal ends"},
		"an ask too many":          {"ask", 2, twice, "event 8: "},
		"a call too many":          {"call", 2, twice, "event 5: "},
		"an answer too many":       {"emit", 1, twice, "event 10: "},
		"an end too many":          {"done", 1, twice, "event 11: "},
		"a last end too many":      {"done", 2, twice, "event 24: "},
	} {
		t.Run(name, func(t *testing.T) {
			r, f, id := stored(t)
			f.snapshots = func([]store.Snapshot) []store.Snapshot { return nil }
			f.events = func(events []store.Event) (out []store.Event) {
				n := 0
				for _, e := range events {
					if strings.HasPrefix(string(e.Payload.Data), `{"kind":"`+c.kind+`"`) {
						if n++; n == c.nth {
							out = append(out, c.by(e)...)
							continue
						}
					}
					out = append(out, e)
				}
				return out
			}
			_, err := r.Resume(t.Context(), id)
			if !errors.Is(err, ErrDiverged) || !strings.Contains(err.Error(), c.at) {
				t.Errorf("resume answered %v, want %q", err, c.at)
			}
			lease, err := r.store.Acquire(t.Context(), id, "another process", time.Hour)
			if err != nil {
				t.Fatalf("a refused session is not released: %v", err)
			}
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.events = nil
			if _, err := r.Resume(t.Context(), id); err != nil {
				t.Errorf("the session is not as it was: %v", err)
			}
		})
	}
}

func TestASessionIsDrivenByOneManagerAtATime(t *testing.T) {
	r, _, id := stored(t)
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	// The same process may drive it through one manager only: another one is
	// another owner to the store, as another process is.
	other := over(t, r.dir, foreignStore{r.store}, resumeScript)
	_, err := other.Resume(t.Context(), id)
	if !errors.Is(err, store.ErrLeased) || !strings.Contains(err.Error(), owner()) {
		t.Errorf("the second manager was answered %v", err)
	}
	if events, head, err := other.Transcript(t.Context(), id, nil); err != nil || uint64(len(events)) != head || head == 0 {
		t.Errorf("it may read, and got %d events of %d, %v", len(events), head, err)
	}
	if err := r.Close(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Resume(t.Context(), id); err != nil {
		t.Errorf("after the first one closed it: %v", err)
	}
}

// foreignStore takes leases for another owner.
type foreignStore struct{ store.Store }

func (f foreignStore) Acquire(ctx context.Context, id uuid.UUID, _ string, ttl time.Duration) (store.Lease, error) {
	return f.Store.Acquire(ctx, id, "process 1 on another machine", ttl)
}

func TestASessionGoesOnUnsavedWhenThePersonSaysSo(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, resumeScript)
	f := &faultyStore{Store: r.store}
	failing := over(t, r.dir, f, resumeScript)
	id, _ := failing.run("first")
	f.fail = func() error {
		return &store.BackendError{Place: "sessions.db", Op: "append", Err: errors.New("no space left on device")}
	}
	if _, res := failing.run("second"); res.Text != "Two." {
		t.Errorf("the turn ended %+v", res)
	}
	events, head, err := failing.Transcript(t.Context(), id, nil)
	if err != nil || uint64(len(events)) != head {
		t.Fatalf("%d events of %d, %v", len(events), head, err)
	}
	var told int
	for i, e := range events {
		if e.Index != uint64(i) {
			t.Errorf("event %d has index %d", i, e.Index)
		}
		if strings.Contains(string(e.Event), `"error":"store"`) && strings.Contains(string(e.Event), "no space left") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("the person was told %d times, want once", told)
	}
	if st := failing.Status(); !strings.Contains(st.Store, "no space left") {
		t.Errorf("status says %q", st.Store)
	}
	// What was stored before is still there.
	if n := len(folds(t, r.store, id).Messages); n == 0 {
		t.Error("the first turn is gone")
	}
	if _, err := event.Decode(events[0].Event); err != nil {
		t.Error(err)
	}
}

// TestATranscriptThatAnotherProcessWroteIsNotWrittenOn has something come between,
// which a lease prevents: what is remembered here is not what is stored any more.
func TestATranscriptThatAnotherProcessWroteIsNotWrittenOn(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, resumeScript)
	id, _ := r.run("first")
	foreign, err := r.store.Append(t.Context(), id, time.Now(), store.Payload{ContentType: "application/json", Data: []byte(`{"kind":"note","text":"foreign"}`)})
	if err != nil {
		t.Fatal(err)
	}
	turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "second"}))
	if res := r.result(id, turn); res.Outcome != "failed" || !strings.Contains(res.Text, "another process") {
		t.Errorf("the turn ended %+v", res)
	}
	if head, err := r.store.Head(t.Context(), id); err != nil || head < foreign+1 {
		t.Errorf("the head is %d, %v", head, err)
	}
}

func TestADeletedSessionDoesNotGoOnInMemory(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, resumeScript)
	id, _ := r.run("first")
	if err := r.store.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "second"}))
	if res := r.result(id, turn); res.Outcome != "failed" || !strings.Contains(res.Text, "not found") {
		t.Errorf("the turn ended %+v", res)
	}
}

func TestPruneKeepsWhatIsDrivenAndTheMostRecent(t *testing.T) {
	st, err := store.Open(t.Context(), "memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	now := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	ids := map[string]uuid.UUID{}
	for name, days := range map[string]int{"today": 0, "yesterday": 1, "last week": 7, "driven": 20, "old": 40} {
		ids[name] = uuid.New()
		at := now.AddDate(0, 0, -days)
		if err := st.Put(t.Context(), store.Session{ID: ids[name], CreatedAt: at, UpdatedAt: at}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Acquire(t.Context(), ids["driven"], "process 1 on another machine", time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keep Retention
		want []string
	}{
		{Retention{}, nil},
		{Retention{Age: 30 * 24 * time.Hour}, []string{"old"}},
		{Retention{Sessions: 2}, []string{"last week"}},
	} {
		gone, err := Prune(t.Context(), st, c.keep, now)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range gone {
			for name, id := range ids {
				if id == s.ID {
					got = append(got, name)
				}
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.keep, d)
		}
	}
}

// TestAnEventOfALaterProgramIsKeptAndSkipped resumes a session that a newer
// program has written something into.
func TestAnEventOfALaterProgramIsKeptAndSkipped(t *testing.T) {
	const later = `{"kind":"mood","turn":2,"value":{"of":["the",1,null]}}`
	r, f, id := stored(t)
	f.snapshots = func([]store.Snapshot) []store.Snapshot { return nil }
	at, err := r.store.Append(t.Context(), id, time.Now(), store.Payload{ContentType: "application/json", Data: []byte(later)})
	if err != nil {
		t.Fatal(err)
	}
	before := folds(t, r.store, id)
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "third"}))
	if res := r.result(id, turn); res.Text != "Three." {
		t.Errorf("the turn after the resume ended %+v", res)
	}
	entries, _, err := r.Transcript(t.Context(), id, nil)
	if err != nil || string(entries[at].Event) != later {
		t.Errorf("the event is %s, %v", entries[at].Event, err)
	}
	if d := cmp.Diff(before.Messages, folds(t, r.store, id).Messages[:len(before.Messages)]); d != "" {
		t.Errorf("the history changed:\n%s", d)
	}
}
