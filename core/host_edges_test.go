package core

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestHostAContextThatEndsAsACallSucceedsEndsTheSession(t *testing.T) {
	s := hostNew(t, hostOpen(t))
	ctx, cancel := context.WithCancel(t.Context())
	err := s.call(ctx, func(context.Context) error {
		cancel()
		return nil
	})
	hostIs(t, err, ErrHandle, context.Canceled)
	hostGone(t, s)
}

func TestHostALargeEventIsNotKept(t *testing.T) {
	s := hostNew(t, hostOpen(t))
	for turn, size := range []int{1, kept / 2, 4 * kept, 1} {
		hostStep(t, s, hostPrompt(uint64(turn+1), strings.Repeat("x", size)))
		if n := cap(s.encoded); n == 0 || n > kept {
			t.Errorf("after an event of %d bytes %d are kept, want some up to %d", size, n, kept)
		}
	}
}

// TestHostWhatAGuestSaysIsBounded writes more than is kept, at once and in pieces; the
// guest is told that all was written.
func TestHostWhatAGuestSaysIsBounded(t *testing.T) {
	for _, size := range []int{1, 1 << 10, 1<<10 + 1, 5 << 10} {
		for _, piece := range []int{size, 100} {
			var s said
			for left := size; left > 0; left -= piece {
				p := []byte(strings.Repeat("x", min(piece, left)))
				if n, err := s.Write(p); n != len(p) || err != nil {
					t.Fatalf("%d of %d bytes were written, %v", n, len(p), err)
				}
			}
			if got, want := s.last(), ": "+strings.Repeat("x", min(size, 1<<10)); got != want {
				t.Errorf("%d bytes in pieces of %d: %d are kept, want %d", size, piece, len(got), len(want))
			}
		}
	}
}

// TestHostADirectoryThatOthersMayWriteToIsNotUsed: what stands in it is run.
func TestHostADirectoryThatOthersMayWriteToIsNotUsed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists decide there")
	}
	for mode, used := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o750: true, 0o720: false, 0o702: false, 0o770: false, 0o777: false} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if got := openDisk(dir) != nil; got != used {
			t.Errorf("mode %v: used %v, want %v", mode, got, used)
		}
	}
}

// TestHostLazyClosesWhatIsStillOpening closes while the module is compiled: who gets
// the core all the same finds it closed.
func TestHostLazyClosesWhatIsStillOpening(t *testing.T) {
	l := NewLazy(t.Context())
	l.Start()
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := l.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.New(t.Context(), Config{})
	hostIs(t, err, ErrHandle)
}
