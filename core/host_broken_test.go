package core

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const hostSaves = `[{"id":1,"op":"Save"}]`

func TestHostAModuleOfAnotherABIIsRefused(t *testing.T) {
	for _, version := range []int32{0, 2, -1, 1 << 30} {
		_, err := open(t.Context(), hostFakeCore("", hostExport{"dev_abi", 0, false, true, hostConst(version)}))
		if err == nil || !strings.Contains(err.Error(), "abi 1") {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

func TestHostModulesThatAreNoCoreAreErrorsNotCrashes(t *testing.T) {
	ctx := t.Context()
	for name, wasm := range map[string][]byte{
		"not wasm":           []byte("hello"),
		"empty":              {},
		"no functions":       hostFake{}.bytes(),
		"a trap in dev_abi":  hostFakeCore("", hostExport{"dev_abi", 0, false, true, hostTrap}),
		"dev_abi of another": hostFakeCore("", hostExport{"dev_abi", 1, false, true, hostConst(1)}),
		"no result":          hostFakeCore("", hostExport{"dev_abi", 0, false, false, hostNone}),
	} {
		if _, err := open(ctx, wasm); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	only := hostFake{noMemory: true, exports: []hostExport{{"dev_abi", 0, false, true, hostConst(1)}}}
	c, err := open(ctx, only.bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.New(ctx, Config{}); err == nil || !strings.Contains(err.Error(), "dev_alloc") {
		t.Error(err)
	}
	if _, err := c.Restore(ctx, []byte("x")); err == nil {
		t.Error("restored")
	}
	for _, lacking := range []hostExport{
		{"dev_step", 3, true, true, hostConst(0)}, {"dev_step", 4, true, false, hostNone}, {"dev_free", 0, false, false, hostNone},
	} {
		s := hostFakeSession(t, hostFakeCore(hostSaves, lacking))
		_, err := s.Step(ctx, Event{Timer: true})
		hostIs(t, err, ErrHandle)
	}
	noMemory := hostFake{noMemory: true, exports: []hostExport{
		{"dev_abi", 0, false, true, hostConst(1)}, {"dev_alloc", 1, false, true, hostConst(8)}, {"dev_new", 3, false, true, hostConst(0)},
	}}
	if c, err = open(ctx, noMemory.bytes()); err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	_, err = c.New(ctx, Config{})
	hostIs(t, err, ErrHandle)
}

// TestHostClosingACoreWaitsForCalls ends a core with a call inside, which must not
// lose its memory under it.
func TestHostClosingACoreWaitsForCalls(t *testing.T) {
	s := hostFakeSession(t, hostFakeCore(hostSaves, hostExport{"dev_step", 4, true, true, hostSpin}))
	stepped := make(chan error, 1)
	go func() {
		_, err := s.Step(t.Context(), Event{Timer: true})
		stepped <- err
	}()
	until := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !done(); runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatalf("waited in vain: %s", what)
			}
		}
	}
	until("a call does not lock the core", func() bool {
		if s.core.mu.TryLock() {
			s.core.mu.Unlock()
			return false
		}
		return true
	})
	s.core.mu.RLock() // a second call, which does not end yet
	closed := make(chan error, 1)
	go func() { closed <- s.core.Close(context.Background()) }()
	hostIs(t, <-stepped, ErrHandle)
	until("Close does not wait for its turn", func() bool {
		if s.core.mu.TryRLock() {
			s.core.mu.RUnlock()
			return false
		}
		return true
	})
	select {
	case <-closed:
		t.Error("the core was closed with a call inside")
	default:
	}
	s.core.mu.RUnlock()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestHostEachStatusHasItsError(t *testing.T) {
	ctx := t.Context()
	for status, want := range map[int32]error{
		-1: ErrHandle, -2: ErrMalformed, -3: ErrPoison, -4: ErrPanic, -5: ErrNull, -6: ErrBusy, -7: ErrFull, -8: ErrHandle, 1: ErrHandle,
	} {
		code := hostConst(status)
		s := hostFakeSession(t, hostFakeCore(hostSaves, hostExport{"dev_step", 4, true, true, code}, hostExport{"dev_restore", 3, false, true, code}))
		_, err := s.Step(ctx, Event{Timer: true})
		hostIs(t, err, want)
		_, err = s.core.Restore(ctx, []byte("state"))
		hostIs(t, err, want)
		_, err = s.Snapshot(ctx)
		switch want {
		case ErrHandle: //nolint:errorlint // want is of the table above
			hostIs(t, err, ErrHandle)
		case ErrPanic, ErrPoison:
			hostIs(t, err, ErrPoison)
		default: // the session is as it was
			if err != nil {
				t.Errorf("after status %d: %v", status, err)
			}
		}
	}
}

func TestHostATrapPoisonsItsSessionOnly(t *testing.T) {
	ctx := t.Context()
	s := hostFakeSession(t, hostFakeCore(hostSaves, hostExport{"dev_snapshot", 2, true, true, hostTrap}))
	beside := hostNew(t, s.core)
	hostStep(t, s, Event{Timer: true})
	_, err := s.Snapshot(ctx)
	hostIs(t, err, ErrPanic)
	for range 2 {
		_, err = s.Step(ctx, Event{Timer: true})
		hostIs(t, err, ErrPoison)
	}
	hostStep(t, beside, Event{Timer: true})
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	hostGone(t, s)
}

func TestHostAnAnswerThatCannotBeReadEndsTheSession(t *testing.T) {
	ctx := t.Context()
	for name, wasm := range map[string][]byte{
		"no JSON":         hostFakeCore("hello"),
		"an unknown op":   hostFakeCore(`[{"id":1,"op":"Sleep"}]`),
		"a cut":           hostFakeCore(hostSaves[:9]),
		"beyond the end":  hostFakeCore("", hostExport{"dev_step", 4, true, true, hostJoin(hostStore(3, 0, 2<<16-2), hostStore(3, 4, 3), hostConst(0))}),
		"a length of 4 G": hostFakeCore("", hostExport{"dev_step", 4, true, true, hostJoin(hostStore(3, 0, 64), hostStore(3, 4, -1), hostConst(0))}),
		"a loan outside":  hostFakeCore(hostSaves, hostExport{"dev_alloc", 1, false, true, []byte{0x20, 0x00, 0x41, 0x10, 0x46, 0x04, 0x7f, 0x41, 0x80, 0x08, 0x05, 0x41, 0x7f, 0x0b}}),
	} {
		c, err := open(ctx, wasm)
		if err != nil {
			t.Fatal(name, err)
		}
		defer c.Close(ctx)
		s, err := c.New(ctx, Config{})
		if name == "a loan outside" {
			hostIs(t, err, ErrHandle)
			continue
		}
		if err != nil {
			t.Fatal(name, err)
		}
		_, err = s.Step(ctx, Event{Timer: true})
		hostIs(t, err, ErrHandle)
		hostGone(t, s)
	}
}

func TestHostAnAnswerThatIsNotTakenEndsTheSession(t *testing.T) {
	s := hostNew(t, hostOpen(t))
	cause := errors.New("not mine")
	err := s.step(t.Context(), []byte(`"Timer"`), func(answer []byte) error {
		if string(answer) != "[]" {
			t.Errorf("the answer is %s", answer)
		}
		return cause
	})
	hostIs(t, err, ErrHandle)
	if !errors.Is(err, cause) {
		t.Fatal("the cause is lost:", err)
	}
	hostGone(t, s)
}

// hostSpinning is a session whose steps never return.
func hostSpinning(t *testing.T) *Session {
	return hostFakeSession(t, hostFakeCore(hostSaves, hostExport{"dev_step", 4, true, true, hostSpin}))
}

// hostInside waits until a call of the session is inside.
func hostInside(s *Session) {
	for !s.busy.Load() {
		runtime.Gosched()
	}
}

func TestHostAContextStopsACallWhereItStands(t *testing.T) {
	s := hostSpinning(t)
	beside := hostNew(t, s.core)
	last, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = s.Step(ctx, Event{Timer: true})
	hostIs(t, err, ErrHandle, context.DeadlineExceeded)
	hostGone(t, s)
	again, err := s.core.Restore(t.Context(), last)
	if err != nil {
		t.Fatal(err)
	}
	if state, err := again.Snapshot(t.Context()); err != nil || string(state) != string(last) {
		t.Fatal("the session from its last snapshot:", err)
	}
	if state, err := beside.Snapshot(t.Context()); err != nil || string(state) != hostSaves {
		t.Fatal("the session beside it:", err)
	}

	s = hostSpinning(t)
	ctx, cancel = context.WithCancel(t.Context())
	go func() { hostInside(s); cancel() }()
	_, err = s.Step(ctx, Event{Timer: true})
	hostIs(t, err, ErrHandle, context.Canceled)
	hostGone(t, s)
}

func TestHostAContextStopsASessionBeingMade(t *testing.T) {
	spin := func(export string) hostExport { return hostExport{export, 3, false, true, hostSpin} }
	c, err := open(t.Context(), hostFakeCore(hostSaves, spin("dev_new"), spin("dev_restore")))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = c.New(ctx, Config{})
	hostIs(t, err, ErrHandle, context.DeadlineExceeded)
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = c.Restore(ctx, []byte("state"))
	hostIs(t, err, ErrHandle, context.DeadlineExceeded)
}

func TestHostASecondCallBesideOneInFlightIsBusy(t *testing.T) {
	s := hostSpinning(t)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() { _, err := s.Step(ctx, Event{Timer: true}); stopped <- err }()
	hostInside(s)
	_, err := s.Step(t.Context(), Event{Timer: true})
	hostIs(t, err, ErrBusy)
	_, err = s.Snapshot(t.Context())
	hostIs(t, err, ErrBusy)
	hostIs(t, s.Close(t.Context()), ErrBusy)
	cancel()
	hostIs(t, <-stopped, ErrHandle, context.Canceled)
	hostGone(t, s)
}

func TestHostClosingTheCoreStopsCallsInFlight(t *testing.T) {
	for _, ctx := range []context.Context{context.Background(), t.Context()} {
		s := hostSpinning(t)
		stopped := make(chan error)
		go func() { _, err := s.Step(ctx, Event{Timer: true}); stopped <- err }()
		hostInside(s)
		if err := s.core.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		hostIs(t, <-stopped, ErrHandle)
		hostGone(t, s)
	}
}

func TestHostOpenIsBoundedByItsContext(t *testing.T) {
	spin := hostFakeCore("", hostExport{"dev_abi", 0, false, true, hostSpin})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := open(ctx, spin); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if _, err := Open(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestHostLazyOpensOnceForAll(t *testing.T) {
	l := NewLazy(t.Context())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Open(ended); err != nil && !errors.Is(err, context.Canceled) { // it may be open already
		t.Fatal(err)
	}
	c, err := l.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := l.Open(t.Context()); again != c {
		t.Fatal("another core")
	}
	s := hostNew(t, c)
	hostStep(t, s, hostPrompt(1, "a"))
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	hostGone(t, s)
}

func TestHostLazyThatNobodyNeededIsNotOpened(t *testing.T) {
	l := NewLazy(t.Context())
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := l.Open(t.Context())
	hostIs(t, err, ErrHandle)
	if c != nil || l.core != nil {
		t.Error("a core that was closed before is opened")
	}
}

func TestHostAGoneSessionIsSteppedAndClosedAtOnce(t *testing.T) {
	c := hostOpen(t)
	for range 20 {
		s := hostNew(t, c)
		var all sync.WaitGroup
		for _, call := range []func() error{
			func() error { _, err := s.Step(t.Context(), Event{Timer: true}); return err },
			func() error { _, err := s.Snapshot(t.Context()); return err },
			func() error { return s.Close(t.Context()) },
			func() error { return s.Close(t.Context()) },
		} {
			all.Go(func() {
				for range 3 {
					if err := call(); err != nil && !errors.Is(err, ErrHandle) && !errors.Is(err, ErrBusy) {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		_ = s.Close(t.Context())
		hostGone(t, s)
	}
}
