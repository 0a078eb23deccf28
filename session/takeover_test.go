package session

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// countingStore counts how often a session is taken.
type countingStore struct {
	store.Store
	taken atomic.Int32
}

func (c *countingStore) Acquire(ctx context.Context, id uuid.UUID, owner string, ttl time.Duration) (store.Lease, error) {
	c.taken.Add(1)
	return c.Store.Acquire(ctx, id, owner, ttl)
}

func TestASessionIsResumedOnceHoweverManyAsk(t *testing.T) {
	r, f, id := stored(t)
	r.Shutdown()
	counting := &countingStore{Store: f}
	r = over(t, r.dir, counting, resumeScript)
	var wg sync.WaitGroup
	heads := make([]uint64, 8)
	for i := range heads {
		wg.Go(func() {
			got, err := r.Resume(t.Context(), id)
			if err != nil {
				t.Error(err)
			}
			heads[i] = got.Head
		})
	}
	wg.Wait()
	if n := counting.taken.Load(); n != 1 {
		t.Errorf("the session was taken %d times", n)
	}
	turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "third"}))
	if res := r.result(id, turn); res.Text != "Three." {
		t.Errorf("the turn after the resume ended %+v", res)
	}
}

func TestSessionsMadeAtOnceHaveIDsOfTheirOwn(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: hi}]\n")
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[uuid.UUID]bool{}
	for range 16 {
		wg.Go(func() {
			id, err := r.New(t.Context(), NewSession{Root: r.dir})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[id] = true
		})
	}
	wg.Wait()
	if len(seen) != 16 {
		t.Errorf("16 sessions have %d ids", len(seen))
	}
}

func TestARunningSessionCanBeClosedAndResumedOrDeleted(t *testing.T) {
	const answers = `
version: 1
entries:
  - {when: "1/1", text: Looking., calls: [{read: {path: a.txt}}, {exec: {argv: [cat, a.txt]}}]}
  - {when: "1/2", text: Done.}
`
	begun := func(t *testing.T) (*rig, uuid.UUID) {
		r := start(t, map[string]string{"a.txt": "a\n"}, answers)
		r.answer = func(ctx context.Context, _ Question) Answer {
			<-ctx.Done()
			return Answer{Decision: Deny}
		}
		asked := r.next(event.KindApproval)
		id := mustPrompt(t, r, "go")
		r.await(asked, "the question")
		return r, id
	}
	waiting := func(t *testing.T, r *rig, id uuid.UUID) <-chan error {
		waited := make(chan error, 1)
		go func() {
			_, err := r.Wait(t.Context(), id, 1)
			waited <- err
		}()
		return waited
	}
	t.Run("closed", func(t *testing.T) {
		r, id := begun(t)
		waited := waiting(t, r, id)
		if err := r.Close(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; err == nil {
			t.Error("who waited was told that the turn ended")
		}
		if strings.Contains(r.kinds(), "done ") {
			t.Errorf("the turn was ended:\n%s", r.kinds())
		}
		if _, _, err := r.Prompt(t.Context(), Prompt{Session: &id, Text: "more"}); err == nil || !strings.Contains(err.Error(), "resume it first") {
			t.Errorf("a prompt of a closed session answered %v", err)
		}
		got, err := r.Resume(t.Context(), id)
		if err != nil || got.State != "running" || len(got.Interrupted) != 1 || !strings.Contains(got.Interrupted[0], "cat") {
			t.Fatalf("resumed %+v, %v", got, err)
		}
		if res := r.result(id, 1); res.Text != "Done." {
			t.Errorf("the turn ended %+v", res)
		}
	})
	t.Run("deleted", func(t *testing.T) {
		r, id := begun(t)
		waited := waiting(t, r, id)
		if err := r.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; err == nil {
			t.Error("who waited was told that the turn ended")
		}
		if _, ok, err := r.store.Get(t.Context(), id); ok || err != nil {
			t.Errorf("the record is there: %v, %v", ok, err)
		}
		if _, err := r.Resume(t.Context(), id); err == nil {
			t.Error("a deleted session was resumed")
		}
		if err := r.Delete(t.Context(), id); err != nil {
			t.Errorf("deleting it again: %v", err)
		}
	})
	t.Run("deleted by another process", func(t *testing.T) {
		r, id := begun(t)
		other := over(t, r.dir, foreignStore{r.store}, answers)
		if err := other.Delete(t.Context(), id); !errors.Is(err, store.ErrLeased) {
			t.Errorf("a session that is driven elsewhere was deleted: %v", err)
		}
		if _, ok, err := r.store.Get(t.Context(), id); !ok || err != nil {
			t.Errorf("the record is gone: %v, %v", ok, err)
		}
	})
}

// lossyStore has leases that are lost on demand.
type lossyStore struct {
	store.Store
	renewals chan error
}

func (l lossyStore) Acquire(ctx context.Context, id uuid.UUID, owner string, ttl time.Duration) (store.Lease, error) {
	lease, err := l.Store.Acquire(ctx, id, owner, ttl)
	if err != nil {
		return nil, err
	}
	return lossyLease{lease, l.renewals}, nil
}

type lossyLease struct {
	store.Lease
	renewals chan error
}

func (l lossyLease) Renew(ctx context.Context) error {
	select {
	case err := <-l.renewals:
		return err
	default:
		return l.Lease.Renew(ctx)
	}
}

func TestASessionWhoseLeaseIsLostInMidTurnIsSuspendedAndCanBeTakenBack(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, `
version: 1
entries:
  - {when: "1/1", text: Looking., calls: [{exec: {argv: [cat, a.txt]}}]}
  - {when: "1/2", text: Done.}
`)
	r.Shutdown()
	lossy := lossyStore{r.store, make(chan error, 1)}
	r.cfg.Store = func(context.Context) (store.Store, error) { return lossy, nil }
	r.cfg.LeaseTTL = 30 * time.Millisecond
	r.Manager = NewManager(r.cfg, r)
	r.answer = func(ctx context.Context, _ Question) Answer {
		<-ctx.Done()
		return Answer{Decision: Deny}
	}
	asked := r.next(event.KindApproval)
	id := mustPrompt(t, r, "go")
	r.await(asked, "the question")
	lossy.renewals <- &store.LeasedError{ID: id, Owner: "process 1 on another machine", Until: time.Now()}
	if _, err := r.Wait(t.Context(), id, 1); err == nil || !strings.Contains(err.Error(), "suspended") {
		t.Errorf("who waited was told %v", err)
	}
	if _, _, err := r.Prompt(t.Context(), Prompt{Session: &id, Text: "more"}); err == nil ||
		!strings.Contains(err.Error(), "another machine") || !strings.Contains(err.Error(), "resume it") {
		t.Errorf("a prompt answered %v", err)
	}
	got, err := r.Resume(t.Context(), id)
	if err != nil || got.State != "running" {
		t.Fatalf("resumed %+v, %v", got, err)
	}
	if res := r.result(id, 1); res.Text != "Done." {
		t.Errorf("the turn ended %+v", res)
	}
}

func TestAResumeWithoutTheSessionsProfileSaysWhichOneItTakes(t *testing.T) {
	r, _, id := stored(t)
	r.Shutdown()
	r.cfg.Settings.Profile = "other"
	r.cfg.Settings.Profiles = map[string]model.Profile{"other": {Provider: "script"}}
	r.Manager = NewManager(r.cfg, r)
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "third"}))
	r.result(id, turn)
	var asks []string
	for _, p := range r.events {
		if a, ok := p.(*event.Ask); ok {
			asks = append(asks, a.Profile)
		}
	}
	if len(asks) == 0 || asks[0] != "other" {
		t.Errorf("profiles asked: %q", asks)
	}
	if !strings.Contains(r.kinds(), "note profile demo of this session is not configured any more; it goes on with profile other") {
		t.Errorf("nobody was told:\n%s", r.kinds())
	}
	if err := r.Close(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Errorf("the next resume: %v", err)
	}
}

// TestATurnThatTheHostEndedReplays resumes from nothing but the events.
func TestATurnThatTheHostEndedReplays(t *testing.T) {
	same := "  - calls: [{read: {path: a.txt}}, {read: {path: ../out}}]\n"
	for name, c := range map[string]struct{ answers, why, outcome string }{
		"it repeated itself":                    {same + same + same + same, "3 times in a row", "cancelled"},
		"too many rounds":                       {strings.Repeat("  - calls: [{read: {path: a.txt}}, {read: {path: b.txt}}]\n", 6), "5 model rounds", "cancelled"},
		"the model failed":                      {same + "  - fail: {kind: error, error: rate, message: slow down}\n", "slow down", "failed"},
		"the model failed, in an older program": {same + "  - fail: {kind: error, error: rate, message: slow down}\n", "slow down", "failed"},
		"nothing but rubbish":                   {strings.Repeat("  - calls: [{raw: {id: a, name: nope, arguments: \"\"}}]\n", 4), "4 times in a row", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			answers := "version: 1\nentries:\n" + c.answers + "  - {when: \"2/1\", text: Going on.}\n"
			r := start(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"}, answers)
			settings := r.cfg.Settings
			settings.MaxRounds = 5
			r.Configure(settings)
			id, res := r.run("go")
			if res.Outcome != c.outcome || !strings.Contains(res.Text, c.why) {
				t.Fatalf("turn ended %+v", res)
			}
			r.Shutdown()
			before := folds(t, r.store, id)
			faulty := &faultyStore{Store: r.store, snapshots: func([]store.Snapshot) []store.Snapshot { return nil }}
			if strings.Contains(name, "older") { // which called a failed turn cancelled
				faulty.events = func(events []store.Event) []store.Event {
					for i := range events {
						data := &events[i].Payload.Data
						*data = bytes.Replace(*data, []byte(`"outcome":"failed"`), []byte(`"outcome":"cancelled"`), 1)
					}
					return events
				}
			}
			next := over(t, r.dir, faulty, answers)
			if got, err := next.Resume(t.Context(), id); err != nil || got.State != "idle" {
				t.Fatalf("resumed %+v, %v", got, err)
			}
			turn := must(next.Prompt(t.Context(), Prompt{Session: &id, Text: "go on"}))
			if res := next.result(id, turn); res.Text != "Going on." {
				t.Errorf("the next turn ended %+v", res)
			}
			if after := folds(t, r.store, id); len(after.Messages) <= len(before.Messages) {
				t.Errorf("%d messages, then %d", len(before.Messages), len(after.Messages))
			}
		})
	}
}

func TestRepeatsBeforeAResumeCount(t *testing.T) {
	for _, path := range []string{"a.txt", "../out"} {
		t.Run(path, func(t *testing.T) {
			read := "calls: [{read: {path: " + path + "}}]}\n"
			twice := "version: 1\nentries:\n  - {when: \"1/1\", " + read + "  - {when: \"1/2\", " + read + "  - {when: \"1/3\", "
			r := start(t, map[string]string{"a.txt": "a\n"}, twice+"fail: {kind: hang}}\n")
			id := mustPrompt(t, r, "go")
			for {
				asked := r.next(event.KindAsk)
				if strings.Contains(r.kinds(), "ask 5.1") {
					break
				}
				r.await(asked, "the third ask")
			}
			r.Shutdown()
			next := over(t, r.dir, r.store, twice+read+"  - {when: \"1/4\", "+read)
			if _, err := next.Resume(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if res := next.result(id, 1); !strings.Contains(res.Text, "3 times in a row") {
				t.Errorf("the turn ended %+v:\n%s", res, next.kinds())
			}
			if n := strings.Count(next.kinds(), "message "); n != 1 {
				t.Errorf("the model answered %d times after the resume, want 1", n)
			}
		})
	}
}

func TestQueuedTurnsGoOnAfterAResume(t *testing.T) {
	const answers = `
version: 1
entries:
  - {when: "1/1", calls: [{read: {path: a.txt}}, {exec: {argv: [cat, a.txt]}}, {write: {path: b.txt, text: "b\n"}}]}
  - {when: "1/2", text: One.}
  - {when: "3/1", text: Three.}
`
	r := start(t, map[string]string{"a.txt": "a\n"}, answers)
	r.answer = func(ctx context.Context, _ Question) Answer {
		<-ctx.Done()
		return Answer{Decision: Deny}
	}
	asked := r.next(event.KindApproval)
	id := mustPrompt(t, r, "first")
	r.await(asked, "the question")
	mustPrompt(t, r, "second")
	mustPrompt(t, r, "third")
	if ok, err := r.Cancel(t.Context(), &id, new(uint64(2))); !ok || err != nil {
		t.Fatal(ok, err)
	}
	r.Shutdown()
	next := over(t, r.dir, r.store, answers)
	got, err := next.Resume(t.Context(), id)
	if err != nil || got.State != "running" || len(got.Interrupted) != 1 || !strings.Contains(got.Interrupted[0], "stopped before this call ran") {
		t.Fatalf("resumed %+v, %v", got, err)
	}
	for turn, want := range map[uint64]TurnResult{1: {"complete", "One."}, 3: {"complete", "Three."}} {
		if res := next.result(id, turn); res != want {
			t.Errorf("turn %d ended %+v, want %+v", turn, res, want)
		}
	}
	if res := next.result(id, 2); res.Outcome != "cancelled" {
		t.Errorf("the cancelled turn ended %+v", res)
	}
	if next.read("b.txt") != "b\n" {
		t.Error("the edit behind the interrupted command was not made")
	}
	if strings.Contains(next.kinds(), "result 3 completed") || !strings.Contains(next.kinds(), "result 3 interrupted") {
		t.Errorf("the command was not reported as interrupted:\n%s", next.kinds())
	}
}
