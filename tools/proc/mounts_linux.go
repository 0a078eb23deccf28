package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is a detached copy of a part of the file system, to be mounted somewhere.
type tree struct {
	fd int
	at string
	is fs.FileMode
}

// takeTree copies the tree at a path. It returns false for a path that does not
// exist or that this process may not see.
func takeTree(path string, readOnly bool) (tree, bool, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return tree{}, false, nil
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOENT) {
		return tree{}, false, nil
	}
	if err != nil {
		return tree{}, false, fmt.Errorf("copy the mount of %s: %w", path, err)
	}
	if readOnly {
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return tree{}, false, fmt.Errorf("make %s read-only: %w", path, err)
		}
	}
	return tree{fd, path, info.Mode()}, true, nil
}

// takeTrees copies the trees at paths, the outer before the inner.
func takeTrees(paths []string, readOnly bool) ([]tree, error) {
	var out []tree
	for _, p := range byDepth(paths) {
		t, ok, err := takeTree(p, readOnly)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, t)
		}
	}
	return out, nil
}

// byDepth sorts paths so that outer ones come first.
func byDepth(paths []string) []string {
	out := slices.Clone(paths)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")) })
	return slices.Compact(out)
}

// put mounts a tree at a path. The path is created where it is missing because
// something was mounted over it.
func (t tree) put(path string) error {
	defer unix.Close(t.fd) //nolint:errcheck // the mount does not need it
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makePlace(path, t.is.IsDir()); err != nil {
			return err
		}
	}
	if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	return nil
}

func putAll(trees []tree) error {
	for _, t := range trees {
		if err := t.put(t.at); err != nil {
			return err
		}
	}
	return nil
}

func makePlace(path string, dir bool) error {
	if dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// empty mounts an empty file system that lives in memory.
func empty(path, options string) error {
	if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount an empty directory at %s: %w", path, err)
	}
	return nil
}

func readOnly(path string, flags uint) error {
	if err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make %s read-only: %w", path, err)
	}
	return nil
}

// shownDevices are the entries of /dev that a sandbox has: harmless devices and those
// that compute. Terminals are not among them.
var shownDevices = []string{"null", "zero", "full", "random", "urandom", "tty", "dri", "kfd", "nvidia*"}

// shownRun are the entries of /run that a sandbox has: no sockets that a program
// listens at, but the programs of NixOS and the settings of name resolution.
var shownRun = []string{
	"current-system", "booted-system", "wrappers", "opengl-driver", "opengl-driver-32", "systemd/resolve/stub-resolv.conf",
	"systemd/resolve/resolv.conf", "resolvconf/resolv.conf", "NetworkManager/resolv.conf",
}

// nothing is a file that nobody may read, mounted over secret ones.
const nothing = "/dev/.nothing"

// buildRoot gives this mount namespace the look of a session's sandbox: all is
// read-only but what is writable, with devices, temporary files and runtime files
// of its own.
func buildRoot(s Sandbox) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("take the mounts apart: %w", err)
	}
	writable, err := takeTrees(slices.DeleteFunc(slices.Clone(s.Writable), func(p string) bool {
		return within("/dev", p) || s.Temp != "" && (p == "/tmp" || p == "/var/tmp")
	}), false)
	if err != nil {
		return err
	}
	readable, err := takeTrees(slices.DeleteFunc(slices.Clone(s.Readable), func(p string) bool { return !replaced(s, p) }), true)
	if err != nil {
		return err
	}
	sockets, err := takeTrees(s.Sockets, false)
	if err != nil {
		return err
	}
	var temps []tree
	if s.Temp != "" {
		if temps, err = takeTrees([]string{filepath.Join(s.Temp, "tmp"), filepath.Join(s.Temp, "var")}, false); err != nil {
			return err
		}
	}
	if err := readOnly("/", unix.AT_RECURSIVE); err != nil {
		return err
	}
	if err := buildDevices(); err != nil {
		return err
	}
	if err := buildRun(); err != nil {
		return err
	}
	for i, at := range []string{"/tmp", "/var/tmp"} {
		if i < len(temps) {
			if err := temps[i].put(at); err != nil {
				return err
			}
		}
	}
	return putAll(slices.Concat(readable, writable, sockets))
}

// replaced reports whether a path lies where the sandbox mounts something else.
func replaced(s Sandbox, p string) bool {
	if within("/run", p) || within("/var/run", p) {
		return true
	}
	return s.Temp != "" && (within("/tmp", p) || within("/var/tmp", p))
}

func buildDevices() error {
	var paths []string
	for _, pattern := range shownDevices {
		found, err := filepath.Glob("/dev/" + pattern)
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	devices, err := takeTrees(paths, false)
	if err != nil {
		return err
	}
	if err := empty("/dev", "mode=0755,size=1m"); err != nil {
		return err
	}
	if err := putAll(devices); err != nil {
		return err
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"} {
		if err := os.Symlink(to, "/dev/"+name); err != nil {
			return err
		}
	}
	if err := os.WriteFile(nothing, nil, 0); err != nil {
		return err
	}
	if err := errors.Join(os.Mkdir("/dev/shm", 0o755), os.Mkdir("/dev/pts", 0o755)); err != nil {
		return err
	}
	if err := empty("/dev/shm", "mode=1777"); err != nil {
		return err
	}
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("mount terminals of its own: %w", err)
	}
	return readOnly("/dev", 0)
}

func buildRun() error {
	for _, dir := range []string{"/run", "/var/run"} {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue // it is mostly a link to the other
		}
		var paths []string
		for _, name := range shownRun {
			paths = append(paths, filepath.Join(dir, name))
		}
		shown, err := takeTrees(paths, true)
		if err != nil {
			return err
		}
		links := map[string]string{}
		for _, p := range paths {
			if to, err := os.Readlink(p); err == nil {
				links[p] = to
			}
		}
		if err := empty(dir, "mode=0755,size=1m"); err != nil {
			return err
		}
		if err := putAll(shown); err != nil {
			return err
		}
		for p, to := range links {
			if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.Symlink(to, p)); err != nil {
				return err
			}
		}
		if dir == "/run" {
			if err := os.MkdirAll(filepath.Join(dir, "user"), 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// furnish completes the view of one supervisor's programs, in a mount and pid
// namespace of its own: their processes, what is hidden, what is protected.
func furnish(s Sandbox) error {
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	if os.Getuid() == 0 {
		flags |= unix.MS_RDONLY // root could write the kernel's settings
	}
	if err := unix.Mount("proc", "/proc", "proc", flags, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for _, p := range byDepth(s.Hidden) {
		if err := hide(p, slices.Concat(s.Writable, s.Readable)); err != nil {
			return err
		}
	}
	pinned, err := takeTrees(s.Pinned, false)
	if err != nil {
		return err
	}
	if err := putAll(pinned); err != nil {
		return err
	}
	// After the pinned ones, which would cover them.
	protected, err := takeTrees(s.Protected, true)
	if err != nil {
		return err
	}
	return putAll(protected)
}

// hide mounts something unreadable over a secret, and mounts back the places inside
// that stay readable.
func hide(path string, shown []string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // it is not there, or covered already
	}
	if !info.IsDir() {
		t, ok, err := takeTree(nothing, true)
		if err != nil || !ok {
			return cmp.Or(err, fmt.Errorf("hide %s: nothing is there to cover it", path))
		}
		return t.put(path)
	}
	var inside []string
	for _, p := range shown {
		if within(path, p) && p != path {
			inside = append(inside, p)
		}
	}
	trees, err := takeTrees(inside, false)
	if err != nil {
		return err
	}
	mode := "mode=0000,size=64k"
	if len(trees) > 0 {
		mode = "mode=0111,size=64k" // to be passed through
	}
	if err := empty(path, mode); err != nil {
		return err
	}
	if err := putAll(trees); err != nil {
		return err
	}
	return readOnly(path, 0)
}
