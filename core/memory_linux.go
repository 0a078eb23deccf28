package core

import "golang.org/x/sys/unix"

const (
	noReserve = unix.MAP_NORESERVE
	discard   = unix.MADV_DONTNEED
)
