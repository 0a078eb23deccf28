//go:build unix

package wire

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// pollPeriod is how late the end of a process may be noticed where the system does
// not report it.
const pollPeriod = 400 * time.Millisecond

// pollProcess checks for a process by signal 0, which cannot distinguish a zombie
// from a live one.
func pollProcess(ctx context.Context, pid int, ended func()) error {
	alive := func() bool { err := unix.Kill(pid, 0); return err == nil || errors.Is(err, unix.EPERM) }
	if !alive() {
		return unix.ESRCH
	}
	go func() {
		t := time.NewTicker(pollPeriod)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if !alive() {
					ended()
					return
				}
			}
		}
	}()
	return nil
}
