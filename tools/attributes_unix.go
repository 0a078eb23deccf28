//go:build linux || darwin

package tools

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// attributes returns a file's extended attributes, access control lists included; none
// where the file system has none.
func attributes(f *os.File) (map[string][]byte, error) {
	fd := int(f.Fd())
	size, err := unix.Flistxattr(fd, nil)
	if err != nil || size == 0 {
		return nil, plainFile(err)
	}
	names := make([]byte, size)
	if size, err = unix.Flistxattr(fd, names); err != nil {
		return nil, plainFile(err)
	}
	all := map[string][]byte{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names[:size]), "\x00"), "\x00") {
		size, err := unix.Fgetxattr(fd, name, nil)
		value := make([]byte, size)
		if err == nil && size > 0 {
			size, err = unix.Fgetxattr(fd, name, value)
		}
		if err != nil {
			continue // it is not the user's to read, and so not theirs to keep
		}
		all[name] = value[:size]
	}
	return all, nil
}

// plainFile is no error where the file system has no extended attributes.
func plainFile(err error) error {
	if err == nil || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return nil
	}
	return fmt.Errorf("list the extended attributes: %w", err)
}

// setAttributes gives a file extended attributes. Those that only the system gives,
// such as a label of SELinux, are left to it.
func setAttributes(f *os.File, all map[string][]byte) error {
	for name, value := range all {
		err := unix.Fsetxattr(int(f.Fd()), name, value, 0)
		if err != nil && !strings.HasPrefix(name, "security.") && !strings.HasPrefix(name, "trusted.") && !strings.HasPrefix(name, "com.apple.") {
			return fmt.Errorf("keep the extended attribute %q: %w", name, err)
		}
	}
	return nil
}
