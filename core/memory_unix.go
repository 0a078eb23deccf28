//go:build unix

package core

import "golang.org/x/sys/unix"

func reserve(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
}

// commit does nothing: pages come when they are touched.
func commit([]byte) bool { return true }

func empty(buf []byte) { _ = unix.Madvise(buf, discard) }

func release(buf []byte) { _ = unix.Munmap(buf) }
