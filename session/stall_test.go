package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

const stallScript = `
version: 1
entries:
  - {when: "1/1", calls: [{read: {path: a.txt}}, {exec: {argv: [sh, -c, "echo x >> ran"]}}, {write: {path: b.txt, text: "b\n"}}, {exec: {argv: [sh, -c, "echo y >> ran"]}}]}
  - {when: "1/2", text: Done.}
  - {when: "1/3", text: Done.}
`

// fullDisk is a store that fails from one append on, so many times.
type fullDisk struct {
	*faultyStore
	appends, failures atomic.Int64
}

func newFullDisk(st store.Store, from, failures int64) *fullDisk {
	d := &fullDisk{faultyStore: &faultyStore{Store: st}}
	d.failures.Store(failures)
	d.fail = func() error {
		if d.appends.Add(1) > from && d.failures.Add(-1) >= 0 {
			return &store.BackendError{Place: "sessions.db", Op: "append", Err: errors.New("no space left on device")}
		}
		return nil
	}
	return d
}

// onDisk makes the rig's manager anew over a store, with a person who allows every
// call and wants nothing to go on unsaved. The channel has something when they were
// asked that.
func (r *rig) onDisk(st store.Store) <-chan struct{} {
	r.Shutdown()
	r.store = st
	r.cfg.Store = func(context.Context) (store.Store, error) { return st, nil }
	r.cfg.retryTime = time.Millisecond
	stalled := make(chan struct{}, 100)
	r.answer = func(_ context.Context, q Question) Answer {
		if q.ID == 0 {
			stalled <- struct{}{}
			return Answer{Decision: Deny}
		}
		return Answer{Decision: AllowOnce}
	}
	r.Manager = NewManager(r.cfg, r)
	return stalled
}

// appendsOfStallScript counts the appends of the script's one turn.
func appendsOfStallScript(t *testing.T) int64 {
	r := start(t, map[string]string{"a.txt": "a\n"}, stallScript)
	d := newFullDisk(r.store, 0, 0)
	r.onDisk(d)
	r.run("go")
	return d.appends.Load()
}

// TestWhileASessionCannotBeSavedItDoesNothing fills the disk at each append of a
// turn: nothing happens that is not in the transcript, and once there is room the
// turn goes on by itself.
func TestWhileASessionCannotBeSavedItDoesNothing(t *testing.T) {
	for at := range appendsOfStallScript(t) {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			r := start(t, map[string]string{"a.txt": "a\n"}, stallScript)
			d := newFullDisk(r.store, at, 3)
			stalled := r.onDisk(d)
			id, res := r.run("go")
			if res.Text != "Done." || r.read("ran") != "x\ny\n" || r.read("b.txt") != "b\n" {
				t.Errorf("the turn ended %+v, the commands ran %q:\n%s", res, r.read("ran"), r.kinds())
			}
			if len(stalled) != 1 {
				t.Errorf("the person was asked %d times", len(stalled))
			}
			events, head, err := r.Transcript(t.Context(), id, nil)
			stored, serr := d.Head(t.Context(), id)
			if err != nil || serr != nil || uint64(len(events)) != head || head != stored {
				t.Errorf("%d events of %d, %d stored, %v, %v", len(events), head, stored, err, serr)
			}
			if n := strings.Count(r.kinds(), "saved again: store sessions.db: append: no space left on device"); n != 1 {
				t.Errorf("the transcript says %d times that it waited:\n%s", n, r.kinds())
			}
			if st := r.Status(); st.Store != "ready" {
				t.Errorf("status says %q", st.Store)
			}
		})
	}
}

// TestAServerThatEndsOnAFullDiskRunsNothingTwice ends it while each append of a
// turn waits: a resume, once there is room, has every command run at most once.
func TestAServerThatEndsOnAFullDiskRunsNothingTwice(t *testing.T) {
	for at := range appendsOfStallScript(t) {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			r := start(t, map[string]string{"a.txt": "a\n"}, stallScript)
			room := r.store
			stalled := r.onDisk(newFullDisk(room, at, 1<<40))
			id := mustPrompt(t, r, "go")
			r.await(stalled, "the question whether to go on unsaved")
			if st := r.Status(); !strings.Contains(st.Store, "no space left") {
				t.Errorf("status says %q", st.Store)
			}
			r.Shutdown()
			next := over(t, r.dir, room, stallScript)
			got, err := next.Resume(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if at == 0 { // the prompt itself was not stored
				next.result(id, must(next.Prompt(t.Context(), Prompt{Session: &id, Text: "go"})))
			} else if got.State == "running" {
				next.result(id, 1)
			}
			ran, err := os.ReadFile(filepath.Join(r.dir, "ran"))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			for _, effect := range []string{"x", "y"} {
				if n := strings.Count(string(ran), effect); n > 1 {
					t.Errorf("%s ran %d times:\n%s", effect, n, next.kinds())
				}
			}
		})
	}
}

func TestACancelledTurnDoesNothingMoreOnceThereIsRoom(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, stallScript)
	d := newFullDisk(r.store, 1, 1<<40) // the calls cannot be stored
	stalled := r.onDisk(d)
	id := mustPrompt(t, r, "go")
	r.await(stalled, "the question whether to go on unsaved")
	if ok, err := r.Cancel(t.Context(), &id, nil); !ok || err != nil {
		t.Fatalf("cancelled %v, %v", ok, err)
	}
	s, err := r.session(id)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	if s.turns[1].ctx.Err() == nil {
		t.Error("the turn's work was not stopped at once")
	}
	s.mu.Unlock()
	d.failures.Store(0)
	if res := r.result(id, 1); res.Outcome != "cancelled" {
		t.Errorf("the turn ended %+v", res)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "ran")); err == nil {
		t.Errorf("a command ran:\n%s", r.kinds())
	}
}

// TestASessionThatCannotBeSavedIsNotBegunUnasked has no room for the record.
func TestASessionThatCannotBeSavedIsNotBegunUnasked(t *testing.T) {
	for _, decision := range []Decision{Deny, AllowOnce} {
		t.Run(string(decision), func(t *testing.T) {
			r := start(t, nil, "version: 1\nentries: [{text: Hello.}]\n")
			r.onDisk(putless{r.store})
			r.answer = func(context.Context, Question) Answer { return Answer{Decision: decision} }
			_, turn, err := r.Prompt(t.Context(), Prompt{Root: r.dir, Text: "go"})
			if decision == Deny {
				if err == nil || !strings.Contains(err.Error(), "no space left") {
					t.Errorf("begun as turn %d: %v", turn, err)
				}
				return
			}
			if err != nil || !strings.Contains(r.kinds(), "goes on in memory only") {
				t.Errorf("%v:\n%s", err, r.kinds())
			}
		})
	}
}

type putless struct{ store.Store }

func (putless) Put(context.Context, store.Session) error {
	return &store.BackendError{Place: "sessions.db", Op: "put", Err: errors.New("no space left on device")}
}

// lateCommit stores what it says that it did not.
type lateCommit struct {
	store.Store
	late atomic.Bool
}

func (l *lateCommit) AppendAll(ctx context.Context, id uuid.UUID, at time.Time, ps []store.Payload) (uint64, error) {
	first, err := l.Store.AppendAll(ctx, id, at, ps)
	if l.late.Swap(false) {
		return 0, &store.BackendError{Place: "db", Op: "append", Err: errors.New("connection lost")}
	}
	return first, err
}

func TestAnAppendThatArrivedIsNotRepeated(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "a\n"}, stallScript)
	l := &lateCommit{Store: r.store}
	l.late.Store(true)
	r.onDisk(l)
	if _, res := r.run("go"); res.Text != "Done." || r.read("ran") != "x\ny\n" {
		t.Errorf("the turn ended %+v:\n%s", res, r.kinds())
	}
}
