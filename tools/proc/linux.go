//go:build linux

package proc

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// groupAttr makes a child the leader of a session without a terminal, so that
// nothing can prompt there, and of a process group; it dies with its parent.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits until the child has ended and leaves it a zombie: as long as it
// is one, no other process can get its number.
func awaitEnd(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// descendants returns the processes that pid started, directly or not, deepest
// first, as far as the chain of parents is unbroken.
func descendants(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, e := range entries {
		p, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(p); ok {
			children[parent] = append(children[parent], p)
		}
	}
	order := []int{pid}
	for i := 0; i < len(order); i++ {
		order = append(order, children[order[i]]...)
	}
	order = order[1:]
	for i, j := 0, len(order)-1; i < j; i, j = i+1, j-1 {
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// parentOf returns a live process's parent, and false for a zombie: nothing of it is
// left to end.
func parentOf(pid int) (int, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// The name, which may contain any character, is in parentheses before the state.
	_, rest, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte{' '})
	f := bytes.Fields(rest)
	if !ok || len(f) < 2 || f[0][0] == 'Z' {
		return 0, false
	}
	parent, err := strconv.Atoi(string(f[1]))
	return parent, err == nil
}

// selfPath returns a path to the file of this process, also after it was replaced on
// disk.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// adoptOrphans makes this process the parent of all that its children leave
// behind, so that nothing escapes by leaving its group or session.
func adoptOrphans() error {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// noSignal keeps a write to a closed socket from raising a signal.
const noSignal = unix.MSG_NOSIGNAL

// hideSelf has /proc show neither this process's memory nor its environment to
// others of the same person. What it starts is itself again.
func hideSelf() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // fails for no value but another
}
