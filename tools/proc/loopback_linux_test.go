package proc

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// machinePort listens at a port of this machine; what it is sent comes back in capitals
// once the sender has said that it is all.
func machinePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				all, _ := io.ReadAll(c)
				io.WriteString(c, strings.ToUpper(string(all)))
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n, _ := strconv.Atoi(port)
	return n
}

// TestNamedPortsAreForwarded has two ports of this machine, of which the person names
// one, and a third that is named and has no listener.
func TestNamedPortsAreForwarded(t *testing.T) {
	needPython(t)
	named, other := machinePort(t), machinePort(t)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, nobody, _ := net.SplitHostPort(gone.Addr().String())
	gone.Close()
	nobodys, _ := strconv.Atoi(nobody)
	s := newScene(t, Namespaces)
	if SandboxSupport().Mechanism != Namespaces {
		mechanisms(t, func(*testing.T, Mechanism) {})
		t.Skip("loopback is forwarded between namespaces")
	}
	s.box.Loopback = []int{named, nobodys}
	talk := func(port int) string {
		r := s.run(fmt.Sprintf(`python3 -c "
import socket
s = socket.create_connection(('localhost', %d), 5)
s.sendall(b'x' * 300000)
s.shutdown(socket.SHUT_WR)
n = 0
while d := s.recv(65536):
    assert d == b'X' * len(d)
    n += len(d)
print('GOT', n)"`, port))
		return r.Stdout.String() + r.Stderr.String()
	}
	for range 2 {
		if got := talk(named); got != "GOT 300000\n" {
			t.Errorf("the named port: %s", got)
		}
	}
	for port, name := range map[int]string{other: "another port", nobodys: "a port where nobody listens"} {
		if got := talk(port); strings.Contains(got, "GOT") || !strings.Contains(got, "Connection") {
			t.Errorf("%s: %s", name, got)
		}
	}
	s.box.Network = true // the machine's own loopback
	for _, port := range []int{named, other} {
		if got := talk(port); got != "GOT 300000\n" {
			t.Errorf("with network: %s", got)
		}
	}
}

// TestProgramsOfASandboxShareItsLoopback runs a server in one program and a client in
// another, of a sandbox without network.
func TestProgramsOfASandboxShareItsLoopback(t *testing.T) {
	needPython(t)
	if SandboxSupport().Mechanism != Namespaces {
		mechanisms(t, func(*testing.T, Mechanism) {})
		t.Skip("Landlock allows no socket without network")
	}
	s := newScene(t, Namespaces)
	s.box.Writable = append(s.box.Writable, t.TempDir())
	if err := os.WriteFile(filepath.Join(s.work, "serve.py"), []byte(`import os, socket
l = socket.socket()
l.bind(('127.0.0.1', 4321))
l.listen()
open('ready', 'w').close()
c, _ = l.accept()
c.sendall(b'hello')
c.close()
`), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(s.work, "ready")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	served := make(chan Result, 1)
	go func() { served <- s.run("python3 serve.py") }()
	ready, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(ready).ReadByte(); err != io.EOF {
		t.Fatal(err)
	}
	ready.Close()
	client := "import socket\nprint(socket.create_connection(('127.0.0.1', 4321), 5).recv(9))"
	elsewhere := newScene(t, Namespaces)
	elsewhere.box.Writable = append(elsewhere.box.Writable, t.TempDir())
	if r := elsewhere.run(`python3 -c "` + client + `"`); r.OK() {
		t.Errorf("another session reaches it: %s", r.Stdout)
	}
	if r := s.run(`python3 -c "` + client + `"`); r.Stdout.String() != "b'hello'\n" {
		t.Errorf("the client: %s%s", r.Stdout, r.Stderr)
	}
	if r := <-served; !r.OK() {
		t.Errorf("the server: %s", r.Stderr)
	}
}

// TestLandlockForwardsNothing is what SECURITY.md says of it: a socket needs network.
func TestLandlockForwardsNothing(t *testing.T) {
	needPython(t)
	mechanisms(t, func(t *testing.T, m Mechanism) {
		if m != Landlock {
			return
		}
		s := newScene(t, m)
		port := machinePort(t)
		s.box.Loopback = []int{port}
		connect := fmt.Sprintf(`python3 -c "import socket; socket.create_connection(('127.0.0.1', %d), 5); print('THROUGH')"`, port)
		if r := s.run(connect); strings.Contains(r.Stdout.String(), "THROUGH") || !r.Offline {
			t.Errorf("%+v", r)
		}
		s.box.Network = true
		if r := s.run(connect); !strings.Contains(r.Stdout.String(), "THROUGH") {
			t.Errorf("with network: %s", r.Stderr)
		}
	})
}
