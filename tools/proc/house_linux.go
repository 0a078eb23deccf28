package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A session's programs live in a house: a user, mount, network and IPC namespace
// that outlast the single program, so that they share loopback and temporary
// files. It takes two processes. The first is started plainly by the server,
// which other processes cannot look into and which therefore cannot write the
// maps of a user namespace; it starts the second inside of the namespaces and
// waits for it. The second builds the view of the file system and starts
// supervisors, each with the processes of a pid namespace of its own. The kernel
// ends everything of a supervisor with it, and a supervisor with its house.

// The whole command lines of a house's processes.
const (
	houseOffline = "agent-lsp-house-offline"
	houseOnline  = "agent-lsp-house-online"
	houseInside  = "agent-lsp-house-inside"
)

// isHouse reports which of a house's processes this one is, if any.
func isHouse() (name string, ok bool) {
	if len(os.Args) != 1 {
		return "", false
	}
	switch os.Args[0] {
	case houseOffline, houseOnline, houseInside, nobodyName:
		return os.Args[0], true
	}
	return "", false
}

// keepHouse runs a house's process. It never returns.
func keepHouse(name string) {
	if name == nobodyName {
		syscall.Exit(0)
	}
	runtime.LockOSThread() // what it starts dies with the thread
	if name == houseInside {
		liveInside()
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{houseInside}, &syscall.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []uintptr{0, 1, 2, socketFD},
		Sys: houseAttr(name == houseOffline),
	})
	if err != nil {
		sendReport(report{Err: "make user, mount and network namespaces: " + err.Error()})
		syscall.Exit(1)
	}
	_ = unix.Close(socketFD)
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &ws, 0, nil); err != unix.EINTR {
			syscall.Exit(0)
		}
	}
}

// houseCaps are the capabilities with which mounts and interfaces are set up, in
// the house's user namespace. Programs get none of them.
var houseCaps = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_KILL, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH,
	unix.CAP_CHOWN, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_NET_BIND_SERVICE,
}

func houseAttr(offline bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: syscall.SIGKILL, AmbientCaps: houseCaps,
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWIPC,
	}
	if offline {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	uid, gid := os.Getuid(), os.Getgid()
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	if uid == 0 {
		// Root's files belong to many; it keeps its rights over them.
		attr.UidMappings = wholeMap("/proc/self/uid_map")
		attr.GidMappings = wholeMap("/proc/self/gid_map")
		attr.GidMappingsEnableSetgroups = true
	}
	return attr
}

// wholeMap maps every number that this process knows to itself.
func wholeMap(file string) []syscall.SysProcIDMap {
	var out []syscall.SysProcIDMap
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	for {
		var inside, outside, size int
		if _, err := fmt.Fscan(f, &inside, &outside, &size); err != nil {
			return out
		}
		out = append(out, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
	}
}

// liveInside builds the house and starts supervisors in it until the server's process
// ends. It never returns.
func liveInside() {
	unix.CloseOnExec(socketFD)
	in := &ordersReader{}
	var o order
	if readFrame(in, &o) != nil || o.House == nil {
		syscall.Exit(1)
	}
	err := buildRoot(*o.House)
	var listeners []int
	if err == nil && !o.House.Network {
		if err = raiseLoopback(); err == nil {
			listeners, err = listenAt(o.House.Loopback)
		}
	}
	if err == nil {
		err = passReady(listeners)
	}
	if err != nil {
		sendReport(report{Err: err.Error()})
		syscall.Exit(1)
	}
	for {
		if readFrame(in, &order{}) != nil {
			syscall.Exit(0)
		}
		for _, fd := range in.take() {
			if err := spawn(fd); err != nil {
				// The supervisor's socket closes, which shows the server that it failed;
				// this report says why.
				sendReportOn(fd, report{Err: "start a supervisor in the sandbox: " + err.Error()})
			}
			_ = unix.Close(fd)
		}
	}
}

// spawn starts a supervisor whose end of the socket is fd.
func spawn(fd int) error {
	pid, err := syscall.ForkExec("/proc/self/exe", []string{supervisorName}, &syscall.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []uintptr{0, 1, 2, uintptr(fd)},
		Sys: &syscall.SysProcAttr{
			Setsid: true, Pdeathsig: syscall.SIGKILL, AmbientCaps: houseCaps,
			Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID,
		},
	})
	if err != nil {
		return err
	}
	go func() {
		var ws unix.WaitStatus
		for {
			if _, err := unix.Wait4(pid, &ws, 0, nil); err != unix.EINTR {
				return
			}
		}
	}()
	return nil
}

// raiseLoopback switches on the interface by which programs of one network
// namespace reach each other.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	return nil
}

// insideHouse reports whether this process is the supervisor of a house: the
// first of a pid namespace.
func insideHouse() bool { return os.Getpid() == 1 }

// errHouse reports a house that ended without a report.
var errHouse = errors.New("the sandbox's process ended while it was set up")
