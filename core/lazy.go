package core

import (
	"context"
	"fmt"
	"sync"
)

// Lazy opens one Core when it is first needed, for everybody who needs it. A
// process without a session spends neither the time nor the 20 MiB of memory that
// the compiled module takes. Make it with NewLazy.
type Lazy struct {
	ctx    context.Context
	once   sync.Once
	opened chan struct{} // closed when core and err are set
	core   *Core
	err    error
}

// NewLazy returns a Lazy that is not open yet. When ctx ends, opening fails. The
// caller closes it.
func NewLazy(ctx context.Context) *Lazy {
	return &Lazy{ctx: ctx, opened: make(chan struct{})}
}

// Start begins to open the core and does not wait for it.
func (l *Lazy) Start() {
	l.once.Do(func() {
		go func() {
			defer close(l.opened)
			l.core, l.err = Open(l.ctx)
		}()
	})
}

// Open starts to open the core unless that was done, and waits for it or for the
// end of ctx. Every call returns the same Core or the same error. The Core is
// closed by Close.
func (l *Lazy) Open(ctx context.Context) (*Core, error) {
	l.Start()
	select {
	case <-l.opened:
		return l.core, l.err
	case <-ctx.Done():
		return nil, fmt.Errorf("open the core: %w", ctx.Err())
	}
}

// Close closes the core if it was opened, and returns that error. Calls of Open
// that come later fail, with ErrHandle if it never was.
func (l *Lazy) Close(ctx context.Context) error {
	l.once.Do(func() {
		l.err = fmt.Errorf("open the core: %w: it was closed before", ErrHandle)
		close(l.opened)
	})
	<-l.opened
	if l.core == nil {
		return nil
	}
	return l.core.Close(ctx)
}
