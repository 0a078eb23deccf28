package storetest_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/session/store/memory"
	"github.com/agent-lsp/agent-lsp/session/store/storetest"
	"github.com/google/uuid"
)

// brokenEnv names the backend that a child process runs the suite on.
const brokenEnv = "AGENT_LSP_STORETEST_BROKEN"

// TestSuiteOnNamedBackend is what the children of TestSuiteFailsOnBrokenBackends run.
func TestSuiteOnNamedBackend(t *testing.T) {
	name, ok := os.LookupEnv(brokenEnv)
	if !ok {
		t.Skip("runs in the children of TestSuiteFailsOnBrokenBackends")
	}
	storetest.Run(t, func(*testing.T) store.Store { return backends[name].make(memory.New()) })
}

func TestSuiteFailsOnBrokenBackends(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, backend := range backends {
		t.Run(name, func(t *testing.T) {
			run := "^TestSuiteOnNamedBackend$"
			if backend.fails != "" {
				run += "/^" + backend.fails + "$"
			}
			cmd := exec.CommandContext(t.Context(), exe, "-test.run="+run, "-test.v")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if backend.fails == "" {
				if err != nil {
					t.Fatalf("the suite fails on a backend that is not broken: %v\n%s", err, out)
				}
				return
			}
			if err == nil {
				t.Fatal("the suite passes on a broken backend")
			}
			if want := "--- FAIL: TestSuiteOnNamedBackend/" + backend.fails; !strings.Contains(string(out), want) {
				t.Fatalf("the suite fails elsewhere than at %s:\n%s", backend.fails, out)
			}
		})
	}
}

var backends = map[string]struct {
	fails string // the scenario that must fail; empty for the control
	make  func(*memory.Store) store.Store
}{
	"sound":                   {"", func(m *memory.Store) store.Store { return m }},
	"index read by caller":    {"interleaved_appenders", newReadsThenWrites},
	"poisoned row skipped":    {"poisoned_row_is_listed", func(m *memory.Store) store.Store { return skipsPoisoned{m} }},
	"pick shared":             {"last_pick_per_subject", func(m *memory.Store) store.Store { return sharesPick{m} }},
	"append creates session":  {"append_to_unknown_refuses_by_name", func(m *memory.Store) store.Store { return creates{m} }},
	"after includes":          {"after_excludes", func(m *memory.Store) store.Store { return includesAfter{m} }},
	"listing backwards":       {"listing_order", func(m *memory.Store) store.Store { return listsBackwards{m} }},
	"absent record made up":   {"record_round_trip", func(m *memory.Store) store.Store { return makesUp{m} }},
	"batch in separate parts": {"append_all_is_one_write", func(m *memory.Store) store.Store { return splitsBatches{m} }},
	"cancellation ignored":    {"cancelled_context_writes_nothing", func(m *memory.Store) store.Store { return ignoresCancel{m} }},
	"lease for everybody":     {"lease_has_one_owner", func(m *memory.Store) store.Store { return leasesToAll{m} }},
}

// readsThenWrites takes an event's place from the transcript as it read it. The
// first two appends that meet after the first event read before either writes.
type readsThenWrites struct {
	*memory.Store
	mu     sync.Mutex // guards events and met
	events map[uuid.UUID]map[uint64]store.Event
	met    int
	both   chan struct{}
}

func newReadsThenWrites(m *memory.Store) store.Store {
	return &readsThenWrites{Store: m, events: map[uuid.UUID]map[uint64]store.Event{}, both: make(chan struct{})}
}

func (b *readsThenWrites) Append(ctx context.Context, id uuid.UUID, at time.Time, p store.Payload) (uint64, error) {
	if _, err := b.AppendAll(ctx, id, at, nil); err != nil {
		return 0, err // the session is unknown
	}
	index, _ := b.Head(ctx, id)
	if id == storetest.ID(41) && index == 1 {
		b.meet()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.events[id] == nil {
		b.events[id] = map[uint64]store.Event{}
	}
	b.events[id][index] = store.Event{Index: index, At: at, Payload: p}
	return index, nil
}

func (b *readsThenWrites) meet() {
	b.mu.Lock()
	b.met++
	if b.met == 2 {
		close(b.both)
	}
	b.mu.Unlock()
	<-b.both
}

func (b *readsThenWrites) Head(_ context.Context, id uuid.UUID) (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return uint64(len(b.events[id])), nil
}

func (b *readsThenWrites) Transcript(ctx context.Context, id uuid.UUID, after *uint64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		from := uint64(0)
		if after != nil {
			from = *after + 1
		}
		head, _ := b.Head(ctx, id)
		for i := from; i >= from && i < head; i++ {
			b.mu.Lock()
			e := b.events[id][i]
			b.mu.Unlock()
			if !yield(e, nil) {
				return
			}
		}
	}
}

type skipsPoisoned struct{ *memory.Store }

func (b skipsPoisoned) List(ctx context.Context) (store.Listing, error) {
	l, err := b.Store.List(ctx)
	l.Undecodable = nil
	return l, err
}

type sharesPick struct{ *memory.Store }

func (b sharesPick) SetDefaultHarness(ctx context.Context, _, harness string) error {
	return b.Store.SetDefaultHarness(ctx, "everybody", harness)
}

func (b sharesPick) DefaultHarness(ctx context.Context, _ string) (string, bool, error) {
	return b.Store.DefaultHarness(ctx, "everybody")
}

type creates struct{ *memory.Store }

func (b creates) Append(ctx context.Context, id uuid.UUID, at time.Time, p store.Payload) (uint64, error) {
	if _, ok, err := b.Get(ctx, id); err == nil && !ok {
		if err := b.Put(ctx, store.Session{ID: id}); err != nil {
			return 0, err
		}
	}
	return b.Store.Append(ctx, id, at, p)
}

type includesAfter struct{ *memory.Store }

func (b includesAfter) Transcript(ctx context.Context, id uuid.UUID, after *uint64) iter.Seq2[store.Event, error] {
	if after != nil && *after > 0 {
		after = new(*after - 1)
	}
	return b.Store.Transcript(ctx, id, after)
}

type listsBackwards struct{ *memory.Store }

func (b listsBackwards) List(ctx context.Context) (store.Listing, error) {
	l, err := b.Store.List(ctx)
	for i, j := 0, len(l.Sessions)-1; i < j; i, j = i+1, j-1 {
		l.Sessions[i], l.Sessions[j] = l.Sessions[j], l.Sessions[i]
	}
	return l, err
}

type makesUp struct{ *memory.Store }

func (b makesUp) Get(ctx context.Context, id uuid.UUID) (store.Session, bool, error) {
	s, _, err := b.Store.Get(ctx, id)
	s.ID = id
	return s, true, err
}

type splitsBatches struct{ *memory.Store }

func (b splitsBatches) AppendAll(ctx context.Context, id uuid.UUID, at time.Time, ps []store.Payload) (uint64, error) {
	first, err := b.Store.AppendAll(ctx, id, at, nil)
	for i, p := range ps {
		index, err := b.Append(ctx, id, at, p)
		if err != nil {
			return 0, err // the part before it stays
		}
		if i == 0 {
			first = index
		}
	}
	return first, err
}

type ignoresCancel struct{ *memory.Store }

func (b ignoresCancel) Put(ctx context.Context, s store.Session) error {
	return b.Store.Put(context.WithoutCancel(ctx), s)
}

type leasesToAll struct{ *memory.Store }

func (b leasesToAll) Acquire(ctx context.Context, id uuid.UUID, _ string, ttl time.Duration) (store.Lease, error) {
	return b.Store.Acquire(ctx, id, "everybody", ttl)
}
