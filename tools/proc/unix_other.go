//go:build unix && !linux

package proc

import (
	"os"
	"os/exec"
	"syscall"
)

// groupAttr makes a child the leader of a session without a terminal, so that
// nothing can prompt there, and of a process group.
func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// awaitEnd waits for the child and reaps it.
func awaitEnd(cmd *exec.Cmd) { _ = cmd.Wait() }

// descendants is empty where the system has no list of processes to read: the
// process group alone is ended.
func descendants(int) []int { return nil }

func selfPath() (string, error) { return os.Executable() }

// adoptOrphans does nothing: what leaves its group escapes here.
func adoptOrphans() error { return nil }

// noSignal is empty: Go programs get no signal for a closed socket but an error.
const noSignal = 0

func confine(Sandbox) error { return errNoSandbox }
