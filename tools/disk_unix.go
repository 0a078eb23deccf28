//go:build unix

package tools

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // smaller on other systems
	}
	return 1
}

// linksKnown says that links counts the names of a file.
const linksKnown = true

// locks says that a lock of a file ends with its process.
const locks = true

// lock locks a new file, where the file system can.
func lock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// inUse reports whether a process has a file locked.
func inUse(f *os.File) bool {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// keepOwner gives f the owner and group of like as far as the system lets it:
// only a privileged writer can, and any other already owns what it wrote.
func keepOwner(f *os.File, like fs.FileInfo) {
	st, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if f.Chown(int(st.Uid), int(st.Gid)) != nil {
		_ = f.Chown(-1, int(st.Gid)) // a group of one's own can still be given
	}
}
