package session

import (
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
// them and reports them, in one order. When the store fails it goes on in memory
// and says so once, so that a person's work with the agent does not stop; what
// was answered as stored before stays stored.
type journal struct {
	id     uuid.UUID
	store  store.Store
	now    func() time.Time
	report func(store.Event, event.Payload) // called in order, after the event was kept

	mu      sync.Mutex // guards what follows, and the order of report
	folder  *history.Folder
	head    uint64        // the next index
	unsaved []store.Event // the tail that only memory holds, from index head-len on
	lost    error         // why the store is not written any more
}

// record keeps payloads at consecutive indices and answers the first one.
func (j *journal) record(ctx context.Context, payloads ...event.Payload) (uint64, error) {
	return j.recordAt(ctx, nil, payloads...)
}

// recordAt is record for payloads that name each other's index: place, unless
// nil, is told the first index before they are encoded.
func (j *journal) recordAt(ctx context.Context, place func(first uint64), payloads ...event.Payload) (uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if place != nil {
		place(j.head)
	}
	saved := j.lost == nil
	first, err := j.add(ctx, payloads)
	if err != nil || !saved || j.lost == nil {
		return first, err
	}
	_, err = j.add(ctx, []event.Payload{unsavedEvent(j.lost)})
	return first, err
}

// add keeps, folds and reports payloads. The caller holds mu.
func (j *journal) add(ctx context.Context, payloads []event.Payload) (uint64, error) {
	encoded := make([]store.Payload, len(payloads))
	for i, p := range payloads {
		event.Valid(p)
		data, err := event.Encode(p)
		if err != nil {
			return 0, err
		}
		encoded[i] = store.Payload{ContentType: contentType, Data: data}
	}
	at := j.now().UTC().Truncate(time.Microsecond)
	first, err := j.keep(ctx, at, encoded)
	if err != nil {
		return 0, err
	}
	for i, p := range payloads {
		e := store.Event{Index: first + uint64(i), At: at, Payload: encoded[i]}
		if err := j.folder.Add(e, p); err != nil {
			return 0, fmt.Errorf("fold event %d of session %s: %w", e.Index, j.id, err)
		}
		j.report(e, p)
	}
	return first, nil
}

// replayed folds an event that the store already holds.
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
	return nil
}

// keep stores the payloads, or keeps them in memory once the place where they
// are stored has failed. A session that was deleted or taken by another process
// must not go on. The caller holds mu.
func (j *journal) keep(ctx context.Context, at time.Time, ps []store.Payload) (uint64, error) {
	if j.lost == nil {
		first, err := j.store.AppendAll(ctx, j.id, at, ps)
		switch _, backend := errors.AsType[*store.BackendError](err); {
		case err == nil && first == j.head:
			j.head += uint64(len(ps))
			return first, nil
		case err == nil:
			return 0, fmt.Errorf("session %s was written by another process: expected index %d, the store answered %d", j.id, j.head, first)
		case !backend:
			return 0, err
		}
		j.lost = err
	}
	first := j.head
	for _, p := range ps {
		j.unsaved = append(j.unsaved, store.Event{Index: j.head, At: at, Payload: p})
		j.head++
	}
	return first, nil
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

// failure answers why the transcript is not saved any more, or nil.
func (j *journal) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lost
}

// history answers the fold of everything recorded so far.
func (j *journal) history() history.History {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.folder.History()
}

// events streams the transcript, the unsaved tail included.
func (j *journal) events(ctx context.Context, after *uint64) iter.Seq2[store.Event, error] {
	j.mu.Lock()
	tail := j.unsaved
	j.mu.Unlock()
	return func(yield func(store.Event, error) bool) {
		for e, err := range j.store.Transcript(ctx, j.id, after) {
			if err != nil && len(tail) > 0 {
				break // the store is gone; what memory holds is all there is
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

// errClosed answers whoever asks a session that has ended.
var errClosed = errors.New("session is closed")
