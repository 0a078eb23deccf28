//go:build unix

package proc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How many supervisors are kept for the next programs, and for how long: starting
// one costs several times what starting most programs does, and programs come in
// bursts.
const (
	idleMost = 3 // a command's, a check's, and that of the server's own git
	idleFor  = 500 * time.Millisecond
)

// idle stores the supervisors without a job. They end with this process at
// the latest.
var idle struct {
	sync.Mutex
	list []*link
}

// link is a supervisor as the server sees it.
type link struct {
	conn    *net.UnixConn
	cmd     *exec.Cmd // nil in a house
	end     func()    // releases what started it; called once, after conn is closed
	sandbox string    // what the programs that it runs are confined to
	uses    int       // how often it was kept; guarded by idle
}

// supervised is a program that runs below a supervisor.
type supervised struct {
	link   *link
	exited chan struct{}
	how    exit // valid once exited is closed
	gone   chan struct{}
	reuse  bool // valid once gone is closed: the supervisor is ready for another
}

func start(path string, spec Spec, stdout, stderr *os.File) (child, error) {
	if mainCalled.Load() {
		return startSupervised(path, spec, stdout, stderr)
	}
	return startDirect(path, spec, stdout, stderr)
}

func startSupervised(path string, spec Spec, stdout, stderr *os.File) (child, error) {
	sandbox := spec.Policy.sandbox
	b, err := frame(order{Job: &job{path, spec.Argv, spec.Dir, spec.Env, sandbox}})
	if err != nil {
		return nil, fmt.Errorf("describe the program: %w", err)
	}
	rights := unix.UnixRights(int(stdout.Fd()), int(stderr.Fd()))
	for {
		l, kept, err := acquire(sandbox)
		if err != nil {
			return nil, err
		}
		if err := l.send(b, rights); err != nil {
			l.close()
			if kept {
				continue // it was ended while it had nothing to do, and has begun nothing
			}
			return nil, fmt.Errorf("tell the supervisor: %w", err)
		}
		s := &supervised{link: l, exited: make(chan struct{}), gone: make(chan struct{})}
		first := make(chan error, 1)
		go s.follow(first)
		if err := <-first; err != nil {
			<-s.gone
			s.release()
			return nil, err
		}
		return s, nil
	}
}

// acquire returns a supervisor for a sandbox, an idle one if there is any.
func acquire(sandbox *Sandbox) (l *link, kept bool, err error) {
	key := "-"
	if sandbox != nil {
		key = sandbox.key()
	}
	idle.Lock()
	for i, kept := range slices.Backward(idle.list) {
		if kept.sandbox == key {
			l = kept
			idle.list = slices.Delete(idle.list, i, i+1)
			break
		}
	}
	idle.Unlock()
	if l != nil {
		return l, true, nil
	}
	if sandbox != nil && sandbox.Mechanism == Namespaces {
		l, err = newConfinedLink(*sandbox)
	} else {
		l, err = newLink(supervisorName)
	}
	if err != nil {
		return nil, false, fmt.Errorf("start supervisor: %w", err)
	}
	l.sandbox = key
	return l, false, nil
}

// newLink starts another process of this file, by its name.
func newLink(name string) (*link, error) {
	self, err := selfPath()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirs.Close() }()
	stream, err := unixConn(ours)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: self, Args: []string{name}, Dir: "/",
		Env:         []string{"GOMAXPROCS=1", "GOTRACEBACK=none"}, // one thread of Go code is enough
		ExtraFiles:  []*os.File{theirs},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	// It ends when what it runs has ended.
	return &link{conn: stream, cmd: cmd, end: func() { go func() { _ = cmd.Wait() }() }}, nil
}

// unixConn makes a connection of one end of a pair, which it closes.
func unixConn(f *os.File) (*net.UnixConn, error) {
	conn, err := net.FileConn(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	stream, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("the socket pair is none"), conn.Close())
	}
	return stream, nil
}

// socketPair makes two ends of a stream that no other child inherits.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "server"), nil
}

// send writes a frame; the descriptors go with its first byte.
func (l *link) send(b, rights []byte) error {
	n, _, err := l.conn.WriteMsgUnix(b, rights, nil)
	if err == nil && n < len(b) {
		_, err = l.conn.Write(b[n:])
	}
	return err
}

// close ends the supervisor and what it runs.
func (l *link) close() {
	_ = l.conn.Close()
	l.end()
}

// follow reads a job's reports until nothing of it is left.
func (s *supervised) follow(first chan<- error) {
	defer close(s.gone)
	var r report
	err := readFrame(s.link.conn, &r)
	switch {
	case err != nil:
		first <- fmt.Errorf("the supervisor ended without a report: %w", err)
		return
	case r.Errno != 0:
		s.reuse = true
		first <- syscall.Errno(r.Errno)
		return
	case r.Err != "":
		s.reuse = s.link.sandbox == "-" // confining may have gone half way
		first <- errors.New(r.Err)
		return
	}
	first <- nil
	s.how = exit{code: -1, signal: "SIGKILL"} // by a supervisor that was killed itself
	ended := sync.OnceFunc(func() { close(s.exited) })
	defer ended()
	for {
		var r report
		if readFrame(s.link.conn, &r) != nil {
			return
		}
		switch {
		case r.Ended:
			s.how = exit{code: r.Code, signal: r.Signal, left: true}
			ended()
		case r.Gone:
			s.how.offline, s.how.left = r.Offline, r.Left
			s.reuse = true
			return
		}
	}
}

func (s *supervised) done() <-chan struct{} { return s.exited }

func (s *supervised) alone(within time.Duration) bool {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-s.gone:
		return true
	case <-t.C:
		return false
	}
}

func (s *supervised) order(kill string) {
	if b, err := frame(order{Kill: kill}); err == nil {
		_ = s.link.send(b, nil) // a supervisor that is gone has ended everything
	}
}

func (s *supervised) terminate() { s.order("TERM") }

func (s *supervised) destroy() (exit, error) {
	select {
	case <-s.gone:
		s.release()
		return s.how, nil
	default:
	}
	s.order("KILL")
	t := time.NewTimer(killWait)
	defer t.Stop()
	select {
	case <-s.gone:
		s.release()
		return s.how, nil
	case <-t.C:
		s.link.close()
		return exit{code: -1}, errors.New("a process that it started does not end although it was killed")
	}
}

// release keeps the supervisor for the next program for a while, or ends it.
func (s *supervised) release() {
	if !s.reuse {
		s.link.close()
		return
	}
	idle.Lock()
	defer idle.Unlock()
	if len(idle.list) == idleMost {
		idle.list[0].close() // what was used last is needed next
		idle.list = slices.Delete(idle.list, 0, 1)
	}
	l := s.link
	l.uses++
	idle.list = append(idle.list, l)
	uses := l.uses
	time.AfterFunc(idleFor, func() { l.expire(uses) })
}

// expire ends a supervisor that was not used since it was kept for the n-th time.
func (l *link) expire(n int) {
	idle.Lock()
	defer idle.Unlock()
	if i := slices.Index(idle.list, l); i >= 0 && l.uses == n {
		idle.list = slices.Delete(idle.list, i, i+1)
		l.close()
	}
}
