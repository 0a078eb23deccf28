package proc

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// referee decides about the system calls of programs that a filter leaves to it. It runs
// in the supervisor, on threads without the filter.
type referee struct {
	listener int
	writable []string
	refused  *atomic.Int64 // internet sockets
}

// notification and reply are the kernel's seccomp_notif and seccomp_notif_resp.
type (
	notification struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	reply struct {
		id    uint64
		val   int64
		errno int32
		flags uint32
	}
)

// run replies to calls until no process has the filter any more.
func (r referee) run() {
	for {
		var n notification
		_, _, err := unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
		switch err {
		case 0:
		case unix.EINTR, unix.ENOENT: // ENOENT: who made the call was killed meanwhile
			continue
		default:
			return
		}
		errno := unix.EACCES
		if n.nr == unix.SYS_SOCKET {
			r.refused.Add(1)
		} else {
			errno = r.attribute(&n)
		}
		answer := reply{id: n.id, errno: -int32(errno)}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer))) // ENOENT as above
	}
}

// alive reports whether the thread that made a call still waits for its reply, so that
// its number was its own until now.
func (r referee) alive(n *notification) bool {
	_, _, err := unix.Syscall(unix.SYS_IOCTL, uintptr(r.listener), unix.SECCOMP_IOCTL_NOTIF_ID_VALID, uintptr(unsafe.Pointer(&n.id)))
	return err == 0
}
