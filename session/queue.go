package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/google/uuid"
)

// backlog is the prompts that wait for the turn under way. The core has none of
// them, so each can be changed or withdrawn until it begins. Owned by the session's
// loop.
type backlog struct {
	s       *Session
	entries []waiting
	// paused says that a cancel came: nothing begins by itself until the next prompt.
	paused bool
}

// waiting is a prompt in the backlog.
type waiting struct {
	turn   *turn
	prompt Prompt
}

// turn makes the turn of a prompt, with the next number. The session's mu is locked.
func (b *backlog) turn(p Prompt) *turn { return b.numbered(b.s.nextTurn+1, p.Text) }

// numbered makes the turn with this number. The session's mu is locked.
func (b *backlog) numbered(id uint64, prompt string) *turn {
	t := &turn{id: id, prompt: prompt, settings: b.s.settings, done: make(chan struct{}), calls: map[uint64]*call{}}
	b.s.turns[id] = t
	b.s.nextTurn = max(b.s.nextTurn, id)
	return t
}

// accept begins a prompt, or has it wait for the turn under way. A prompt that comes
// when the queue is paused begins at once, and the queue goes on behind it.
func (b *backlog) accept(t *turn, p Prompt) {
	if len(b.s.queue) == 0 && (b.paused || len(b.entries) == 0) {
		b.paused = false
		b.s.begin(t, p)
		return
	}
	if b.store(&event.Queued{Turn: t.id, Text: p.Text, Context: p.Context}) {
		b.put(waiting{t, p}, false)
	}
}

// put adds an entry, or replaces the one of the same turn.
func (b *backlog) put(w waiting, first bool) {
	i := b.find(w.turn.id)
	switch {
	case first:
		if i >= 0 {
			b.entries = slices.Delete(b.entries, i, i+1)
		}
		b.entries = slices.Insert(b.entries, 0, w)
	case i >= 0:
		b.entries[i] = w
	default:
		b.entries = append(b.entries, w)
	}
}

// store records a change of the queue. It returns false when the session ends.
func (b *backlog) store(payloads ...event.Payload) bool {
	_, err := b.s.journal.record(b.s.ctx, payloads...)
	if err != nil && b.s.ctx.Err() == nil {
		b.s.log.Error("record the queue", "session", b.s.id, "err", err)
	}
	return err == nil
}

// find returns the place of a turn's entry, -1 when none of it waits.
func (b *backlog) find(turn uint64) int {
	return slices.IndexFunc(b.entries, func(w waiting) bool { return w.turn.id == turn })
}

// next begins the entry that is first, if nothing runs. What was said into a turn
// that ended before a request took it becomes an entry of its own before that.
func (b *backlog) next() {
	if len(b.s.queue) > 0 || b.s.broken != nil || b.s.ctx.Err() != nil {
		return
	}
	if steers := b.s.journal.steers(); len(steers) > 0 {
		p := Prompt{Text: strings.Join(steers, "\n\n")}
		b.s.mu.Lock()
		t := b.turn(p)
		b.s.mu.Unlock()
		if !b.store(&event.Queued{Turn: t.id, Text: p.Text, First: true, Steered: true}) {
			return
		}
		b.put(waiting{t, p}, true)
	}
	if b.paused || len(b.entries) == 0 {
		return
	}
	w := b.entries[0]
	b.entries = slices.Delete(b.entries, 0, 1)
	b.s.begin(w.turn, w.prompt)
}

// withdraw takes the entry at i out; why is said in the transcript.
func (b *backlog) withdraw(i int, why string) {
	t := b.entries[i].turn
	if !b.store(&event.Note{Turn: t.id, Text: why}, &event.Done{Turn: t.id, Outcome: "cancelled"}) {
		return
	}
	b.entries = slices.Delete(b.entries, i, i+1)
	t.result.Text = why
	b.s.ending(t)
	b.s.finish(t, "cancelled")
}

// QueueChange changes an entry of a queue: its text, or its place, or takes it out.
// The zero value changes nothing.
type QueueChange struct {
	Entry  uint64
	Text   *string
	Remove bool
	Next   bool // it begins as soon as nothing runs, also when the queue is paused
}

// QueueEntry is a prompt that waits.
type QueueEntry struct {
	ID   uint64 `json:"id"` // the turn that it is going to be
	Text string `json:"text"`
}

// change makes a change.
func (b *backlog) change(c QueueChange) error {
	if c.Entry == 0 {
		return nil
	}
	i := b.find(c.Entry)
	if i < 0 {
		return &ArgumentError{"entry", fmt.Sprintf("no prompt with the id %d waits; it may have begun", c.Entry)}
	}
	w := b.entries[i]
	switch {
	case c.Remove:
		b.withdraw(i, "withdrawn by the user")
		return nil
	case c.Text != nil:
		w.prompt.Text = *c.Text
		b.s.mu.Lock()
		w.turn.prompt = *c.Text
		b.s.mu.Unlock()
	}
	if b.store(&event.Queued{Turn: w.turn.id, Text: w.prompt.Text, Context: w.prompt.Context, First: c.Next}) {
		b.put(w, c.Next)
	}
	if c.Next {
		b.paused = false
		b.next()
	}
	return nil
}

// list is the queue as clients see it.
func (b *backlog) list() []QueueEntry {
	out := []QueueEntry{}
	for _, w := range b.entries {
		out = append(out, QueueEntry{w.turn.id, w.prompt.Text})
	}
	return out
}

// Queue changes the prompts that wait in a session and returns those that are left,
// the next one first. Without an id the session of root that was used last is meant.
func (m *Manager) Queue(ctx context.Context, id *uuid.UUID, root string, c QueueChange) (uuid.UUID, []QueueEntry, error) {
	s, err := m.latest(id, root)
	if err != nil {
		return uuid.Nil, nil, err
	}
	if c.Text != nil {
		if err := fitPrompt(Prompt{Text: *c.Text}); err != nil {
			return uuid.Nil, nil, err
		}
		c.Text = new(event.Text(*c.Text))
	}
	var out []QueueEntry
	var failed error
	if err := s.mail.do(ctx, func() {
		failed = s.backlog.change(c)
		out = s.backlog.list()
	}); err != nil {
		return uuid.Nil, nil, err
	}
	return s.id, out, failed
}

// Steer says something into the turn that runs: its next request has it behind all
// results. Should the turn end before that, it becomes the next prompt.
func (m *Manager) Steer(ctx context.Context, id *uuid.UUID, root, text string) (uuid.UUID, uint64, error) {
	if err := fitPrompt(Prompt{Text: text}); err != nil {
		return uuid.Nil, 0, err
	}
	s, err := m.latest(id, root)
	if err != nil {
		return uuid.Nil, 0, err
	}
	var turn uint64
	var failed error
	if err := s.mail.do(ctx, func() {
		if len(s.queue) == 0 {
			failed = &ArgumentError{"session", fmt.Sprintf("no turn runs in session %s; prompt it instead", s.id)}
			return
		}
		turn = s.queue[0].id
		_, failed = s.journal.record(s.ctx, &event.Steer{Turn: turn, Text: text})
	}); err != nil {
		return uuid.Nil, 0, err
	}
	return s.id, turn, failed
}

// latest is the session with the id, without one the session of root used last.
func (m *Manager) latest(id *uuid.UUID, root string) (*Session, error) {
	if id != nil {
		return m.session(*id)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.sessions[m.recent[root]]; ok {
		return s, nil
	}
	return nil, &ArgumentError{"session", "no session is open in " + root + "; name one, or prompt first"}
}
