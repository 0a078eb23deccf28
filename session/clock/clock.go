// Package clock is the one source of time of a session: the machine's, or a
// virtual one that only declared waits advance, so that a scripted session
// writes the same bytes whenever and wherever it runs.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock tells and spends time.
type Clock interface {
	// Now is the current instant, UTC.
	Now() time.Time
	// Sleep waits for d or until ctx ends, and answers ctx's error then. When a
	// deadline and the end of the wait coincide, the deadline wins.
	Sleep(ctx context.Context, d time.Duration) error
	// WithTimeout is context.WithTimeout on this clock.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// Forever is a wait that only the context ends.
const Forever = time.Duration(1<<63 - 1)

// Real is the machine's clock.
type Real struct{}

// Now implements Clock.
func (Real) Now() time.Time { return time.Now().UTC() }

// Sleep implements Clock.
func (Real) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d == Forever {
		<-ctx.Done()
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return ctx.Err() // a deadline at the same instant wins
	}
}

// WithTimeout implements Clock.
func (Real) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// Virtual is a clock of one session that stands still except for its sleeps.
type Virtual struct {
	mu  sync.Mutex // guards now
	now time.Time
}

// NewVirtual makes a clock that stands at epoch.
func NewVirtual(epoch time.Time) *Virtual { return &Virtual{now: epoch.UTC()} }

// Now implements Clock.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// deadlineKey finds a virtual deadline in a context.
type deadlineKey struct{ v *Virtual }

type virtualDeadline struct {
	at     time.Time
	cancel context.CancelCauseFunc
}

// Sleep implements Clock. It returns at once with the clock advanced, unless no
// virtual deadline bounds a wait for Forever: then it waits until ctx ends.
func (v *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dl, bounded := ctx.Value(deadlineKey{v}).(virtualDeadline)
	v.mu.Lock()
	end := v.now.Add(d)
	if d == Forever && !bounded {
		v.mu.Unlock()
		<-ctx.Done()
		return ctx.Err()
	}
	if bounded && (d == Forever || !end.Before(dl.at)) {
		if dl.at.After(v.now) {
			v.now = dl.at
		}
		v.mu.Unlock()
		dl.cancel(context.DeadlineExceeded)
		return context.DeadlineExceeded
	}
	v.now = end
	v.mu.Unlock()
	return nil
}

// WithTimeout implements Clock. The context's deadline is virtual: its Deadline
// method answers none, and it ends when a Sleep reaches it, with
// context.DeadlineExceeded as its cause.
func (v *Virtual) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	at := v.Now().Add(d)
	if outer, ok := ctx.Value(deadlineKey{v}).(virtualDeadline); ok && outer.at.Before(at) {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ctx = context.WithValue(ctx, deadlineKey{v}, virtualDeadline{at, cancel})
	return ctx, func() { cancel(context.Canceled) }
}
