package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/loop"
	"github.com/tetratelabs/wazero"
)

// benchCore opens the module for benchmarks other than those of opening.
func benchCore(b *testing.B) *Core {
	b.Helper()
	c, err := Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close(b.Context()) })
	return c
}

func benchSession(b *testing.B) *Session {
	b.Helper()
	s, err := benchCore(b).New(b.Context(), Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close(b.Context()) })
	return s
}

func benchOpen(b *testing.B, cache func() wazero.CompilationCache) {
	ctx := b.Context()
	once := func() {
		r, m, err := compileWith(cache(), module)
		if err != nil {
			b.Fatal(err)
		}
		c := &Core{runtime: r, module: m}
		c.live()
		if err := c.greet(ctx); err != nil {
			b.Fatal(err)
		}
		_ = c.Close(ctx)
	}
	once() // fills a cache on disk
	for b.Loop() {
		once()
	}
}

func BenchmarkHostOpenCold(b *testing.B) { benchOpen(b, wazero.NewCompilationCache) }

func BenchmarkHostOpenFromDisk(b *testing.B) {
	dir := b.TempDir()
	benchOpen(b, func() wazero.CompilationCache { // a new one forgets what is in memory
		cache, err := wazero.NewCompilationCacheWithDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		return cache
	})
}

func BenchmarkHostOpenAgain(b *testing.B) {
	benchCore(b)
	for b.Loop() {
		c, err := Open(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		_ = c.Close(b.Context())
	}
}

func BenchmarkHostNew(b *testing.B) {
	c := benchCore(b)
	for b.Loop() {
		s, err := c.New(b.Context(), Config{})
		if err != nil {
			b.Fatal(err)
		}
		_ = s.Close(b.Context())
	}
}

// benchStepper is either the module or the native loop.
type benchStepper func(Event) []Action

func benchWasm(b *testing.B) benchStepper {
	s := benchSession(b)
	return func(ev Event) []Action {
		actions, err := s.Step(b.Context(), ev)
		if err != nil {
			b.Fatal(err)
		}
		return actions
	}
}

func benchNative(b *testing.B) benchStepper {
	s, err := loop.New([]byte("{}"), nil)
	if err != nil {
		b.Fatal(err)
	}
	var d abi.Decoder
	var encoded []byte
	return func(ev Event) []Action {
		encoded, err = abi.AppendEvent(encoded[:0], ev)
		if err != nil {
			b.Fatal(err)
		}
		answer, err := s.Step(encoded)
		if err != nil {
			b.Fatal(err)
		}
		actions, err := d.Actions(answer)
		if err != nil {
			b.Fatal(err)
		}
		return actions
	}
}

// benchFill makes the conversation about size bytes long and leaves one call
// outstanding, whose id it replies to.
func benchFill(step benchStepper, size int) uint64 {
	ask := step(Event{Turn: &Turn{ID: 1, Prompt: "go"}})[0].ID
	text := strings.Repeat("some text of a file\n", 500)
	for sum := 0; ; sum += len(text) {
		id := step(Event{Model: &Answer{ID: ask, Reply: Reply{Calls: []Call{{Read: &Read{Path: "a.go"}}}}}})[0].ID
		if sum >= size {
			return id
		}
		ask = step(Event{File: &Output{ID: id, Text: text}})[0].ID
	}
}

// BenchmarkHostStep is the module beside the native loop: an event that changes
// nothing, which is the floor; a prompt that is queued or cancelled; and a round,
// two steps, with a long conversation.
func BenchmarkHostStep(b *testing.B) {
	for _, kind := range []struct {
		name string
		make func(*testing.B) benchStepper
	}{{"wasm", benchWasm}, {"native", benchNative}} {
		b.Run("refused/"+kind.name, func(b *testing.B) {
			step := kind.make(b)
			for b.Loop() {
				step(Event{Turn: &Turn{Prompt: "hi"}})
			}
		})
		b.Run("small/"+kind.name, func(b *testing.B) {
			step := kind.make(b)
			step(Event{Turn: &Turn{ID: 1, Prompt: "hi"}})
			turn, queued := uint64(1), false
			for b.Loop() { // the conversation stays as it is
				if queued {
					step(Event{Cancel: &Cancel{Turn: turn}})
				} else {
					turn++
					step(Event{Turn: &Turn{ID: turn, Prompt: "hi"}})
				}
				queued = !queued
			}
		})
		for _, size := range []int{100 << 10, 1 << 20, 8 << 20} {
			b.Run(fmt.Sprintf("ask-%dKiB/%s", size>>10, kind.name), func(b *testing.B) {
				step := kind.make(b)
				id := benchFill(step, size)
				for b.Loop() { // both halves of a round: the result that asks, the reply that calls
					ask := step(Event{File: &Output{ID: id, Text: "ok"}})[0].ID
					id = step(Event{Model: &Answer{ID: ask, Reply: Reply{Calls: []Call{{Read: &Read{Path: "a.go"}}}}}})[0].ID
				}
			})
		}
	}
}

// BenchmarkHostRead is a result of 1 MiB: source code, text without a line end,
// and text of three bytes a character. Each needs a session of its own, made
// outside of the time.
func BenchmarkHostRead(b *testing.B) {
	for _, text := range []struct{ name, text string }{
		{"code", strings.Repeat("\tif err := run(\"x\"); err != nil {\n", 1<<20/35)},
		{"plain", strings.Repeat("0123456789abcdef", 1<<16)},
		{"wide", strings.Repeat("\u6f22\u5b57\u4eee", 1<<20/9)},
	} {
		for _, kind := range []struct {
			name string
			make func(*testing.B) benchStepper
		}{{"wasm", benchWasm}, {"native", benchNative}} {
			b.Run(text.name+"/"+kind.name, func(b *testing.B) {
				b.SetBytes(int64(len(text.text)))
				var step benchStepper
				var id uint64
				left := 0
				for b.Loop() {
					if left == 0 {
						b.StopTimer()
						step, left = kind.make(b), 10
						id = benchFill(step, 0)
						b.StartTimer()
					}
					left--
					ask := step(Event{File: &Output{ID: id, Text: text.text}})[0].ID
					id = step(Event{Model: &Answer{ID: ask, Reply: Reply{Calls: []Call{{Read: &Read{Path: "a.go"}}}}}})[0].ID
				}
			})
		}
	}
}

func BenchmarkHostSnapshot(b *testing.B) {
	benchSizes(b, func(b *testing.B, s *Session) {
		for b.Loop() {
			if _, err := s.Snapshot(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkHostRestore(b *testing.B) {
	benchSizes(b, func(b *testing.B, s *Session) {
		state, err := s.Snapshot(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			r, err := s.core.Restore(b.Context(), state)
			if err != nil {
				b.Fatal(err)
			}
			_ = r.Close(b.Context())
		}
	})
}

// benchSizes gives sessions of several sizes to run.
func benchSizes(b *testing.B, run func(*testing.B, *Session)) {
	for _, size := range []int{1 << 10, 1 << 20, 8 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s := benchSession(b)
			benchFill(func(ev Event) []Action {
				actions, err := s.Step(b.Context(), ev)
				if err != nil {
					b.Fatal(err)
				}
				return actions
			}, size)
			run(b, s)
		})
	}
}
