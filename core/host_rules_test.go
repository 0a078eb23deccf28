package core

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostOpen opens the module for a test.
func hostOpen(t *testing.T) *Core {
	t.Helper()
	c, err := Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// hostNew starts a session of c.
func hostNew(t *testing.T, c *Core) *Session {
	t.Helper()
	s, err := c.New(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// hostFakeSession is a session of a module made by hand.
func hostFakeSession(t *testing.T, wasm []byte) *Session {
	t.Helper()
	c, err := open(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return hostNew(t, c)
}

// hostStep steps a session that has nothing to complain about.
func hostStep(t *testing.T, s *Session, ev Event) []Action {
	t.Helper()
	actions, err := s.Step(t.Context(), ev)
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

func hostPrompt(id uint64, text string) Event { return Event{Turn: &Turn{ID: id, Prompt: text}} }

// hostIs looks at an error: it must match what is wanted and, of the errors of
// this package, nothing else.
func hostIs(t *testing.T, err error, want ...error) {
	t.Helper()
	for _, e := range []error{ErrHandle, ErrMalformed, ErrPoison, ErrPanic, ErrNull, ErrBusy, ErrFull, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, e) != slices.Contains(want, e) {
			t.Fatalf("got %v, want %v", err, want)
		}
	}
}

func TestHostARoundTripThroughTheModule(t *testing.T) {
	ctx := t.Context()
	c := hostOpen(t)
	s, err := c.New(ctx, Config{Model: new("m")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	want := []Action{{ID: 1, Op: Op{Model: &Ask{Model: new("m"), Messages: []Message{{User: new("hi \"\u00e9\"\n")}}}}}}
	if diff := cmp.Diff(want, hostStep(t, s, hostPrompt(1, "hi \"\u00e9\"\n"))); diff != "" {
		t.Fatal(diff)
	}
	state, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Restore(ctx, state)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(ctx)
	answer := Event{Model: &Answer{ID: 1, Reply: Reply{Text: new("bye")}}}
	actions := hostStep(t, s, answer)
	if diff := cmp.Diff(actions, hostStep(t, r, answer)); diff != "" || len(actions) != 3 {
		t.Fatal(diff, actions)
	}
}

func TestHostTheModuleImportsOnlyWASI(t *testing.T) {
	c := hostOpen(t)
	for _, f := range c.module.ImportedFunctions() {
		if from, name, _ := f.Import(); from != "wasi_snapshot_preview1" {
			t.Errorf("it imports %s.%s", from, name)
		}
	}
	if memories := c.module.ImportedMemories(); len(memories) > 0 {
		t.Errorf("it imports %d memories", len(memories))
	}
	names := []string{"_initialize", "dev_abi", "dev_alloc", "dev_drop", "dev_free", "dev_new", "dev_release", "dev_restore", "dev_snapshot", "dev_step"}
	var got []string
	for name := range c.module.ExportedFunctions() {
		got = append(got, name)
	}
	slices.Sort(got)
	if diff := cmp.Diff(names, got); diff != "" {
		t.Error(diff)
	}
	if len(module) > 2_500_000 {
		t.Errorf("the module has %d bytes", len(module))
	}
}

func TestHostTextThatIsNotUTF8NeverReachesTheModule(t *testing.T) {
	c := hostOpen(t)
	bad := "a\xff"
	_, err := c.New(t.Context(), Config{Prelude: &bad})
	hostIs(t, err, ErrMalformed)
	s := hostNew(t, c)
	before := s.inst.clock
	for _, ev := range []Event{hostPrompt(1, bad), {}, {Timer: true, Cancel: &Cancel{}}, {File: &Output{Text: bad}}} {
		_, err := s.Step(t.Context(), ev)
		hostIs(t, err, ErrMalformed)
	}
	if s.inst.clock != before {
		t.Fatal("the module was called")
	}
}

func TestHostAnEventThatTheCoreCannotReadChangesNothing(t *testing.T) {
	ctx := t.Context()
	s := hostNew(t, hostOpen(t))
	hostStep(t, s, hostPrompt(1, "a"))
	before, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{
		"", "null", "{}", `"Turn"`, `{"Turn":null}`, `{"Turn":{"id":2,"prompt":"x","y":1}}`, "\"Timer\" \"Timer\"",
		`{"Turn":{"id":2,"prompt":"` + strings.Repeat("x", 3*kept),
	} {
		hostIs(t, s.step(ctx, []byte(event), func([]byte) error { t.Error("used"); return nil }), ErrMalformed)
	}
	after, err := s.Snapshot(ctx)
	if err != nil || !bytes.Equal(before, after) {
		t.Fatal("a refused event changed the session", err)
	}
}

func TestHostADamagedSnapshotIsMalformed(t *testing.T) {
	ctx := t.Context()
	c := hostOpen(t)
	s := hostNew(t, c)
	hostStep(t, s, hostPrompt(1, "a"))
	state, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	damage := func(c *Core, every int) {
		for cut := 0; cut < len(state); cut += every {
			_, err := c.Restore(ctx, state[:cut])
			hostIs(t, err, ErrMalformed)
		}
		for bit := 0; bit < 8*len(state); bit += every {
			state[bit/8] ^= 1 << (bit % 8)
			_, err := c.Restore(ctx, state)
			hostIs(t, err, ErrMalformed)
			state[bit/8] ^= 1 << (bit % 8)
		}
	}
	damage(c, 1)
	c.sealed = false // the module itself judges
	damage(c, 101)
}

func TestHostAClosedSessionIsGone(t *testing.T) {
	ctx := t.Context()
	s := hostNew(t, hostOpen(t))
	for range 2 {
		if err := s.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	hostGone(t, s)
}

// hostGone says that a session returns nothing any more.
func hostGone(t *testing.T, s *Session) {
	t.Helper()
	ctx := context.Background()
	_, err := s.Step(ctx, Event{Timer: true})
	hostIs(t, err, ErrHandle)
	_, err = s.Step(ctx, Event{})
	hostIs(t, err, ErrHandle)
	_, err = s.Snapshot(ctx)
	hostIs(t, err, ErrHandle)
	_, err = s.inst.Call(ctx, "dev_abi") // turned away before it enters the instance
	hostIs(t, err, ErrHandle)
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestHostAClosedCoreTakesItsSessionsAlong(t *testing.T) {
	ctx := t.Context()
	c := hostOpen(t)
	s := hostNew(t, c)
	state, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	hostGone(t, s)
	_, err = c.New(ctx, Config{})
	hostIs(t, err, ErrHandle)
	_, err = c.Restore(ctx, state)
	hostIs(t, err, ErrHandle)
}

func TestHostOneCallAtATime(t *testing.T) {
	ctx := t.Context()
	s := hostNew(t, hostOpen(t))
	before := s.inst.clock
	s.busy.Store(true)
	_, err := s.Step(ctx, hostPrompt(1, "a"))
	hostIs(t, err, ErrBusy)
	_, err = s.Snapshot(ctx)
	hostIs(t, err, ErrBusy)
	hostIs(t, s.Close(ctx), ErrBusy)
	if s.inst.clock != before {
		t.Fatal("a second call reached the instance")
	}
	s.busy.Store(false)
	hostStep(t, s, hostPrompt(1, "a"))
}

func TestHostAContextThatEndedBeforeACallEndsTheSession(t *testing.T) {
	c := hostOpen(t)
	s := hostNew(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	hostStep(t, s, hostPrompt(1, "a"))
	state, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = s.Step(ctx, Event{Timer: true})
	hostIs(t, err, ErrHandle, context.Canceled)
	hostGone(t, s)
	_, err = c.New(ctx, Config{})
	hostIs(t, err, ErrHandle, context.Canceled)
	hostCarriesOn(t, c, state)
}

// hostCarriesOn restores a session that was prompted once and replies as its model.
func hostCarriesOn(t *testing.T, c *Core, state []byte) {
	t.Helper()
	s, err := c.Restore(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	if got := hostStep(t, s, Event{Model: &Answer{ID: 1, Reply: Reply{Text: new("b")}}}); len(got) != 3 || *got[0].Op.Emit != "b" {
		t.Errorf("the restored session answers %v", got)
	}
}

func TestHostEventsThatAreTooLarge(t *testing.T) {
	ctx := t.Context()
	c := hostOpen(t)
	s := hostNew(t, c)
	_, err := s.Step(ctx, hostPrompt(1, strings.Repeat("x", 65<<20)))
	hostIs(t, err, ErrNull)
	for _, n := range []int{math.MaxInt32 + 1, -1} {
		before := s.inst.clock
		_, err = s.alloc(ctx, n)
		hostIs(t, err, ErrNull)
		if s.inst.clock != before {
			t.Fatal("the module was asked")
		}
	}
	if got := hostStep(t, s, hostPrompt(1, "a")); len(got) != 1 || got[0].ID != 1 {
		t.Fatal("the session is not as it was", got)
	}
	_, err = s.Step(ctx, hostPrompt(2, strings.Repeat("x", 24<<20)))
	hostIs(t, err, ErrPanic)
	if !strings.Contains(err.Error(), "over 16 MiB") {
		t.Error("the text does not say why:", err)
	}
	for range 2 {
		_, err = s.Step(ctx, Event{Timer: true})
		hostIs(t, err, ErrPoison)
		_, err = s.Snapshot(ctx)
		hostIs(t, err, ErrPoison)
	}
	hostStep(t, hostNew(t, c), hostPrompt(1, "beside it"))
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	hostGone(t, s)
	_, err = c.New(ctx, Config{Prelude: new(strings.Repeat("x", 24<<20))})
	hostIs(t, err, ErrPanic)
}

func TestHostSessionsStepAtOnceAndStayApart(t *testing.T) {
	c := hostOpen(t)
	var all sync.WaitGroup
	for n := range 32 {
		all.Go(func() {
			s, err := c.New(t.Context(), Config{})
			if err != nil {
				t.Error(err)
				return
			}
			name := strings.Repeat("x", n)
			want := []Message{}
			ask := uint64(0)
			for turn := range uint64(20) {
				want = append(want, Message{User: &name})
				actions, err := s.Step(t.Context(), hostPrompt(turn+1, name))
				if err != nil {
					t.Error(err)
					return
				}
				ask = actions[0].ID
				if diff := cmp.Diff(want, actions[0].Op.Model.Messages); diff != "" {
					t.Error(diff)
					return
				}
				if _, err := s.Step(t.Context(), Event{Model: &Answer{ID: ask}}); err != nil {
					t.Error(err)
					return
				}
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
