package httpmodel

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/session/clock"
)

var (
	errIdle  = errors.New("no piece of the answer came in time")
	errWhole = errors.New("the answer took too long")
)

// watch cancels a context when an attempt has run out of time.
type watch struct {
	clock  clock.Clock
	cancel context.CancelCauseFunc
	idle   time.Duration // 0 for no limit
	wg     sync.WaitGroup

	mu    sync.Mutex // guards what follows
	whole time.Time  // zero for no limit
	until time.Time  // of the wait for the next piece, zero for no limit
	wake  context.CancelFunc
}

// newWatch starts a watch. Its context is canceled with errIdle or errWhole as the
// cause; stop cancels it in any case and waits until the goroutine has returned.
func newWatch(ctx context.Context, c clock.Clock, whole, idle time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{clock: c, cancel: cancel, idle: idle}
	now := c.Now()
	if whole > 0 {
		w.whole = now.Add(whole)
	}
	if idle > 0 {
		w.until = now.Add(idle)
	}
	if whole > 0 || idle > 0 {
		w.wg.Go(func() { w.run(ctx) })
	}
	return ctx, w
}

func (w *watch) stop() {
	w.cancel(nil)
	w.wg.Wait()
}

// piece restarts the idle timeout: a piece of the reply came.
func (w *watch) piece() {
	if w.idle > 0 {
		now := w.clock.Now()
		w.mu.Lock()
		w.until = now.Add(w.idle)
		w.mu.Unlock()
	}
}

// grace shortens the wait for the rest of a stream whose reply is complete.
func (w *watch) grace(d time.Duration) {
	if w.idle <= 0 {
		return
	}
	at := w.clock.Now().Add(d)
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.Before(w.until) {
		w.until = at
		if w.wake != nil {
			w.wake()
		}
	}
}

func (w *watch) run(ctx context.Context) {
	for {
		now := w.clock.Now()
		nap, wake := context.WithCancel(ctx)
		w.mu.Lock()
		at, cause := w.until, errIdle
		if at.IsZero() || !w.whole.IsZero() && w.whole.Before(at) {
			at, cause = w.whole, errWhole
		}
		w.wake = wake
		w.mu.Unlock()
		if !now.Before(at) {
			wake()
			w.cancel(cause)
			return
		}
		_ = w.clock.Sleep(nap, at.Sub(now)) // ends early when the attempt does, or when woken
		wake()
		if ctx.Err() != nil {
			return
		}
	}
}
