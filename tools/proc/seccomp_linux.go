package proc

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is assembled by hand: it is a list of system calls with a handful of
// conditions on plain arguments, which is less to read than a library that
// compiles policies, and it must be installed on one thread alone.

// auditArch are the kernel's names of the architectures that the filter knows.
var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// refusedCalls are system calls that no program in a sandbox may make: those that
// change mounts or namespaces, look into other processes, use the kernel's
// keyrings, or reach the rest of the system past the filter.
var refusedCalls = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
}

// newNamespaces are the flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// filter says what a filter refuses besides refusedCalls.
type filter struct {
	inet, unixSockets bool  // whether such sockets may be made
	count             bool  // leaves the refusal of internet sockets to a referee
	attributes        bool  // leaves changes of modes, owners and times to a referee
	keep              []int // this process and its threads that must not be signalled
}

// program is a filter under construction. Every rule returns for itself, so that no
// jump is longer than a rule.
type program []unix.SockFilter

const (
	loadWord    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	jumpEqual   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpAtLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	jumpBits    = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	maskWord    = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	offsetCall  = 0 // of seccomp_data's members
	offsetArch  = 4
	offsetArgs  = 16
)

func (p *program) add(code uint16, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (p *program) load(offset uint32) { p.add(loadWord, offset, 0, 0) }
func (p *program) allow()             { p.add(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW, 0, 0) }

func (p *program) notify() { p.add(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_USER_NOTIF, 0, 0) }

func (p *program) refuse(errno unix.Errno) {
	p.add(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno), 0, 0)
}

// call refuses a system call.
func (p *program) call(nr uint32, errno unix.Errno) {
	p.add(jumpEqual, nr, 0, 1)
	p.refuse(errno)
}

// when adds rules for one system call, which end with one that always returns.
// The low half of an argument is looked at: every argument here is an int.
func (p *program) when(nr uint32, rules func(*program)) {
	var inner program
	rules(&inner)
	inner.allow()
	p.add(jumpEqual, nr, 0, uint8(len(inner)))
	*p = append(*p, inner...)
}

// arg loads the low half of an argument.
func (p *program) arg(n uint32) { p.load(offsetArgs + 8*n) }

// value refuses the call when what was loaded is v.
func (p *program) value(v uint32, errno unix.Errno) {
	p.add(jumpEqual, v, 0, 1)
	p.refuse(errno)
}

// assemble makes the program of a filter.
func (f filter) assemble() (program, error) {
	arch, ok := auditArch[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("no filter of system calls is known for %s", runtime.GOARCH)
	}
	var p program
	p.load(offsetArch)
	p.add(jumpEqual, arch, 1, 0)
	p.refuse(unix.ENOSYS) // programs of another architecture have other numbers
	p.load(offsetCall)
	if runtime.GOARCH == "amd64" {
		p.add(jumpAtLeast, 0x40000000, 0, 1) // x32 numbers the same calls anew
		p.refuse(unix.ENOSYS)
	}
	for _, nr := range refusedCalls {
		p.call(nr, unix.EPERM)
	}
	p.call(unix.SYS_CLONE3, unix.ENOSYS) // its flags lie in memory; libraries fall back to clone
	p.when(unix.SYS_CLONE, func(p *program) {
		p.arg(0)
		p.add(jumpBits, newNamespaces, 0, 1)
		p.refuse(unix.EPERM)
	})
	p.when(unix.SYS_IOCTL, func(p *program) {
		p.arg(1)
		p.value(unix.TIOCSTI, unix.EPERM)
		p.value(unix.TIOCLINUX, unix.EPERM)
		if f.attributes {
			p.value(unix.FS_IOC_SETFLAGS, unix.EPERM)
			p.value(fsSetXattr, unix.EPERM)
		}
	})
	if f.attributes {
		f.leaveAttributes(&p)
	}
	f.sockets(&p)
	f.signals(&p)
	p.allow()
	return p, nil
}

// sockets refuses sockets of all families but those that namespaces confine: the
// others, such as vsock, are outside of network namespaces.
func (f filter) sockets(p *program) {
	p.when(unix.SYS_SOCKET, func(p *program) {
		p.arg(0)
		if f.inet {
			p.add(jumpEqual, unix.AF_INET, 0, 1)
			p.allow()
			p.add(jumpEqual, unix.AF_INET6, 0, 1)
			p.allow()
		} else if f.count {
			p.add(jumpEqual, unix.AF_INET, 0, 1)
			p.notify()
			p.add(jumpEqual, unix.AF_INET6, 0, 1)
			p.notify()
		}
		if f.unixSockets {
			p.add(jumpEqual, unix.AF_UNIX, 0, 1)
			p.allow()
		}
		p.add(jumpEqual, unix.AF_NETLINK, 1, 0)
		p.refuse(unix.EACCES)
		p.arg(2)
		p.add(jumpEqual, unix.NETLINK_ROUTE, 1, 0) // which lists interfaces
		p.refuse(unix.EACCES)
	})
	if f.unixSockets {
		return
	}
	p.when(unix.SYS_SOCKETPAIR, func(p *program) {
		p.arg(1)
		p.add(maskWord, 0xf, 0, 0)
		p.value(unix.SOCK_DGRAM, unix.EACCES) // a pair of these can send to any address
	})
}

// signals keeps the supervisor from being signalled.
func (f filter) signals(p *program) {
	if len(f.keep) == 0 {
		return
	}
	for _, nr := range []uint32{unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_OPEN} {
		p.when(nr, func(p *program) {
			p.arg(0)
			for _, id := range f.keep {
				p.value(uint32(id), unix.EPERM)
			}
		})
	}
}

// install puts the filter on this thread and what it starts from now on. The listener
// is a referee's; it is -1 when the filter leaves nothing to one, or when the kernel
// allows none.
func (f filter) install() (listener int, err error) {
	p, err := f.assemble()
	if err != nil {
		return -1, err
	}
	if len(p) > unix.BPF_MAXINSNS {
		return -1, errors.New("the filter of system calls is too long")
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, fmt.Errorf("give up new privileges: %w", err)
	}
	var flags uintptr
	if f.count || f.attributes {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	switch {
	case errno != 0 && flags != 0: // another listener is above this one
		f.count, f.attributes = false, false
		return f.install()
	case errno != 0:
		return -1, fmt.Errorf("filter system calls: %w", errno)
	case flags == 0:
		return -1, nil
	}
	return int(fd), nil
}
