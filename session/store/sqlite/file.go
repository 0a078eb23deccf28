package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// magic is how every SQLite file starts.
const magic = "SQLite format 3\x00"

// prepareFile makes the file and its directory where they are absent, takes the
// rights of others from them, and refuses what cannot be a store. SQLite gives the
// log beside the file the file's own mode.
func prepareFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory: %w", err)
	}
	if err := tightenDir(dir); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("it is a %s, not a regular file", kind(info.Mode()))
		}
		// A superuser could write to it all the same, against its owner's will.
		if info.Mode().Perm()&0o200 == 0 {
			return fmt.Errorf("the file is read-only (mode %04o): make it writable or name another store", info.Mode().Perm())
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(checkFile(f), f.Close())
}

func checkFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if perm := info.Mode().Perm(); othersMay(perm) {
		if err := f.Chmod(perm &^ 0o077); err != nil {
			return fmt.Errorf("take the rights of others from the file: %w", err)
		}
	}
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	switch {
	case errors.Is(err, io.EOF): // empty: to be filled
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case string(head[:n]) != magic:
		return errors.New("the file is not a database: name another store or move the file away")
	}
	return nil
}

func kind(m fs.FileMode) string {
	if m.IsDir() {
		return "directory"
	}
	return "special file"
}
