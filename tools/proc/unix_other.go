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

// descendants returns nothing: the system has no list of processes to read, so only
// the process group is ended.
func descendants(int) []int { return nil }

func selfPath() (string, error) { return os.Executable() }

// adoptOrphans does nothing: what leaves its group escapes here.
func adoptOrphans() error { return nil }

// noSignal is empty: Go programs get no signal for a closed socket but an error.
const noSignal = 0

// launcher starts confined programs, which this system has not.
type launcher struct{}

func newLauncher(Sandbox) (*launcher, error) { return nil, errNoSandbox }

func (*launcher) start(string, []string, *syscall.ProcAttr) (int, error) { return 0, errNoSandbox }

func (*supervisor) missed(*Sandbox) int64 { return 0 }

func newConfinedLink(Sandbox) (*link, error) { return nil, errNoSandbox }

func isHouse() (string, bool) { return "", false }

func keepHouse(string) {}

func foreignSockets(Sandbox) []string { return nil }

func hideSelf() {}
