//go:build unix && !linux

package postgrestest

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}

// children are left to notice themselves that the server is gone.
func children(int) ([]int, error) { return nil, nil }
