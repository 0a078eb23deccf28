//go:build unix

package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// supervisorName is the whole command line of a supervisor.
const supervisorName = "agent-lsp-supervisor"

// socketFD is the supervisor's end of the socket over which it receives jobs
// and sends reports; the end of the stream means that the server's process ended.
const socketFD = 3

// order is a message from the server to a supervisor. With a job come two descriptors,
// of the program's standard output and error. The first order of a house is what
// to build; each further one brings the end of a supervisor's socket.
type order struct {
	House *Sandbox `json:"house,omitempty"`
	Job   *job     `json:"job,omitempty"`
	Kill  string   `json:"kill,omitempty"` // "TERM" or "KILL"
}

// job is what a supervisor is to run.
type job struct {
	Path    string   `json:"path"`
	Argv    []string `json:"argv"`
	Dir     string   `json:"dir"`
	Env     []string `json:"env"`
	Sandbox *Sandbox `json:"sandbox"`
}

// report is a message from a supervisor about a job: that it runs or why it does not,
// how its program ended, and that nothing of it is left.
type report struct {
	Errno  int    `json:"errno,omitzero"`
	Err    string `json:"err,omitempty"`
	Ended  bool   `json:"ended,omitzero"`
	Code   int    `json:"code,omitzero"`
	Signal string `json:"signal,omitempty"`
	Gone   bool   `json:"gone,omitzero"`
	// Offline comes with Gone, see Result.
	Offline bool `json:"offline,omitzero"`
	// Left comes with Gone: something was running when the job was killed.
	Left bool `json:"left,omitzero"`
}

// frame is a message as it goes over the socket: its length and its JSON.
func frame(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...), nil
}

// readFrame reads a message into v.
func readFrame(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

func isSupervisor() bool { return len(os.Args) == 1 && os.Args[0] == supervisorName }

// supervisor is the state of a supervisor's process.
type supervisor struct {
	in     *ordersReader
	orders chan order // closed when the server is gone
	fds    chan []int // of the job that was just ordered
	// launcher starts confined programs; the jobs that one supervisor gets have the
	// same sandbox. Nil until the first.
	launcher *launcher
}

// supervise runs a supervisor: one job after the other until the server's process
// ends. It never returns.
func supervise() {
	// A program dies with the thread that starts it, so that thread must last.
	runtime.LockOSThread()
	unix.CloseOnExec(socketFD)
	if err := adoptOrphans(); err != nil {
		syscall.Exit(1)
	}
	s := &supervisor{in: &ordersReader{}, orders: make(chan order), fds: make(chan []int, 1)}
	go s.listen()
	for o := range s.orders {
		if o.Job == nil {
			continue // an order for a job that has ended meanwhile
		}
		s.run(*o.Job, <-s.fds)
	}
	syscall.Exit(0) // at once: nothing here needs what os.Exit waits for
}

func (s *supervisor) listen() {
	defer close(s.orders)
	for {
		var o order
		if readFrame(s.in, &o) != nil {
			return
		}
		if o.Job != nil {
			s.fds <- s.in.take()
		}
		s.orders <- o
	}
}

// ordersReader reads the socket and keeps the descriptors that come along.
type ordersReader struct{ fds []int }

func (r *ordersReader) Read(p []byte) (int, error) {
	oob := make([]byte, unix.CmsgSpace(2*4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(socketFD, p, oob, 0)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		messages, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil {
			return 0, err
		}
		for _, m := range messages {
			fds, err := unix.ParseUnixRights(&m)
			if err != nil {
				return 0, err
			}
			for _, fd := range fds {
				unix.CloseOnExec(fd)
			}
			r.fds = append(r.fds, fds...)
		}
		return n, nil
	}
}

func (r *ordersReader) take() []int {
	fds := r.fds
	r.fds = nil
	return fds
}

// run runs a job and waits for the end of all that it started.
func (s *supervisor) run(j job, fds []int) {
	before := s.missed(j.Sandbox)
	pid, err := s.launch(j, fds)
	for _, fd := range fds {
		// The streams end when the program and what it started have closed them;
		// the supervisor must not keep them open.
		_ = unix.Close(fd)
	}
	if err != nil {
		r := report{Err: err.Error()}
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			r = report{Errno: int(errno)}
		}
		sendReport(r)
		return
	}
	sendReport(report{})
	ended, gone := make(chan unix.WaitStatus, 1), make(chan struct{})
	go reap(pid, ended, gone)
	running, left := true, false
	orders := s.orders
	var tick <-chan time.Time
	finish := func(ws unix.WaitStatus) {
		running = false
		e := exitOf(ws)
		sendReport(report{Ended: true, Code: e.code, Signal: e.signal})
	}
	for {
		select {
		case ws := <-ended:
			finish(ws)
		case <-gone:
			select {
			case ws := <-ended:
				finish(ws)
			default:
			}
			sendReport(report{Gone: true, Offline: s.missed(j.Sandbox) > before, Left: left})
			return
		case o, ok := <-orders:
			if ok && o.Kill == "TERM" {
				signalAll(pid, running, unix.SIGTERM)
				continue
			}
			if !ok {
				orders = nil
			}
			left = signalAll(pid, running, unix.SIGKILL) || left
			tick = time.Tick(5 * time.Millisecond)
		case <-tick:
			// What was just being started when the others were killed is killed now.
			signalAll(pid, running, unix.SIGKILL)
		}
	}
}

func sendReport(r report) { sendReportOn(socketFD, r) }

func sendReportOn(fd int, r report) {
	b, err := frame(r)
	if err != nil {
		syscall.Exit(1)
	}
	for len(b) > 0 {
		n, err := unix.SendmsgN(fd, b, nil, nil, noSignal)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return // the server's process ended: nobody reads the report
		}
		b = b[n:]
	}
}

// launch starts a job's program.
func (s *supervisor) launch(j job, fds []int) (pid int, err error) {
	if len(fds) != 2 {
		return 0, fmt.Errorf("the program came with %d streams instead of 2", len(fds))
	}
	if j.Sandbox != nil && s.launcher == nil {
		if s.launcher, err = newLauncher(*j.Sandbox); err != nil {
			return 0, fmt.Errorf("confine: %w", err)
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer func() { _ = null.Close() }()
	attr := &syscall.ProcAttr{Dir: j.Dir, Env: j.Env, Files: []uintptr{null.Fd(), uintptr(fds[0]), uintptr(fds[1])}, Sys: groupAttr()}
	if j.Sandbox != nil {
		return s.launcher.start(j.Path, j.Argv, attr)
	}
	return syscall.ForkExec(j.Path, j.Argv, attr)
}

// reap waits for every child that ends, adopted orphans included, until none is left;
// then it closes reaped. It sends pid's status to ended.
func reap(pid int, ended chan<- unix.WaitStatus, reaped chan<- struct{}) {
	defer close(reaped)
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

// signalAll signals the program's group and everything below the supervisor, and
// reports whether there was anything.
func signalAll(pid int, running bool, sig unix.Signal) bool {
	below := descendants(os.Getpid())
	if running {
		// While the program is not reaped its number is its own.
		_ = unix.Kill(-pid, sig)
	}
	for _, p := range below {
		_ = unix.Kill(p, sig)
	}
	return running || below == nil || len(below) > 0 // nil where it cannot be known
}
