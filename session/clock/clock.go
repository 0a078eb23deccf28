// Package clock is the one source of time of a session: the machine's, or a
// virtual one that only declared waits advance, so that a scripted session
// writes the same bytes whenever and wherever it runs.
package clock

import (
	"context"
	"time"
)

// Clock reads and spends time.
type Clock interface {
	// Now is the current instant, UTC.
	Now() time.Time
	// Sleep waits for d or until ctx ends, and returns ctx's error then. When a
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
	// Two timers of one instant fire in any order, so a deadline within the wait
	// is waited for alone.
	deadline, bounded := ctx.Deadline()
	if d == Forever || bounded && time.Until(deadline) <= d {
		<-ctx.Done()
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// WithTimeout implements Clock.
func (Real) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}
