package wire

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// watchProcess calls ended once when the process ends, until ctx does. It is an
// error if there is no such process now.
func watchProcess(ctx context.Context, pid int, ended func()) error {
	fd, err := unix.PidfdOpen(pid, unix.O_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return err
	}
	if err != nil { // an old kernel, or a sandbox without the call
		return pollProcess(ctx, pid, ended)
	}
	// A pidfd is readable when its process has ended, also before the parent has
	// taken notice.
	f := os.NewFile(uintptr(fd), "pidfd")
	raw, err := f.SyscallConn()
	if err != nil {
		_ = f.Close()
		return pollProcess(ctx, pid, ended)
	}
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	go func() {
		err := raw.Read(func(fd uintptr) bool {
			p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(p, 0)
			return err == nil && n > 0
		})
		if !stop() {
			return // ctx ended, and closed the file
		}
		_ = f.Close()
		if err != nil { // the file cannot be waited for
			_ = pollProcess(ctx, pid, ended)
			return
		}
		ended()
	}()
	return nil
}
