//go:build unix && !linux

package core

import "golang.org/x/sys/unix"

const (
	noReserve = 0
	discard   = unix.MADV_FREE
)
