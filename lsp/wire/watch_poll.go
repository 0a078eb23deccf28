//go:build unix

package wire

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// pollPeriod is how late a death may be noticed where the system does not tell.
const pollPeriod = 400 * time.Millisecond

// pollProcess asks for a process by signal 0, which cannot tell a zombie from a
// live one.
func pollProcess(ctx context.Context, pid int, gone func()) error {
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
					gone()
					return
				}
			}
		}
	}()
	return nil
}
