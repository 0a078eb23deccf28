package core

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/internal/coretest"
)

// hostConverse does one turn, of a prompt, a call, its result and a text, which
// are four steps, and takes a snapshot after each two.
func hostConverse(t *testing.T, s *Session, turn uint64, text string) {
	ask := hostStep(t, s, hostPrompt(turn, text))[0].ID
	id := hostStep(t, s, Event{Model: &Answer{ID: ask, Reply: Reply{Calls: []Call{{Read: &Read{Path: "a.go"}}}}}})[0].ID
	hostSnapshot(t, s)
	ask = hostStep(t, s, Event{File: &Output{ID: id, Text: text}})[0].ID
	hostStep(t, s, Event{Model: &Answer{ID: ask, Reply: Reply{Text: &text}}})
	hostSnapshot(t, s)
}

func hostSnapshot(t *testing.T, s *Session) []byte {
	t.Helper()
	state, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestHostMemoryDoesNotGrowWithSteps(t *testing.T) {
	if hostRace {
		t.Skip("not under the race detector, which does not look into the module")
	}
	s := hostNew(t, hostOpen(t))
	before := s.inst.Memory().Size()
	if before > 32<<20 {
		t.Errorf("a new session has %d bytes of address space", before)
	}
	for turn := range uint64(2500) {
		hostConverse(t, s, turn+1, "some text of a usual length, with a line end\n")
	}
	if after := s.inst.Memory().Size(); after != before {
		t.Fatalf("10,000 steps grew the memory from %d to %d bytes", before, after)
	}
	for n := range 1000 {
		size := 1
		if n%20 == 0 {
			size = []int{2 * kept, 900 << 10, 3 << 20}[n/20%3]
		}
		event := []byte(`{"Turn":{"id":9999,"prompt":"` + strings.Repeat("x", size) + `","more":1}}`)
		hostIs(t, s.step(t.Context(), event, func([]byte) error { return nil }), ErrMalformed)
	}
	if after := s.inst.Memory().Size(); after != before {
		t.Fatalf("1,000 refused calls grew the memory from %d to %d bytes", before, after)
	}
}

// TestHostACallSeemsLongerThanTheReadingsInIt compares by the only time that the
// module sees: its collector judges by it whether it takes too much of the time.
func TestHostACallSeemsLongerThanTheReadingsInIt(t *testing.T) {
	s := hostNew(t, hostOpen(t))
	before := s.inst.clock
	if _, err := s.inst.Call(t.Context(), "dev_abi"); err != nil {
		t.Fatal(err)
	}
	var reading clock
	if call := s.inst.clock - before; call < 100*clock(reading.read()) {
		t.Errorf("a call seems to take %d ns and a reading %d ns", call, reading)
	}
}

// TestHostMemoryDoesNotGrowOverManySessions takes 100,000 steps when
// AGENT_LSP_TEST_SLOW is set, else 3,000. The conversation starts anew, restored of an empty
// snapshot's size, by dropping old sessions within the one instance.
func TestHostMemoryDoesNotGrowOverManySessions(t *testing.T) {
	turns, each := uint64(750), uint64(50)
	if os.Getenv("AGENT_LSP_TEST_SLOW") != "" {
		turns, each = 25_000, 2500
	}
	ctx := t.Context()
	s := hostNew(t, hostOpen(t))
	before := s.inst.Memory().Size()
	for turn := range turns {
		if turn%each == each-1 {
			if err := s.invoke(ctx, "dev_drop", s.handle); err != nil {
				t.Fatal(err)
			}
			s.decoder = abi.Decoder{}
			if err := s.start(ctx, "dev_new", []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		hostConverse(t, s, turn+1, "some text of a usual length, with a line end\n")
		if after := s.inst.Memory().Size(); after != before {
			t.Fatalf("%d steps grew the memory from %d to %d bytes", 4*(turn+1), before, after)
		}
	}
}

// TestHostTheModuleKeepsItsBooks calls the module's functions as a host would
// that makes mistakes.
func TestHostTheModuleKeepsItsBooks(t *testing.T) {
	ctx := t.Context()
	s := hostNew(t, hostOpen(t))
	call := func(want abi.Status, export string, args ...uint64) {
		t.Helper()
		got, err := s.status(ctx, export, args...)
		if err != nil || got != want {
			t.Fatalf("%s%v answers %d, %v, want %d", export, args, got, err, want)
		}
	}
	lend := func(text string) uint64 {
		at, err := s.alloc(ctx, len(text))
		if err != nil || !s.inst.Memory().Write(at, []byte(text)) {
			t.Fatal(err)
		}
		return uint64(at)
	}
	config, timer, out := lend("{}"), lend(`"Timer"`), lend(strings.Repeat("\x00", 16))
	for _, null := range [][3]uint64{{0, 2, out}, {config, 2, 0}, {0, 0, 0}, {config, 1 << 31, out}, {config, 2, out + 12}, {1 << 31, 2, out}} {
		call(abi.Null, "dev_new", null[0], null[1], null[2])
		call(abi.Null, "dev_restore", null[0], null[1], null[2])
	}
	call(abi.Malformed, "dev_new", timer, 7, out)
	call(abi.Malformed, "dev_restore", timer, 7, out)
	call(abi.OK, "dev_new", config, 2, out)
	handle, _ := s.inst.Memory().ReadUint64Le(uint32(out))
	for _, wrong := range []uint64{0, handle + 1, handle + 1<<32, 1 << 63, ^uint64(0)} {
		if wrong != s.handle {
			call(abi.Handle, "dev_step", wrong, timer, 7, out)
			call(abi.Handle, "dev_snapshot", wrong, out)
		}
	}
	call(abi.Null, "dev_step", handle, 0, 7, out)
	call(abi.Null, "dev_step", handle, timer, 7, 0)
	call(abi.Null, "dev_step", handle, timer, 8<<20, out)
	call(abi.OK, "dev_step", handle, timer, 7, out)
	call(abi.Busy, "dev_step", handle, timer, 7, out) // its answer is out
	call(abi.Busy, "dev_snapshot", handle, out)
	for range 2 { // the second one finds nothing to free
		if err := s.invoke(ctx, "dev_free", out); err != nil {
			t.Fatal(err)
		}
	}
	call(abi.OK, "dev_snapshot", handle, out)
	if err := s.invoke(ctx, "dev_drop", handle); err != nil { // while its answer is out
		t.Fatal(err)
	}
	call(abi.Handle, "dev_step", handle, timer, 7, out)
	if err := s.invoke(ctx, "dev_free", out); err != nil {
		t.Fatal(err)
	}
	made := 0
	for ; made < 1000; made++ {
		status, err := s.status(ctx, "dev_new", config, 2, out)
		if err != nil {
			t.Fatal(err)
		}
		if status == abi.Full {
			break
		}
	}
	if made < 8 || made == 1000 {
		t.Fatalf("the module is full with %d sessions", made)
	}
	for _, at := range []uint64{config, config, 0, 12345} {
		if err := s.invoke(ctx, "dev_release", at, 2); err != nil {
			t.Fatal(err)
		}
	}
	call(abi.Null, "dev_new", config, 2, out)
	hostStep(t, s, hostPrompt(1, "it still works"))
}

// TestHostAModuleWithoutMemoryLeftPanics fills the one instance with sessions
// until its 64 MiB are used up, which ends the module from within.
func TestHostAModuleWithoutMemoryLeftPanics(t *testing.T) {
	ctx := t.Context()
	s := hostNew(t, hostOpen(t))
	err := s.call(ctx, func(ctx context.Context) error {
		for range 10 {
			if err := s.start(ctx, "dev_new", []byte("{}")); err != nil {
				return err
			}
			event := []byte(`{"Turn":{"id":1,"prompt":"` + strings.Repeat("x", 9<<20) + `"}}`)
			if err := s.stepInside(ctx, event, func([]byte) error { return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	hostIs(t, err, ErrPanic)
	if !strings.Contains(err.Error(), "out of memory") {
		t.Error("the text does not say why:", err)
	}
	_, err = s.Step(ctx, Event{Timer: true})
	hostIs(t, err, ErrPoison)
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	hostGone(t, s)
}

// TestHostAnEventStaysInItsPlace hands over events around the size whose place is
// kept: none is written over what the module has behind it.
func TestHostAnEventStaysInItsPlace(t *testing.T) {
	s := hostNew(t, hostOpen(t))
	hostStep(t, s, Event{Timer: true})
	const behind = 16
	for size := kept - 4; size <= kept+behind; size++ {
		want, ok := s.inst.Memory().Read(s.place+kept, behind)
		if !ok {
			t.Fatal("nothing is behind the place")
		}
		want = bytes.Clone(want)
		at, giveBack, err := s.lend(t.Context(), bytes.Repeat([]byte{0xa5}, size))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := s.inst.Memory().Read(s.place+kept, behind); at == s.place && !bytes.Equal(got, want) {
			t.Errorf("an event of %d bytes overran its place: %x is %x", size, want, got)
		}
		if err := giveBack(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHostARegionGrowsAndKeepsWhatItHolds(t *testing.T) {
	for _, g := range []*region{newRegion(1 << 20), new(region)} {
		copy(g.Reallocate(10), "0123456789")
		more := g.Reallocate(1 << 20)
		if string(more[:10]) != "0123456789" || len(more) != 1<<20 {
			t.Error("growing changed the memory")
		}
		more[1<<20-1] = 1
		g.Free()
		if last := more[1<<20-1]; g.reserved && runtime.GOOS == "linux" && last != 0 { // still there to be read
			t.Errorf("the memory that was given back holds %d", last)
		}
		g.unmap()
	}
}

func TestHostAnAnswerOutlivesTheNextStepAndAGrowingMemory(t *testing.T) {
	s := hostNew(t, hostOpen(t))
	first := hostStep(t, s, hostPrompt(1, "first"))
	big := strings.Repeat("0123456789\n\u00e9", 5<<20/13)
	id := hostStep(t, s, Event{Model: &Answer{ID: 1, Reply: Reply{Calls: []Call{{Write: &Write{Path: "a", Text: big}}}}}})[0]
	second := hostStep(t, s, Event{File: &Output{ID: id.ID, Text: big}})
	third := hostStep(t, s, Event{Model: &Answer{ID: second[0].ID, Reply: Reply{Text: new("ok")}}})
	if got := *first[0].Op.Model.Messages[0].User; got != "first" || len(first[0].Op.Model.Messages) != 1 {
		t.Error("the first answer changed")
	}
	messages := second[0].Op.Model.Messages
	if id.Op.Write.Text != big || len(messages) != 3 || messages[2].Tool.Text != big || messages[1].Agent.Calls[0].Call.Write.Text != big {
		t.Error("a large text changed on its way")
	}
	if *third[0].Op.Emit != "ok" {
		t.Error("the step after it answers", third)
	}
}

// TestHostAnswersAreTheCallersOwn holds every answer of a long conversation, whose
// memory the module uses again and again, and reads them all at its end.
func TestHostAnswersAreTheCallersOwn(t *testing.T) {
	s := hostNew(t, hostOpen(t))
	p := coretest.NewPlayer(coretest.Seeded(3))
	var held [][]Action
	var states, said, copies [][]byte
	for range 300 {
		actions := hostStep(t, s, p.Next())
		p.Saw(actions)
		encoded, err := abi.AppendActions(nil, actions)
		if err != nil {
			t.Fatal(err)
		}
		state := hostSnapshot(t, s)
		held, said = append(held, actions), append(said, encoded)
		states, copies = append(states, state), append(copies, bytes.Clone(state))
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range held {
		encoded, err := abi.AppendActions(nil, held[i])
		if err != nil || !bytes.Equal(said[i], encoded) {
			t.Errorf("answer %d was %s and is %s, %v", i, said[i], encoded, err)
		}
		if !bytes.Equal(states[i], copies[i]) {
			t.Errorf("snapshot %d changed", i)
		}
	}
}
