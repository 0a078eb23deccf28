package lsp

import (
	"context"
	"sync"
	"time"
)

// line lets what the client sends take effect in the order in which it arrived,
// although it runs beside the reading: each joins the line on the reading
// goroutine and begins when all that joined before have left.
type line struct {
	mu   sync.Mutex
	last <-chan struct{} // closed when everybody who joined has left; nil before the first
}

// ticket is a place in a line. It must be left.
type ticket struct {
	before <-chan struct{}
	left   chan struct{}
	once   sync.Once
}

// join takes the place behind everybody who joined before.
func (l *line) join() *ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &ticket{before: l.last, left: make(chan struct{})}
	l.last = t.left
	return t
}

// reach waits until it is this place's turn, or for the end of ctx.
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

// leaveAfter leaves at the latest after a time; stop ends the wait for it. What
// waits for the editor must not hold everybody else up for as long as that takes.
func (t *ticket) leaveAfter(d time.Duration, late func()) (stop func() bool) {
	return time.AfterFunc(d, func() {
		late()
		t.leave()
	}).Stop
}
