package session

import (
	"context"
	"sync"
)

// mailbox hands functions to the one goroutine that owns a session's state, in
// the order in which they were posted. Posting never blocks.
type mailbox struct {
	mu     sync.Mutex // guards queue and closed
	queue  []func()
	closed bool
	wake   chan struct{} // has a token while queue is not empty
	ended  chan struct{} // closed when nothing runs any more
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1), ended: make(chan struct{})} }

// post returns false when the owner has ended: f will not run.
func (m *mailbox) post(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.queue = append(m.queue, f)
	select {
	case m.wake <- struct{}{}:
	default:
	}
	return true
}

// call posts f and waits until it ran; it returns false when the owner ended or
// ctx did first. f may still run after ctx ended.
func (m *mailbox) call(ctx context.Context, f func()) bool {
	done := make(chan struct{})
	if !m.post(func() { defer close(done); f() }) {
		return false
	}
	select {
	case <-done:
		return true
	case <-m.ended:
		return false
	case <-ctx.Done():
		return false
	}
}

// do is call with the reason when f may not have run.
func (m *mailbox) do(ctx context.Context, f func()) error {
	switch {
	case m.call(ctx, f):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return errClosed
}

// run performs what is posted until ctx ends.
func (m *mailbox) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			m.mu.Lock()
			m.closed = true
			m.queue = nil
			m.mu.Unlock()
			close(m.ended)
			return
		case <-m.wake:
		}
		for {
			m.mu.Lock()
			if len(m.queue) == 0 || ctx.Err() != nil {
				m.mu.Unlock()
				break
			}
			f := m.queue[0]
			m.queue = m.queue[1:]
			m.mu.Unlock()
			f()
		}
	}
}
