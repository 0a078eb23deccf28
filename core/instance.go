package core

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// errAbsent is a module that lacks an export, or has it with another signature.
var errAbsent = errors.New("the module is not a core")

// instance is one run of the module with a memory of its own. It is not safe
// for concurrent use.
type instance struct {
	mod       api.Module
	functions map[string]function
	clock     clock
	said      said
}

// function is an export that was looked up, with room for its arguments.
type function struct {
	api.Function
	params, results int
	stack           []uint64
}

// instantiate starts the module.
func (c *Core) instantiate(ctx context.Context) (*instance, error) {
	in := &instance{functions: make(map[string]function, 9), clock: 1 << 40}
	var memory *region
	allocate := experimental.MemoryAllocatorFunc(func(_, limit uint64) experimental.LinearMemory {
		memory = newRegion(limit)
		return memory
	})
	config := wazero.NewModuleConfig().
		WithName("").
		WithStartFunctions("_initialize").
		// Most of the guest's heap is the place for its conversation. By the usual
		// rule the collector would wait until as much again is garbage.
		WithEnv("GOGC", "20").
		WithNanotime(in.clock.read, 1).
		WithStderr(&in.said)
	mod, err := c.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, allocate), c.module, config)
	if err != nil {
		if memory != nil {
			memory.unmap()
		}
		return nil, fmt.Errorf("instantiate the core: %w", err)
	}
	in.mod = mod
	if memory != nil {
		runtime.AddCleanup(in, (*region).unmap, memory)
	}
	return in, nil
}

// Call runs an export. It never enters an instance that has ended.
func (in *instance) Call(ctx context.Context, export string, args ...uint64) ([]uint64, error) {
	if in.mod.IsClosed() {
		return nil, fmt.Errorf("%w: its instance is closed", ErrHandle)
	}
	f, ok := in.functions[export]
	if !ok {
		exported := in.mod.ExportedFunction(export)
		if exported == nil {
			return nil, fmt.Errorf("%w: it exports no function %s", errAbsent, export)
		}
		d := exported.Definition()
		f = function{Function: exported, params: len(d.ParamTypes()), results: len(d.ResultTypes())}
		f.stack = make([]uint64, max(f.params, f.results))
		in.functions[export] = f
	}
	if f.params != len(args) {
		return nil, fmt.Errorf("%w: its %s takes %d arguments, not %d", errAbsent, export, f.params, len(args))
	}
	copy(f.stack, args)
	in.clock += clockStep
	err := f.CallWithStack(ctx, f.stack)
	runtime.KeepAlive(in) // its memory is unmapped when it is unreachable
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.stack[:f.results]), nil
}

// Memory is the module's, nil when it exports none.
func (in *instance) Memory() api.Memory { return in.mod.ExportedMemory("memory") }

func (in *instance) close(ctx context.Context) { _ = in.mod.Close(context.WithoutCancel(ctx)) }

// clock is the only time a guest sees: it starts at the same reading in every
// instance and moves only with what the guest does. The Go runtime inside uses
// it to judge how much of the time its collector takes, so a call must seem
// longer than the readings in it; else the collector believes that it takes all
// and holds back, and the memory grows.
type clock int64

const clockStep = 1e6 // nanoseconds that a call seems to take

func (c *clock) read() int64 {
	*c += 1e3
	return int64(*c)
}

// said keeps the first KiB of what a guest writes to its standard error.
type said struct{ text strings.Builder }

func (s *said) Write(p []byte) (int, error) {
	room := 1<<10 - s.text.Len()
	s.text.Write(p[:min(room, len(p))])
	return len(p), nil
}

// last is what was said, to stand behind an error's text.
func (s *said) last() string {
	if text := strings.TrimSpace(s.text.String()); text != "" {
		return ": " + text
	}
	return ""
}
