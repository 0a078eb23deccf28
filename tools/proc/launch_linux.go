package proc

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// launcher starts a supervisor's confined programs from a thread of its own, which
// dropped its rights for good: what it starts has no more rights. The thread is
// not the process's first, because signals to a process are judged by that one.
type launcher struct {
	jobs    chan launch
	refused atomic.Int64 // internet sockets that programs could not make
}

type launch struct {
	path string
	argv []string
	attr *syscall.ProcAttr
	done chan<- launched
}

type launched struct {
	pid int
	err error
}

// newLauncher confines a thread as a sandbox says.
func newLauncher(s Sandbox) (*launcher, error) {
	if s.Mechanism == Namespaces {
		if err := furnish(s); err != nil {
			return nil, err
		}
	}
	// Nobody inside may look into this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, err
	}
	l := &launcher{jobs: make(chan launch)}
	ready := make(chan error)
	go l.live(s, ready)
	return l, <-ready
}

// live runs the launcher's thread. The thread is never unlocked, so that it ends with
// the process.
func (l *launcher) live(s Sandbox, ready chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// The first thread: another goroutine gets another one while this one waits.
		done := make(chan struct{})
		go func() { defer close(done); l.live(s, ready) }()
		<-done
		return
	}
	if err := l.surrender(s); err != nil {
		ready <- err
		return
	}
	close(ready)
	for j := range l.jobs {
		pid, err := syscall.ForkExec(j.path, j.argv, j.attr)
		j.done <- launched{pid, err}
	}
}

func (l *launcher) start(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	done := make(chan launched)
	l.jobs <- launch{path, argv, attr, done}
	r := <-done
	return r.pid, r.err
}

// surrender drops the rights of this thread that a sandbox does not give to programs.
func (l *launcher) surrender(s Sandbox) error {
	if err := dropCapabilities(s.Mechanism == Namespaces); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	abi := landlockVersion()
	if err := restrictThread(s, abi); err != nil {
		return err
	}
	f := filter{inet: true, unixSockets: true}
	if s.Mechanism == Landlock {
		f = filter{inet: s.Network, count: !s.Network, attributes: readsMemory(), unixSockets: abi >= abiResolveUnix || len(s.Sockets) > 0, keep: []int{os.Getpid(), unix.Gettid()}}
	} else if s.Network && abi < abiScopes {
		f.unixSockets = len(s.Sockets) > 0 // abstract ones are the host's
	}
	listener, err := f.install()
	if err == nil && listener >= 0 {
		go referee{listener, s.Writable, &l.refused}.run()
	}
	return err
}

// rootKeeps are the capabilities that root's programs keep inside a sandbox's user
// namespace: those over files and their own processes.
var rootKeeps = []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID}

// dropCapabilities leaves this thread, and what it starts, with those that root's
// programs keep. Outside of a user namespace of its own, where they would be those
// of the system, root keeps only what it needs for its files.
func dropCapabilities(inside bool) error {
	var keep []int
	if os.Geteuid() == 0 {
		keep = rootKeeps
		if !inside {
			keep = []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID}
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return err
	}
	if have[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		for c := 0; c <= unix.CAP_LAST_CAP; c++ {
			if slices.Contains(keep, c) {
				continue
			}
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && err != unix.EINVAL {
				return err
			}
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	var set [2]unix.CapUserData
	for _, c := range keep {
		bit := uint32(1) << (c % 32)
		if have[c/32].Permitted&bit != 0 {
			set[c/32].Effective |= bit
			set[c/32].Permitted |= bit
		}
	}
	if err := unix.Capset(&header, &set[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
