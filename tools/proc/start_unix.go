//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// direct is a program that is the server's own child.
type direct struct {
	cmd    *exec.Cmd
	exited chan struct{}
	reap   chan struct{} // closed to let the zombie go, and with it the group's number
	reaped chan struct{}
}

func startDirect(path string, spec Spec, stdout, stderr *os.File) (child, error) {
	d := &direct{
		cmd: &exec.Cmd{
			Path: path, Args: spec.Argv, Dir: spec.Dir, Env: spec.Env,
			Stdout: stdout, Stderr: stderr, SysProcAttr: groupAttr(),
		},
		exited: make(chan struct{}), reap: make(chan struct{}), reaped: make(chan struct{}),
	}
	started := make(chan error, 1)
	go func() {
		// The death signal comes when the thread that started the child dies, not
		// only with its process: the thread is kept until the child has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(d.reaped)
		err := d.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		awaitEnd(d.cmd)
		close(d.exited)
		<-d.reap
		_ = d.cmd.Wait() // the state says how it ended
	}()
	if err := <-started; err != nil {
		return nil, startError(err)
	}
	return d, nil
}

// startError drops the path that exec adds, which names an inner file.
func startError(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

func (d *direct) done() <-chan struct{} { return d.exited }

// alone does not know: what the program left has another parent.
func (d *direct) alone(time.Duration) bool { return true }

func (d *direct) terminate() { _ = unix.Kill(-d.cmd.Process.Pid, unix.SIGTERM) }

func (d *direct) destroy() (exit, error) {
	pid := d.cmd.Process.Pid
	select {
	case <-d.exited: // what it left has another parent already
	default:
		for _, p := range descendants(pid) {
			_ = unix.Kill(p, unix.SIGKILL)
		}
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
	close(d.reap)
	t := time.NewTimer(killWait)
	defer t.Stop()
	select {
	case <-d.reaped:
		ws, _ := d.cmd.ProcessState.Sys().(syscall.WaitStatus)
		e := exitOf(unix.WaitStatus(ws))
		e.left = true // it has another parent
		return e, nil
	case <-t.C:
		return exit{code: -1}, fmt.Errorf("process %d does not end although it was killed", pid)
	}
}

func exitOf(ws unix.WaitStatus) exit {
	if ws.Signaled() {
		return exit{code: -1, signal: unix.SignalName(ws.Signal())}
	}
	return exit{code: ws.ExitStatus()}
}
