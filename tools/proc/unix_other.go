//go:build unix && !linux

package proc

import (
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
