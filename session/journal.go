package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

const contentType = "application/json"

// journal is the one way into a session's transcript: it stores events, folds
// them and reports them, in one order. When the store fails it waits and tries
// again, and so does whoever records: nothing is done that could not be recorded.
// Only a person's word makes it go on in memory; what was stored before stays
// stored.
type journal struct {
	id      uuid.UUID
	store   store.Store
	now     func() time.Time
	report  func(store.Event, event.Payload) // called in order, after the event was kept
	metered func()                           // called behind report when the meter changed
	// stalled is called when an append fails, once with why, and with nil when the
	// wait is over.
	stalled func(ctx context.Context, why error)
	forget  chan struct{} // closed when the person wants to go on unsaved
	retry   time.Duration // between attempts at first; 0: firstRetry

	writing sync.Mutex // one record at a time; taken before mu

	mu      sync.Mutex // guards what follows, and the order of report
	folder  *history.Folder
	meter   *meter
	head    uint64        // the next index; changes with writing locked, too
	unsaved []store.Event // the tail that is only in memory, from index head-len on
	lost    error         // why the store is not written any more
	waiting error         // why an append waits
}

// The time between attempts at a store that fails grows from the first to the
// last. It is real time, also on a virtual clock: a disk does not become free
// sooner.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// record keeps payloads at consecutive indices and returns the first one.
func (j *journal) record(ctx context.Context, payloads ...event.Payload) (uint64, error) {
	return j.recordAt(ctx, nil, payloads...)
}

// recordAt is record for payloads that name each other's index: place, unless
// nil, is called with the first index before they are encoded.
func (j *journal) recordAt(ctx context.Context, place func(first uint64), payloads ...event.Payload) (uint64, error) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if place != nil {
		place(j.next())
	}
	saved := j.failure() == nil
	first, waited, err := j.add(ctx, payloads)
	if err != nil {
		return first, err
	}
	var more event.Payload
	switch lost := j.failure(); {
	case saved && lost != nil:
		more = unsavedEvent(lost)
	case waited != nil:
		more = &event.Note{Text: fmt.Sprintf("the session waited because it could not be saved, and is saved again: %v", waited)}
	default:
		return first, nil
	}
	_, _, err = j.add(ctx, []event.Payload{more})
	return first, err
}

// add keeps, folds and reports payloads. Waited says why it had to wait. The
// caller has locked writing.
func (j *journal) add(ctx context.Context, payloads []event.Payload) (first uint64, waited, err error) {
	encoded := make([]store.Payload, len(payloads))
	for i, p := range payloads {
		event.Valid(p)
		data, err := event.Encode(p)
		if err != nil {
			return 0, nil, err
		}
		encoded[i] = store.Payload{ContentType: contentType, Data: data}
	}
	at := j.now().UTC().Truncate(time.Microsecond)
	if j.failure() == nil {
		if waited, err = j.append(ctx, at, encoded); err != nil {
			return 0, nil, err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	first = j.head
	for i, p := range payloads {
		e := store.Event{Index: j.head, At: at, Payload: encoded[i]}
		if j.lost != nil {
			j.unsaved = append(j.unsaved, e)
		}
		j.head++
		if err := j.folder.Add(e, p); err != nil {
			return 0, nil, fmt.Errorf("fold event %d of session %s: %w", e.Index, j.id, err)
		}
		counted := j.meter.add(p)
		j.report(e, p)
		if counted {
			j.metered()
		}
	}
	return first, waited, nil
}

// append stores the payloads at the head. While the place where they are stored
// fails it tries again, until the person wants to go on unsaved, which makes the
// session lost to the store. A session that was deleted or taken by another
// process must not go on. The caller has locked writing.
func (j *journal) append(ctx context.Context, at time.Time, ps []store.Payload) (waited, err error) {
	head := j.next()
	for wait := cmp.Or(j.retry, firstRetry); ; wait = min(2*wait, lastRetry) {
		first, err := j.attempt(ctx, at, ps, waited != nil)
		_, backend := errors.AsType[*store.BackendError](err)
		if !backend {
			if waited != nil {
				j.wait(ctx, nil)
			}
			if err == nil && first != head {
				err = fmt.Errorf("session %s was written by another process: expected index %d, the store returned %d", j.id, head, first)
			}
			return waited, err
		}
		if waited == nil {
			j.wait(ctx, err)
		}
		waited = err
		select {
		case <-time.After(wait):
		case <-j.forget:
			j.wait(ctx, nil)
			j.mu.Lock()
			j.lost = err
			j.mu.Unlock()
			return nil, nil
		case <-ctx.Done():
			j.wait(ctx, nil)
			return nil, ctx.Err()
		}
	}
}

// attempt appends once. Again says that it was tried before: a write whose
// connection was lost while it was committed is there already.
func (j *journal) attempt(ctx context.Context, at time.Time, ps []store.Payload, again bool) (uint64, error) {
	if again {
		head, err := j.store.Head(ctx, j.id)
		if first := j.next(); err != nil || head == first+uint64(len(ps)) {
			return first, err
		}
	}
	return j.store.AppendAll(ctx, j.id, at, ps)
}

// wait says that an append waits, and why; nil when it is over.
func (j *journal) wait(ctx context.Context, why error) {
	j.mu.Lock()
	j.waiting = why
	j.mu.Unlock()
	j.stalled(ctx, why)
}

// replayed folds an event that the store already has.
func (j *journal) replayed(e store.Event, p event.Payload) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Index != j.head {
		return fmt.Errorf("the transcript of session %s has index %d where %d belongs", j.id, e.Index, j.head)
	}
	j.head++
	if err := j.folder.Add(e, p); err != nil {
		return fmt.Errorf("fold event %d of session %s: %w", e.Index, j.id, err)
	}
	j.meter.add(p)
	return nil
}

// saveSnapshot keeps the core's state for a later resume. A session that is not
// saved any more has nothing that a snapshot could belong to.
func (j *journal) saveSnapshot(ctx context.Context, at uint64, state []byte) error {
	j.mu.Lock()
	lost := j.lost
	j.mu.Unlock()
	if lost != nil {
		return nil
	}
	return j.store.PutSnapshot(ctx, j.id, at, state)
}

// lose stops writing to the store and says so.
func (j *journal) lose(ctx context.Context, err error) error {
	j.mu.Lock()
	j.lost = err
	j.mu.Unlock()
	return j.warn(ctx, err)
}

// warn says in the transcript that it is not kept.
func (j *journal) warn(ctx context.Context, err error) error {
	_, err = j.record(ctx, unsavedEvent(err))
	return err
}

func unsavedEvent(err error) *event.Error {
	return &event.Error{Source: "store", Message: fmt.Sprintf(
		"this session is not saved, it goes on in memory only: %v", err)}
}

// next is the index that the next event gets.
func (j *journal) next() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head
}

// stopped returns why an append waits, or nil.
func (j *journal) stopped() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.waiting
}

// failure returns why the transcript is not saved any more, or nil.
func (j *journal) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lost
}

// history returns the fold of everything recorded so far.
func (j *journal) history() history.History {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.folder.History()
}

// steers are the texts that were said into a turn and that no request has yet.
func (j *journal) steers() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.folder.Steers()
}

// events streams the transcript, the unsaved tail included.
func (j *journal) events(ctx context.Context, after *uint64) iter.Seq2[store.Event, error] {
	j.mu.Lock()
	tail := j.unsaved
	j.mu.Unlock()
	return func(yield func(store.Event, error) bool) {
		for e, err := range j.store.Transcript(ctx, j.id, after) {
			if err != nil && len(tail) > 0 {
				break // the store is closed; what is in memory is all there is
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		for _, e := range tail {
			if after != nil && e.Index <= *after {
				continue
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// entries reads events for a client.
func entries(events iter.Seq2[store.Event, error]) ([]Entry, error) {
	out := []Entry{}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		v := jsontext.Value(e.Payload.Data)
		if !v.IsValid() {
			return nil, fmt.Errorf("transcript event %d is not JSON", e.Index)
		}
		out = append(out, Entry{Index: e.Index, At: e.At, Event: v})
	}
	return out, nil
}

// errClosed is for whoever calls a session that has ended.
var errClosed = errors.New("session is closed")
