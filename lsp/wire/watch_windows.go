package wire

import (
	"context"

	"golang.org/x/sys/windows"
)

// watchProcess calls ended once when the process ends, until ctx does. It is an
// error if there is no such process now.
func watchProcess(ctx context.Context, pid int, ended func()) error {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return err
	}
	go func() {
		defer windows.CloseHandle(h)
		for ctx.Err() == nil {
			if event, err := windows.WaitForSingleObject(h, 400); err != nil || event == windows.WAIT_OBJECT_0 {
				ended()
				return
			}
		}
	}()
	return nil
}
