package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock takes the right to change contents of files, not modes, owners and times.
// Those system calls go to the supervisor, which makes them itself for files in
// writable places: the arguments lie in memory that the program may change meanwhile,
// so that looking at them and letting the call go on would decide nothing.

// attributeCall says where the arguments of a call are; -1 is nowhere.
type attributeCall struct {
	at, path, flags int
	noFollow        bool
	perform         func(n *notification, file string) error
}

// attributeCalls are the calls by which programs change attributes; legacyCalls has
// more of them on some architectures.
var attributeCalls = withLegacy(map[uint32]attributeCall{
	unix.SYS_FCHMOD:    {at: 0, path: -1, flags: -1, perform: chmodBy(1)},
	unix.SYS_FCHMODAT:  {at: 0, path: 1, flags: -1, perform: chmodBy(2)},
	unix.SYS_FCHMODAT2: {at: 0, path: 1, flags: 3, perform: chmodBy(2)},
	unix.SYS_FCHOWN:    {at: 0, path: -1, flags: -1, perform: chownBy(1)},
	unix.SYS_FCHOWNAT:  {at: 0, path: 1, flags: 4, perform: chownBy(2)},
	unix.SYS_UTIMENSAT: {at: 0, path: 1, flags: 3, perform: setTimes},
})

func withLegacy(calls map[uint32]attributeCall) map[uint32]attributeCall {
	maps.Copy(calls, legacyCalls)
	return calls
}

// unknownCalls do the same in ways that hardly a program needs: it takes another one, or
// does without.
var unknownCalls = append([]uint32{unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR}, legacyTimes...)

// extendedCalls change extended attributes, which few file systems had until lately.
var extendedCalls = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
}

// fsSetXattr is FS_IOC_FSSETXATTR, which like FS_IOC_SETFLAGS changes a file that is only
// open for reading.
const fsSetXattr = 0x401c5820

// readsMemory reports whether a supervisor may read the memory of what it started, as
// it must for the paths in calls.
func readsMemory() bool {
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	n, _ := strconv.Atoi(string(bytes.TrimSpace(scope)))
	return errors.Is(err, os.ErrNotExist) || err == nil && n < 2
}

// leaveAttributes adds the rules for these calls.
func (f filter) leaveAttributes(p *program) {
	for nr := range attributeCalls {
		p.add(jumpEqual, nr, 0, 1)
		p.notify()
	}
	for _, nr := range unknownCalls {
		p.call(nr, unix.ENOSYS)
	}
	for _, nr := range extendedCalls {
		p.call(nr, unix.EOPNOTSUPP)
	}
}

// attribute makes a call for a program and returns its error, 0 for none.
func (r referee) attribute(n *notification) unix.Errno {
	c, ok := attributeCalls[uint32(n.nr)]
	if !ok {
		return unix.ENOSYS
	}
	fd, err := n.open(c)
	if err == nil {
		defer unix.Close(fd) //nolint:errcheck // it opens nothing but a path
		file := "/proc/self/fd/" + strconv.Itoa(fd)
		var real string
		switch real, err = os.Readlink(file); {
		case err != nil:
		case !r.alive(n):
			err = unix.EINTR
		case !r.owns(real):
			err = unix.EPERM
		default:
			err = c.perform(n, file)
		}
	}
	if err == nil {
		return 0
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return errno
	}
	return unix.EPERM
}

// owns reports whether a program may change a file's attributes: in a writable place
// that is none of the system's, and of what is no file in a directory.
func (r referee) owns(real string) bool {
	if !strings.HasPrefix(real, "/") || strings.HasPrefix(real, "/memfd:") {
		return true
	}
	return !within("/dev", real) && slices.ContainsFunc(r.writable, func(dir string) bool { return within(dir, real) })
}

// open opens the path of the file that a call is about, as the program would find it.
func (n *notification) open(c attributeCall) (int, error) {
	proc := "/proc/" + strconv.FormatUint(uint64(n.pid), 10)
	flags := uint64(0)
	if c.flags >= 0 {
		flags = n.args[c.flags]
	}
	at := proc + "/cwd"
	if c.at >= 0 && int32(n.args[c.at]) != unix.AT_FDCWD {
		at = proc + "/fd/" + strconv.Itoa(int(int32(n.args[c.at])))
	}
	path := ""
	if c.path >= 0 && n.args[c.path] != 0 {
		var err error
		if path, err = n.text(proc, n.args[c.path]); err != nil {
			return -1, err
		}
		if path == "" && flags&unix.AT_EMPTY_PATH == 0 {
			return -1, unix.ENOENT
		}
	}
	how := unix.O_PATH | unix.O_CLOEXEC
	if path == "" {
		fd, err := unix.Open(at, how, 0)
		if errors.Is(err, unix.ENOENT) {
			err = unix.EBADF
		}
		return fd, err
	}
	if c.noFollow || flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		how |= unix.O_NOFOLLOW
	}
	for from, to := range map[string]string{"/proc/self/": proc + "/", "/proc/thread-self/": proc + "/", "/dev/fd/": proc + "/fd/"} {
		if rest, ok := strings.CutPrefix(path, from); ok {
			path = to + rest
		}
	}
	if filepath.IsAbs(path) {
		return unix.Open(path, how, 0)
	}
	dir, err := unix.Open(at, how&^unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1, unix.EBADF
	}
	defer unix.Close(dir) //nolint:errcheck // it opens nothing but a path
	return unix.Openat(dir, path, how, 0)
}

// memory reads bytes of a program's memory, at most as many as there are.
func (n *notification) memory(proc string, address uint64, into []byte) (int, error) {
	f, err := os.Open(proc + "/mem")
	if err != nil {
		return 0, unix.EPERM
	}
	defer f.Close() //nolint:errcheck // only read
	got, err := f.ReadAt(into, int64(address))
	if got == 0 {
		return 0, errors.Join(unix.EFAULT, err)
	}
	return got, nil
}

// text reads a path.
func (n *notification) text(proc string, address uint64) (string, error) {
	buf := make([]byte, unix.PathMax)
	got, err := n.memory(proc, address, buf)
	if err != nil {
		return "", err
	}
	end := bytes.IndexByte(buf[:got], 0)
	if end < 0 {
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:end]), nil
}

func chmodBy(arg int) func(*notification, string) error {
	return func(n *notification, file string) error {
		return unix.Fchmodat(unix.AT_FDCWD, file, uint32(n.args[arg]), 0)
	}
}

func chownBy(arg int) func(*notification, string) error {
	return func(n *notification, file string) error {
		return unix.Fchownat(unix.AT_FDCWD, file, int(int32(n.args[arg])), int(int32(n.args[arg+1])), 0)
	}
}

func setTimes(n *notification, file string) error {
	var times []unix.Timespec
	if n.args[2] != 0 {
		raw := make([]byte, 2*unsafe.Sizeof(unix.Timespec{}))
		got, err := n.memory("/proc/"+strconv.FormatUint(uint64(n.pid), 10), n.args[2], raw)
		if err != nil || got < len(raw) {
			return unix.EFAULT
		}
		times = make([]unix.Timespec, 2)
		for i := range times {
			times[i].Sec = int64(binary.NativeEndian.Uint64(raw[16*i:]))
			times[i].Nsec = int64(binary.NativeEndian.Uint64(raw[16*i+8:]))
		}
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, file, times, 0)
}
