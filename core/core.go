// Package core hosts the agent's reasoning loop: a deterministic state machine
// (package core/loop) that runs as WebAssembly, so that it can be frozen to
// bytes, carried to another process and replayed, and reaches nothing by itself.
//
// A Core is the compiled module; a Session is one conversation in an instance
// of its own. A session is passed an Event and returns the Actions it wants
// performed:
//
//	c, err := core.Open(ctx)
//	s, err := c.New(ctx, core.Config{})
//	actions, err := s.Step(ctx, core.Event{Turn: &core.Turn{ID: 1, Prompt: "fix the build"}})
//
// This package performs none of them.
package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/tetratelabs/wazero"
)

// memoryPages bounds each session's memory: 64 MiB.
const memoryPages = 1024

// Core is the compiled module. It is safe for concurrent use.
type Core struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	sealed  bool                     // its snapshots are known to be sealed
	spare   atomic.Pointer[instance] // one that no session has used yet

	mu     sync.RWMutex    // read-locked by every call inside, so that Close can wait
	life   context.Context // ends with Close
	finish context.CancelFunc
}

// Open compiles the module, once per process whoever asks, and makes sure that
// it speaks ABI. The first Open ever of a user takes about a second; later ones
// find the result in the user's cache directory and take some 30 ms. The caller
// closes the Core. When ctx ends first, Open returns its error.
func Open(ctx context.Context) (*Core, error) {
	c, err := open(ctx, module)
	if err != nil {
		return nil, err
	}
	c.sealed = true
	return c, nil
}

// open is Open for any module. Compiling cannot be stopped, so when ctx ends it
// goes on behind the caller's back and its result is dropped.
func open(ctx context.Context, wasm []byte) (*Core, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open the core: %w", err)
	}
	type outcome struct {
		core *Core
		err  error
	}
	built := make(chan outcome)
	go func() {
		c := new(Core)
		var err error
		c.runtime, c.module, err = compile(wasm)
		c.live()
		select {
		case built <- outcome{c, err}:
		case <-ctx.Done():
			if err == nil {
				_ = c.Close(context.Background())
			}
		}
	}()
	var o outcome
	select {
	case o = <-built:
	case <-ctx.Done():
		return nil, fmt.Errorf("open the core: %w", ctx.Err())
	}
	if o.err != nil {
		return nil, o.err
	}
	if err := o.core.greet(ctx); err != nil {
		_ = o.core.Close(ctx)
		if ended := ctx.Err(); ended != nil {
			return nil, fmt.Errorf("open the core: %w", ended)
		}
		return nil, err
	}
	return o.core, nil
}

func (c *Core) live() { c.life, c.finish = context.WithCancel(context.Background()) }

// greet asks a first instance for the version it speaks and keeps it for the
// first session.
func (c *Core) greet(ctx context.Context) error {
	in, err := c.instantiate(ctx)
	if err != nil {
		return err
	}
	got, err := in.Call(ctx, "dev_abi")
	switch {
	case err != nil:
		return fmt.Errorf("ask the core for its version: %w", err)
	case len(got) != 1:
		return fmt.Errorf("%w: its dev_abi answers %d values", errAbsent, len(got))
	case int32(got[0]) != ABI:
		return fmt.Errorf("the module speaks abi %d, this program speaks abi %d: build them together", int32(got[0]), ABI)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	c.spare.Store(in)
	return nil
}

// New starts a session. Errors: ErrMalformed for a configuration with text that
// is not UTF-8, ErrHandle after Close or when ctx ends, ErrNull or ErrPanic for
// one that is too large. The caller closes the session.
func (c *Core) New(ctx context.Context, cfg Config) (*Session, error) {
	encoded, err := abi.AppendConfig(nil, cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: the configuration: %w", ErrMalformed, err)
	}
	return c.begin(ctx, "dev_new", encoded)
}

// Restore makes a session of a snapshot, which goes on just as the original
// would have. Errors: ErrMalformed for anything but a whole, unchanged snapshot
// of this ABI, else those of New. The caller closes the session.
func (c *Core) Restore(ctx context.Context, state []byte) (*Session, error) {
	if c.sealed {
		// The module would say the same after some milliseconds of starting it.
		if _, ok := abi.Unseal(state); !ok {
			return nil, fmt.Errorf("%w: not a snapshot of abi %d, or a damaged one", ErrMalformed, ABI)
		}
	}
	return c.begin(ctx, "dev_restore", state)
}

// begin gives an instance to a new session and has the export make it of data.
func (c *Core) begin(ctx context.Context, export string, data []byte) (*Session, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.life.Err() != nil {
		return nil, fmt.Errorf("%w: the core is closed", ErrHandle)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHandle, err)
	}
	ctx, release := c.bound(ctx)
	defer release()
	in := c.spare.Swap(nil)
	if in == nil {
		var err error
		if in, err = c.instantiate(ctx); err != nil {
			return nil, c.judge(ctx, err)
		}
	}
	s := &Session{core: c, inst: in}
	if err := s.start(ctx, export, data); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// Close ends the core and its sessions: calls in flight are stopped and waited
// for. It returns nil, again when called again.
func (c *Core) Close(ctx context.Context) error {
	c.finish()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runtime.Close(context.WithoutCancel(ctx))
}

// bound returns a context that ends with the caller's or with the core.
func (c *Core) bound(ctx context.Context) (context.Context, func()) {
	if ctx.Done() == nil {
		return c.life, func() {}
	}
	bounded, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.life, cancel)
	return bounded, func() { stop(); cancel() }
}

// judge says what an error of the engine means. A context that ended is looked
// at first: the engine's own error does not tell it from a guest that exits.
func (c *Core) judge(ctx context.Context, err error) error {
	switch {
	case c.life.Err() != nil:
		return fmt.Errorf("%w: the core is closed", ErrHandle)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrHandle, ctx.Err())
	case errors.Is(err, ErrHandle):
		return err
	case errors.Is(err, errAbsent):
		return fmt.Errorf("%w: %w", ErrHandle, err)
	}
	return fmt.Errorf("%w: %w", ErrPanic, err)
}
