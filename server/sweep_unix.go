//go:build unix

package server

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// markName is a file in a directory for temporary files that its server has locked for
// as long as it lives.
const markName = "in-use"

// markUsed marks a directory as used by this process until the file is closed. The mark
// appears locked: another server never finds it before that.
func markUsed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "mark")
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, markName))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes the directories that servers left behind which were killed: those of
// this user with a mark that nobody has locked.
func sweep(temp string) {
	dirs, _ := filepath.Glob(filepath.Join(temp, tempPrefix+"*")) // the pattern is sound
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
			continue
		}
		mark, err := os.OpenFile(filepath.Join(dir, markName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue // it is being made, or is somebody else's
		}
		if syscall.Flock(int(mark.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(dir) //nolint:errcheck // the next server tries again
		}
		mark.Close() //nolint:errcheck // it was only looked at
	}
}
