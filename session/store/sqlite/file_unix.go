//go:build unix

package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func othersMay(perm fs.FileMode) bool { return perm&0o077 != 0 }

// tightenDir closes a directory to others if it is this user's and empty, as one
// that was made for the store a moment ago is. A directory that holds other things
// keeps its mode: they may be meant for others, and the file has its own.
func tightenDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !othersMay(info.Mode().Perm()) || info.Mode()&fs.ModeSticky != 0 || !ok || int(owner.Uid) != os.Geteuid() {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("take the rights of others from the directory: %w", err)
	}
	return nil
}
