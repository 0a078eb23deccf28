//go:build unix

package wire

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// ClaimStdio reserves standard input and output for the protocol. After it, reading
// standard input gives an end of file, and what any library or child prints on
// standard output goes to standard error. The two ends are not inherited by children,
// closing them interrupts a read, and writing to a client that has exited returns an
// error instead of raising a signal. Call it once, before anything else uses them.
func ClaimStdio() (in io.ReadCloser, out io.WriteCloser, err error) {
	// A signal that is ignored stays ignored in children, which would then not
	// end when their reader does; one that is delivered to nobody does not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	files := [2]*os.File{}
	for fd := range files {
		if files[fd], err = claim(fd); err != nil {
			return nil, nil, err
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("replace standard input: %w", err)
	}
	defer null.Close() //nolint:errcheck // nothing was written
	if err := dup2(int(null.Fd()), 0); err != nil {
		return nil, nil, fmt.Errorf("replace standard input: %w", err)
	}
	if err := dup2(2, 1); err != nil { // there may be no standard error
		if err := dup2(int(null.Fd()), 1); err != nil {
			return nil, nil, fmt.Errorf("replace standard output: %w", err)
		}
	}
	return files[0], files[1], nil
}

// claim duplicates a descriptor so that children do not inherit it. Only pipes and
// sockets are made non-blocking: that belongs to the open file, which a terminal
// shares with the shell.
func claim(fd int) (*os.File, error) {
	name := [2]string{"standard input", "standard output"}[fd]
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("take %s: %w", name, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(dup, &st); err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	kind := uint32(st.Mode) & unix.S_IFMT //nolint:unconvert // on some systems it has fewer bits
	if kind == unix.S_IFIFO || kind == unix.S_IFSOCK {
		if err := unix.SetNonblock(dup, true); err != nil {
			return nil, fmt.Errorf("make %s interruptible: %w", name, err)
		}
	}
	return os.NewFile(uintptr(dup), name), nil
}
