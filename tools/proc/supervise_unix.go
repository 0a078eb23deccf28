//go:build unix

package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// supervisorName is the whole command line of a supervisor.
const supervisorName = "agent-lsp-supervisor"

// The file descriptors of a supervisor besides the program's two streams: it is
// told what to do on one, whose end means that the server is gone, and reports on
// the other.
const (
	controlFD = 3
	reportFD  = 4
)

// The orders that follow the job on the control pipe.
const orderTerminate = 't'

// job is what a supervisor is to run.
type job struct {
	Path    string   `json:"path"`
	Argv    []string `json:"argv"`
	Dir     string   `json:"dir"`
	Env     []string `json:"env"`
	Sandbox *Sandbox `json:"sandbox"`
}

// report is what a supervisor tells: first that the program runs or why it does
// not, then how it ended.
type report struct {
	Errno  int    `json:"errno,omitzero"`
	Err    string `json:"err,omitempty"`
	Ended  bool   `json:"ended,omitzero"`
	Code   int    `json:"code,omitzero"`
	Signal string `json:"signal,omitempty"`
}

func isSupervisor() bool { return len(os.Args) == 1 && os.Args[0] == supervisorName }

// supervised is a program that runs below a supervisor.
type supervised struct {
	cmd     *exec.Cmd
	control *os.File
	exited  chan struct{}
	how     exit // valid once exited is closed
	gone    chan struct{}
}

func start(path string, spec Spec, stdout, stderr *os.File) (child, error) {
	if armed.Load() {
		return startSupervised(path, spec, stdout, stderr)
	}
	if spec.Sandbox != nil {
		return nil, errors.New("it is to run confined, which this program is not set up for")
	}
	return startDirect(path, spec, stdout, stderr)
}

func startSupervised(path string, spec Spec, stdout, stderr *os.File) (child, error) {
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = controlR.Close() }()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, controlW.Close())
	}
	defer func() { _ = reportW.Close() }()
	s := &supervised{
		cmd: &exec.Cmd{
			Path: self, Args: []string{supervisorName}, Dir: "/",
			// One thread of Go code is enough, and it collects no garbage in its life.
			Env:    []string{"GOMAXPROCS=1", "GOGC=off", "GOTRACEBACK=none"},
			Stdout: stdout, Stderr: stderr,
			ExtraFiles:  []*os.File{controlR, reportW},
			SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		},
		control: controlW, exited: make(chan struct{}), gone: make(chan struct{}),
	}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start supervisor: %w", err), controlW.Close(), reportR.Close())
	}
	// The copies here must go now: the report pipe has to end with the supervisor.
	_ = reportW.Close()
	_ = controlR.Close()
	first := make(chan error, 1)
	go s.follow(reportR, first)
	err = writeJob(controlW, job{path, spec.Argv, spec.Dir, spec.Env, spec.Sandbox})
	if err == nil {
		err = <-first
	}
	if err != nil {
		_, derr := s.destroy()
		return nil, errors.Join(err, derr)
	}
	return s, nil
}

func writeJob(w io.Writer, j job) error {
	body, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("describe the program: %w", err)
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

// follow reads the supervisor's reports until it is gone.
func (s *supervised) follow(reports *os.File, first chan<- error) {
	defer close(s.gone)
	defer func() { _ = reports.Close() }()
	one := func() (report, error) {
		var head [4]byte
		if _, err := io.ReadFull(reports, head[:]); err != nil {
			return report{}, fmt.Errorf("the supervisor ended without a report: %w", err)
		}
		body := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(reports, body); err != nil {
			return report{}, fmt.Errorf("the supervisor ended within a report: %w", err)
		}
		var r report
		err := json.Unmarshal(body, &r)
		return r, err
	}
	r, err := one()
	switch {
	case err != nil:
	case r.Errno != 0:
		err = syscall.Errno(r.Errno)
	case r.Err != "":
		err = errors.New(r.Err)
	}
	first <- err
	s.how = exit{code: -1, signal: "SIGKILL"}
	if err == nil {
		if r, err := one(); err == nil {
			s.how = exit{code: r.Code, signal: r.Signal}
		}
	}
	close(s.exited)
	_ = s.cmd.Wait() // it tells nothing that the reports do not
}

func (s *supervised) done() <-chan struct{} { return s.exited }

func (s *supervised) terminate() { _, _ = s.control.Write([]byte{orderTerminate}) }

func (s *supervised) destroy() (exit, error) {
	_ = s.control.Close()
	t := time.NewTimer(undead)
	defer t.Stop()
	select {
	case <-s.gone:
		return s.how, nil
	case <-t.C:
		// The supervisor still waits for what does not die; it goes when that does.
		return exit{code: -1}, fmt.Errorf("a process that it started does not end although it was killed")
	}
}

// supervise is the life of a supervisor. It never returns.
func supervise() {
	// The program dies with the thread that starts it, so that thread must last.
	runtime.LockOSThread()
	unix.CloseOnExec(controlFD)
	unix.CloseOnExec(reportFD)
	control, reports := os.NewFile(controlFD, "control"), os.NewFile(reportFD, "report")
	pid, err := launch(control)
	if err != nil {
		r := report{Err: err.Error()}
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			r = report{Errno: int(errno)}
		}
		tell(reports, r)
		syscall.Exit(1)
	}
	tell(reports, report{})
	orders := make(chan byte)
	go func() {
		defer close(orders)
		var b [1]byte
		for {
			if _, err := control.Read(b[:]); err != nil {
				return
			}
			orders <- b[0]
		}
	}()
	ended, gone := make(chan unix.WaitStatus, 1), make(chan struct{})
	go reap(pid, ended, gone)
	running := true
	var tick <-chan time.Time
	for {
		select {
		case ws := <-ended:
			running = false
			e := exitOf(ws)
			tell(reports, report{Ended: true, Code: e.code, Signal: e.signal})
		case <-gone:
			syscall.Exit(0) // at once: nothing here needs what os.Exit waits for
		case _, ok := <-orders:
			if ok {
				signalAll(pid, running, unix.SIGTERM)
				continue
			}
			orders = nil
			signalAll(pid, running, unix.SIGKILL)
			tick = time.Tick(5 * time.Millisecond)
		case <-tick:
			// What was just being started when the others were killed goes now.
			signalAll(pid, running, unix.SIGKILL)
		}
	}
}

func tell(w io.Writer, r report) {
	body, err := json.Marshal(r)
	if err != nil {
		syscall.Exit(2)
	}
	// A server that is gone does not need to be told.
	_, _ = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
}

// launch reads the job and starts its program.
func launch(control io.Reader) (pid int, err error) {
	var head [4]byte
	if _, err := io.ReadFull(control, head[:]); err != nil {
		return 0, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(control, body); err != nil {
		return 0, err
	}
	var j job
	if err := json.Unmarshal(body, &j); err != nil {
		return 0, err
	}
	if err := adoptOrphans(); err != nil {
		return 0, err
	}
	if j.Sandbox != nil {
		if err := confine(*j.Sandbox); err != nil {
			return 0, err
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	pid, err = syscall.ForkExec(j.Path, j.Argv, &syscall.ProcAttr{
		Dir: j.Dir, Env: j.Env, Files: []uintptr{null.Fd(), 1, 2}, Sys: groupAttr(),
	})
	if err != nil {
		return 0, err
	}
	// The streams end when the program and what it started have closed them; the
	// supervisor must not hold them open.
	for fd := range 3 {
		if err := replaceFD(int(null.Fd()), fd); err != nil {
			_ = unix.Kill(-pid, unix.SIGKILL)
			return 0, err
		}
	}
	return pid, nil
}

// reap takes leave of every process that ends, the orphans that came here
// included, until none is left.
func reap(pid int, ended chan<- unix.WaitStatus, gone chan<- struct{}) {
	defer close(gone)
	for {
		var ws unix.WaitStatus
		p, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return
		case p == pid:
			ended <- ws
		}
	}
}

// signalAll reaches the program's group and everything below the supervisor.
func signalAll(pid int, running bool, sig unix.Signal) {
	below := descendants(os.Getpid())
	if running {
		// While the program is not reaped its number is its own.
		_ = unix.Kill(-pid, sig)
	}
	for _, p := range below {
		_ = unix.Kill(p, sig)
	}
}
