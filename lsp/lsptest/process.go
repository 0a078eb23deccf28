package lsptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// process is a server that was started by the editor.
type process struct {
	cmd    *exec.Cmd
	stderr *log
	exited chan struct{} // closed when the process was waited for
}

// Start starts a server as a child and makes an editor for it. The command must
// have no standard streams yet. Initialize begins the conversation; Close kills
// what still runs.
func Start(t T, cmd *exec.Cmd, o Options) *Editor {
	p := &process{cmd: cmd, stderr: &log{}, exited: make(chan struct{})}
	in, out, err := p.start()
	if err != nil {
		t.Fatalf("start the server: %s", err)
	}
	return attach(t, in, out, o, p)
}

func (p *process) start() (in io.ReadCloser, out io.WriteCloser, err error) {
	stdin, out, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	in, stdout, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, stdin.Close(), out.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, p.stderr
	err = errors.Join(p.cmd.Start(), stdin.Close(), stdout.Close())
	if err != nil {
		return nil, nil, errors.Join(err, in.Close(), out.Close())
	}
	go func() {
		_ = p.cmd.Wait() // the state of the process says it all
		close(p.exited)
	}()
	return in, out, nil
}

// wait returns the exit code, -1 for a death by signal.
func (p *process) wait(c *conn) int {
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(c.options.Timeout):
		c.fatalf("the server's process %d does not end", p.cmd.Process.Pid)
		return -1
	}
}

func (p *process) kill() {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return
	}
	<-p.exited
}

// ExitCode waits for the server's process alone, whatever is left of its output.
func (e *Editor) ExitCode() int { return e.process.wait(e.conn) }

// PID is the server's process id, 0 for an attached one.
func (e *Editor) PID() int {
	if e.process == nil {
		return 0
	}
	return e.process.cmd.Process.Pid
}

// Kill ends the server's process without a warning.
func (e *Editor) Kill() {
	if e.process != nil {
		e.HangUp()
		e.process.kill()
	}
}

// Stderr is what the server wrote to its standard error so far.
func (e *Editor) Stderr() string {
	if e.process == nil {
		return ""
	}
	return e.process.stderr.String()
}

// Memory is the resident size of the server now and at its peak, in bytes, where
// the system says so in /proc.
func (e *Editor) Memory() (now, peak int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.PID()))
	if err != nil {
		return 0, 0, fmt.Errorf("read the server's memory: %w", err)
	}
	kib := func(name string) int64 {
		_, rest, _ := strings.Cut(string(status), "\n"+name+":")
		n, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
		return n << 10
	}
	return kib("VmRSS"), kib("VmHWM"), nil
}

// log keeps what a process writes.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

var _ io.Writer = (*log)(nil)

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// tail is the end of it, for a failure's message.
func (l *log) tail() string {
	s := l.String()
	if len(s) > 8<<10 {
		s = "…" + s[len(s)-8<<10:]
	}
	return s
}
