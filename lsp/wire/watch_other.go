//go:build unix && !linux

package wire

import "context"

// watchProcess calls ended once when the process ends, until ctx does. It is an
// error if there is no such process now.
func watchProcess(ctx context.Context, pid int, ended func()) error {
	return pollProcess(ctx, pid, ended)
}
