package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// jobObject is a program inside a job object. The system ends every process in the
// job when its last handle is closed, which happens when the server dies.
type jobObject struct {
	cmd    *exec.Cmd
	handle windows.Handle
	exited chan struct{}
}

func start(path string, spec Spec, stdout, stderr *os.File) (child, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	if _, err := windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = windows.CloseHandle(h)
		return nil, fmt.Errorf("limit job object: %w", err)
	}
	j := &jobObject{
		cmd: &exec.Cmd{
			Path: path, Args: spec.Argv, Dir: spec.Dir, Env: spec.Env,
			Stdout: stdout, Stderr: stderr,
			SysProcAttr: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true},
		},
		handle: h, exited: make(chan struct{}),
	}
	if err := j.cmd.Start(); err != nil {
		_ = windows.CloseHandle(h)
		return nil, err
	}
	if err := j.assign(); err != nil {
		_ = j.cmd.Process.Kill()
		_ = j.cmd.Wait()
		_ = windows.CloseHandle(h)
		return nil, fmt.Errorf("put process in job object: %w", err)
	}
	go func() {
		_ = j.cmd.Wait() // the state says how it ended
		close(j.exited)
	}()
	return j, nil
}

func (j *jobObject) assign() error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(j.cmd.Process.Pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(p) }()
	return windows.AssignProcessToJobObject(j.handle, p)
}

func (j *jobObject) done() <-chan struct{} { return j.exited }

// alone does not know.
func (j *jobObject) alone(time.Duration) bool { return true }

// terminate requests an end as far as the system can: a console program gets a break.
func (j *jobObject) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(j.cmd.Process.Pid))
}

func (j *jobObject) destroy() (exit, error) {
	err := errors.Join(windows.TerminateJobObject(j.handle, 1), windows.CloseHandle(j.handle))
	t := time.NewTimer(killWait)
	defer t.Stop()
	select {
	case <-j.exited:
		return exit{code: j.cmd.ProcessState.ExitCode(), left: true}, nil
	case <-t.C:
		return exit{code: -1}, fmt.Errorf("process %d does not end although it was killed: %w", j.cmd.Process.Pid, err)
	}
}

// isSupervisor is false: the system ends a job object with its last handle, so
// that no process has to watch.
func isSupervisor() bool { return false }

func supervise() {}
