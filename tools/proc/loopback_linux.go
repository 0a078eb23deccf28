package proc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A house without network has a loopback of its own. Ports of the person's machine are
// forwarded into it: the house listens at them in its network namespace and passes
// the listening sockets to the server, which accepts connections there and makes one
// of its own to the same port of the machine for each.

// listenAt returns sockets that listen at ports of 127.0.0.1 in this network namespace.
func listenAt(ports []int) (fds []int, err error) {
	for _, port := range ports {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
		}
		if err == nil {
			err = unix.Listen(fd, 128)
		}
		if err != nil {
			return nil, fmt.Errorf("listen at port %d of the sandbox's loopback: %w", port, err)
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// passReady reports that a house is built, and passes the sockets that listen in it.
func passReady(listeners []int) error {
	b, err := frame(report{})
	if err != nil {
		return err
	}
	var rights []byte
	if len(listeners) > 0 {
		rights = unix.UnixRights(listeners...)
	}
	if _, err := unix.SendmsgN(socketFD, b, rights, nil, noSignal); err != nil {
		return fmt.Errorf("pass the sockets of the sandbox's loopback: %w", err)
	}
	for _, fd := range listeners {
		_ = unix.Close(fd)
	}
	return nil
}

// rightsReader reads a connection and keeps the descriptors that come along.
type rightsReader struct {
	conn *net.UnixConn
	fds  []int
}

func (r *rightsReader) Read(p []byte) (int, error) {
	oob := make([]byte, unix.CmsgSpace(4*253)) // as many as the kernel passes at once
	n, oobn, _, _, err := r.conn.ReadMsgUnix(p, oob)
	if err != nil {
		return 0, err
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	for _, m := range messages {
		fds, _ := unix.ParseUnixRights(&m) // nothing else comes
		r.fds = append(r.fds, fds...)
	}
	return n, err
}

// enter waits until a house is built, and returns the sockets that listen in it.
func enter(conn *net.UnixConn) (listeners []int, err error) {
	in := &rightsReader{conn: conn}
	var rep report
	if err := readFrame(in, &rep); err != nil {
		return nil, errors.Join(errHouse, err)
	}
	if rep.Err != "" {
		return nil, errors.New(rep.Err)
	}
	return in.fds, nil
}

// forward accepts connections at a house's sockets until the house ends, each for the
// port at its place in the list.
func (l *link) forward(fds, ports []int) error {
	var listeners []net.Listener
	var errs []error
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "loopback")
		ln, err := net.FileListener(f)
		errs = append(errs, err, f.Close())
		if err == nil {
			listeners = append(listeners, ln)
		}
	}
	end := l.end
	l.end = func() {
		for _, ln := range listeners {
			_ = ln.Close()
		}
		end()
	}
	if err := errors.Join(errs...); err != nil || len(listeners) != len(ports) {
		return fmt.Errorf("take over %d ports of the sandbox's loopback: %w", len(ports), err)
	}
	for i, ln := range listeners {
		go acceptFor(ln, ports[i])
	}
	return nil
}

// acceptFor joins each connection at a listener to one to a port of this machine.
func acceptFor(ln net.Listener, port int) {
	for {
		inner, err := ln.Accept()
		if err != nil {
			return // the house is ended
		}
		go func() {
			outer, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), 10*time.Second)
			if err != nil {
				if c, ok := inner.(*net.TCPConn); ok {
					_ = c.SetLinger(0) // it was refused, and does not look like one that ended
				}
				_ = inner.Close()
				return
			}
			join(inner, outer)
		}()
	}
}

// join copies what either connection sends to the other, until both have ended.
func join(a, b net.Conn) {
	done := make(chan struct{})
	half := func(to, from net.Conn) {
		_, err := io.Copy(to, from)
		if c, ok := to.(*net.TCPConn); ok && err == nil {
			err = c.CloseWrite()
		}
		if err != nil {
			_, _ = a.Close(), b.Close()
		}
	}
	go func() { defer close(done); half(a, b) }()
	half(b, a)
	<-done
	_, _ = a.Close(), b.Close()
}
