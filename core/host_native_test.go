package core

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/internal/coretest"
	"github.com/agent-lsp/agent-lsp/core/loop"
)

// hostPlay drives the module and the native loop by the same choices: replies
// and snapshots must be the same bytes, also for events that nobody can read and
// through restores of either by the other's snapshot.
func hostPlay(t *testing.T, c *Core, choose coretest.Choose, events int) {
	ctx := t.Context()
	p := coretest.NewPlayer(choose)
	config := p.Config()
	encoded, err := abi.AppendConfig(nil, config)
	if err != nil {
		t.Fatal(err)
	}
	native, err := loop.New(encoded, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.New(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(ctx) }()
	for n := range events {
		if encoded, err = abi.AppendEvent(nil, p.Next()); err != nil {
			t.Fatal(err)
		}
		switch choose(6) {
		case 0:
			encoded = coretest.Respell(choose, encoded)
		case 1:
			encoded[choose(len(encoded))] = byte(choose(256))
		}
		want, refused := native.Step(encoded)
		err := s.step(ctx, encoded, func(answer []byte) error {
			if refused != nil {
				t.Fatalf("the module read %q, the loop did not: %v", encoded, refused)
			}
			if !bytes.Equal(want, answer) {
				t.Fatalf("to %s the loop answers\n%s\nthe module\n%s", encoded, want, answer)
			}
			return nil
		})
		switch {
		case refused != nil:
			hostIs(t, err, ErrMalformed)
			continue
		case err != nil:
			t.Fatal(err)
		}
		actions, err := abi.DecodeActions(want)
		if err != nil {
			t.Fatalf("%v in %s", err, want)
		}
		p.Saw(actions)
		if n == events-1 || choose(8) == 0 {
			state, err := s.Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(native.Snapshot(), state) {
				t.Fatal("the snapshots differ")
			}
			if choose(8) == 0 {
				if native, err = loop.Restore(state, nil); err != nil {
					t.Fatal(err)
				}
				_ = s.Close(ctx)
				if s, err = c.Restore(ctx, state); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestHostTheModuleAnswersAsTheNativeLoop(t *testing.T) {
	c := hostOpen(t)
	for seed := range uint64(25) {
		hostPlay(t, c, coretest.Seeded(seed), 120)
	}
}

func FuzzHostTheModuleAnswersAsTheNativeLoop(f *testing.F) {
	c, err := Open(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	defer c.Close(f.Context())
	f.Add([]byte("\x01\x02\x03 some choices"))
	f.Fuzz(func(t *testing.T, data []byte) {
		hostPlay(t, c, coretest.FromBytes(data), max(1, min(len(data)/4, 200)))
	})
}

// TestHostEqualEventsGiveEqualBytesAtAnyTime steps sessions of their own by the
// same events: nothing but the events may show in an answer.
func TestHostEqualEventsGiveEqualBytesAtAnyTime(t *testing.T) {
	run := func(c *Core) (all []byte) {
		s := hostNew(t, c)
		p := coretest.NewPlayer(coretest.Seeded(1))
		for range 200 {
			actions := hostStep(t, s, p.Next())
			p.Saw(actions)
			encoded, err := abi.AppendActions(nil, actions)
			if err != nil {
				t.Fatal(err)
			}
			all = append(append(all, encoded...), '\n')
		}
		state, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return append(all, state...)
	}
	c := hostOpen(t)
	first := run(c)
	for range 5 {
		if !bytes.Equal(first, run(c)) {
			t.Fatal("two sessions answer differently")
		}
	}
	if !bytes.Equal(first, run(hostOpen(t))) {
		t.Fatal("a session of another core answers differently")
	}
}

// TestHostNothingOfTheWorldReachesAModule asks for the time and for random bytes:
// a module gets the same ones whenever and wherever it runs, and no argument,
// variable or file of this process.
func TestHostNothingOfTheWorldReachesAModule(t *testing.T) {
	const i32, i64 = 0x7f, 0x7e
	call := func(index byte, args ...int32) (code []byte) {
		for _, a := range args {
			code = append(code, hostConst(a)...)
		}
		return append(code, 0x10, index, 0x1a) // call, drop
	}
	realtime := hostJoin(hostConst(0), []byte{0x42, 0x00}, hostConst(256), []byte{0x10, 0, 0x1a})
	monotonic := hostJoin(hostConst(1), []byte{0x42, 0x00}, hostConst(264), []byte{0x10, 0, 0x1a})
	m := hostFakeOf("", hostExport{"dev_step", 4, true, true, hostJoin(realtime, monotonic,
		call(1, 272, 32), call(2, 304, 308), call(3, 312, 316),
		hostStore(3, 0, 256), hostStore(3, 4, 64), hostConst(0))})
	m.imports = []hostImport{
		{"clock_time_get", []byte{i32, i64, i32}},
		{"random_get", []byte{i32, i32}},
		{"environ_sizes_get", []byte{i32, i32}},
		{"args_sizes_get", []byte{i32, i32}},
	}
	t.Setenv("AGENT_LSP_SECRET", "in the environment")
	var first []byte
	for range 3 {
		s := hostFakeSession(t, m.bytes())
		var got []byte
		if err := s.step(t.Context(), []byte(`"Timer"`), func(answer []byte) error { got = bytes.Clone(answer); return nil }); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if !bytes.Equal(first, got) {
			t.Errorf("two modules see different worlds:\n%x\n%x", first, got)
		}
	}
	if at := int64(binary.LittleEndian.Uint64(first)); time.Since(time.Unix(0, at)) < 24*time.Hour {
		t.Errorf("a module sees the time %s", time.Unix(0, at))
	}
	if bytes.Equal(first[16:48], make([]byte, 32)) || bytes.Equal(first[:8], make([]byte, 8)) {
		t.Errorf("nothing was asked: %x", first)
	}
	if variables, args := binary.LittleEndian.Uint32(first[48:]), binary.LittleEndian.Uint32(first[56:]); variables != 1 || args != 0 {
		t.Errorf("a module sees %d variables and %d arguments, want only the collector's variable", variables, args)
	}
}
