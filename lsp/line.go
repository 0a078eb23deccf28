package lsp

import (
	"context"
	"sync"
	"time"
)

// line is a queue that keeps the client's messages in their order although they run
// on other goroutines than the reader: each joins the line on the reading goroutine
// and begins when all that joined before have left.
type line struct {
	mu   sync.Mutex
	last <-chan struct{} // closed when all that joined have left; nil before the first
}

// ticket is a place in a line. Its owner must call leave.
type ticket struct {
	before <-chan struct{}
	left   chan struct{}
	once   sync.Once
}

// join adds a place at the line's end.
func (l *line) join() *ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &ticket{before: l.last, left: make(chan struct{})}
	l.last = t.left
	return t
}

// reach waits until all places before this one have been left, or for the end of ctx.
func (t *ticket) reach(ctx context.Context) error {
	if t.before == nil {
		return ctx.Err()
	}
	select {
	case <-t.before:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave lets the next place begin once those before this one have left. It may be
// called more than once.
func (t *ticket) leave() {
	t.once.Do(func() {
		if t.before == nil {
			close(t.left)
			return
		}
		select {
		case <-t.before:
			close(t.left)
		default:
			go func() {
				<-t.before
				close(t.left)
			}()
		}
	})
}

// leaveAfter leaves after a time unless stop is called before: a job that waits for
// the editor must not block the jobs behind it for as long as that takes.
func (t *ticket) leaveAfter(d time.Duration, late func()) (stop func() bool) {
	return time.AfterFunc(d, func() {
		late()
		t.leave()
	}).Stop
}
