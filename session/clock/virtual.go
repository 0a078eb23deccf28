package clock

import (
	"context"
	"sync"
	"time"
)

// Virtual is a clock of one session that stands still except for its sleeps. It
// is safe for concurrent use; sleeps side by side add up.
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

// Reach advances the clock to at, unless it stands later already: a session that
// is resumed goes on where its transcript ends.
func (v *Virtual) Reach(at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at.After(v.now) {
		v.now = at.UTC()
	}
}

// Sleep implements Clock. It returns at once with the clock advanced, by no more
// than to the earliest virtual deadline of ctx, which it then ends. A wait for
// Forever that no virtual deadline bounds lasts until ctx ends; the clock does
// not advance.
func (v *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bound, bounded := ctx.Value(boundKey{v}).(*bound)
	if bounded {
		if err := bound.Err(); err != nil {
			return err
		}
	}
	if d == Forever && !bounded {
		<-ctx.Done()
		return ctx.Err()
	}
	v.mu.Lock()
	end := v.now.Add(d)
	reached := bounded && (d == Forever || !end.Before(bound.at))
	if reached {
		end = bound.at
	}
	if end.After(v.now) {
		v.now = end
	}
	v.mu.Unlock()
	if reached {
		bound.end(context.DeadlineExceeded)
		return context.DeadlineExceeded
	}
	return nil
}

// WithTimeout implements Clock. The deadline is virtual: the context ends, with
// context.DeadlineExceeded, when a Sleep under it reaches the deadline, and not
// by itself; its Deadline method returns ctx's own.
func (v *Virtual) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	at := v.Now().Add(d)
	if outer, ok := ctx.Value(boundKey{v}).(*bound); ok && !at.Before(outer.at) {
		return context.WithCancel(ctx)
	}
	b := &bound{Context: ctx, clock: v, at: at, done: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { b.end(ctx.Err()) })
	// A standard context below b takes over its error, and hands it at once to
	// all that are made from it.
	below, release := context.WithCancel(b)
	if d <= 0 {
		b.end(context.DeadlineExceeded)
	}
	return &limited{below, b}, func() {
		stop()
		b.end(context.Canceled)
		release()
	}
}

// limited is what WithTimeout returns.
type limited struct {
	context.Context
	bound *bound
}

// Err implements context.Context. The word of an ended parent may still be on
// its way, so it is asked for.
func (l *limited) Err() error {
	if err := l.bound.Err(); err != nil {
		return err
	}
	return l.Context.Err()
}

// boundKey finds the earliest virtual deadline on a clock in a context.
type boundKey struct{ v *Virtual }

// bound is a context with a virtual deadline. It is a context of its own, because
// a standard one ends with DeadlineExceeded only by a real timer.
type bound struct {
	context.Context
	clock *Virtual
	at    time.Time
	done  chan struct{} // closed when err is set

	mu    sync.Mutex // guards err and after
	err   error
	after map[*func()]struct{}
}

// Done implements context.Context.
func (b *bound) Done() <-chan struct{} { return b.done }

// Err implements context.Context.
func (b *bound) Err() error {
	b.mu.Lock()
	err := b.err
	b.mu.Unlock()
	if err == nil {
		if err = b.Context.Err(); err != nil {
			b.end(err)
		}
	}
	return err
}

// Value implements context.Context.
func (b *bound) Value(key any) any {
	if key == (boundKey{b.clock}) {
		return b
	}
	return b.Context.Value(key)
}

// AfterFunc is how package context ends the contexts below this one without a
// goroutine for each.
func (b *bound) AfterFunc(f func()) (stop func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		go f()
		return func() bool { return false }
	}
	if b.after == nil {
		b.after = map[*func()]struct{}{}
	}
	key := &f
	b.after[key] = struct{}{}
	return func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		_, ok := b.after[key]
		delete(b.after, key)
		return ok
	}
}

// end ends the context and those below it; the first error stays.
func (b *bound) end(err error) {
	b.mu.Lock()
	if b.err != nil {
		b.mu.Unlock()
		return
	}
	b.err = err
	after := b.after
	b.after = nil
	close(b.done)
	b.mu.Unlock()
	for f := range after {
		(*f)()
	}
}
