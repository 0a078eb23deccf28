package wire

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// ClaimStdio reserves standard input and output for the protocol. After it,
// what Go code prints on standard output goes to standard error, and new children
// get neither. A read of standard input is not interrupted by closing it.
func ClaimStdio() (in io.ReadCloser, out io.WriteCloser, err error) {
	in, out = os.Stdin, os.Stdout
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("replace standard input: %w", err)
	}
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		if err := windows.SetHandleInformation(windows.Handle(f.Fd()), windows.HANDLE_FLAG_INHERIT, 0); err != nil {
			return nil, nil, fmt.Errorf("keep %s from children: %w", f.Name(), err)
		}
	}
	if err := windows.SetStdHandle(windows.STD_INPUT_HANDLE, windows.Handle(null.Fd())); err != nil {
		return nil, nil, fmt.Errorf("replace standard input: %w", err)
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, nil, fmt.Errorf("replace standard output: %w", err)
	}
	os.Stdin, os.Stdout = null, os.Stderr
	return in, out, nil
}
