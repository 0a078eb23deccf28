package proc

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// missed returns how often what this supervisor started tried to reach another machine
// from a sandbox without network. The kernel counts it: what programs print is worded
// in many ways, and may be about something else. In a network namespace the kernel
// counts connections and datagrams that no route leads to, and datagrams to loopback
// that nobody receives, as which a request to a local name server ends; programs that
// share the namespace share its counters. Otherwise each socket that was refused counts.
func (s *supervisor) missed(box *Sandbox) int64 {
	switch {
	case box == nil || box.Network:
		return 0
	case box.Mechanism == Namespaces:
		return counted("/proc/self/net/snmp", "Ip: OutNoRoutes", "Udp: NoPorts") + counted("/proc/self/net/snmp6", "Ip6OutNoRoutes", "Udp6NoPorts")
	case s.launcher == nil:
		return 0
	}
	return s.launcher.refused.Load()
}

// counted sums counters of a file of the kernel's: of its pairs of lines, names over
// numbers behind a word for both, or of its lines with a name and a number.
func counted(file string, names ...string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0 // a kernel without IPv6 has no such file
	}
	var sum int64
	add := func(name, number string) {
		for _, n := range names {
			if v, err := strconv.ParseInt(number, 10, 64); err == nil && n == name {
				sum += v
			}
		}
	}
	var heading []string
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case len(f) == 2:
			add(f[0], f[1])
		case len(heading) == len(f) && len(f) > 0 && heading[0] == f[0]:
			for i, name := range heading {
				add(f[0]+" "+name, f[i])
			}
		}
		heading = f
	}
	return sum
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

// refuseSockets refuses the sockets that a filter leaves to this process, and counts
// them, until no process has the filter any more.
func refuseSockets(listener int, count *atomic.Int64) {
	for {
		var n notification
		_, _, err := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
		switch err {
		case 0:
		case unix.EINTR, unix.ENOENT: // ENOENT: who made the call was killed meanwhile
			continue
		default:
			return
		}
		count.Add(1)
		r := reply{id: n.id, errno: -int32(unix.EACCES)}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r))) // ENOENT as above
	}
}
