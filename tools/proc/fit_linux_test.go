package proc

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestASandboxIsFitForWork is about what must not be stopped.
func TestASandboxIsFitForWork(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		s := newScene(t, m)
		s.box.Temp = filepath.Join(t.TempDir(), "session")
		// The home lies below the system's directory for temporary files.
		s.box.Readable = []string{filepath.Join(s.home, "other")}
		for name, script := range map[string]string{
			"files":            "mkdir -p in/deep && echo x >in/deep/f && mv in/deep/f in/g && ln -s g in/l && ln in/g in/h && chmod +x in/g && touch -d 2001-01-01 in/g && rm -r in",
			"devices":          "echo x >/dev/null && head -c 1 /dev/zero >/dev/null && head -c 1 /dev/urandom >/dev/null && test -e /dev/fd/0",
			"temporary files":  "f=$(mktemp) && echo x >$f && cat $f && rm $f",
			"a temporary file": "echo x >$TMPDIR/kept",
			"git's own files":  "echo ref: y >.git/HEAD && mkdir -p .git/objects/ab && echo x >.git/objects/ab/c && mv .git/objects/ab/c .git/objects/ab/d",
			"reading":          "cat ../other/file /etc/passwd >/dev/null && test -r .git/config && cat .vscode/tasks.json",
			"processes":        "test -e /proc/self/status && (sleep 0 & wait) && kill -0 $$ && (setsid true)",
			"the user":         "test $(id -u) = " + fmt.Sprint(os.Getuid()) + " && test -O a.txt",
		} {
			if r := s.run(script); !r.OK() || len(r.PutBack) > 0 {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if r := s.run("cat $TMPDIR/kept"); r.Stdout.String() != "x\n" {
			t.Errorf("a session's temporary files are lost: %+v", r)
		}
		if m == Namespaces {
			if r := s.run("ls -d /tmp/*"); strings.Contains(r.Stdout.String(), filepath.Base(os.TempDir())+"/go-build") {
				t.Errorf("the system's temporary files are seen: %s", r.Stdout)
			}
		}
	})
}

// TestProgramsOfASessionShareLoopback has one listen and another connect.
func TestProgramsOfASessionShareLoopback(t *testing.T) {
	needPython(t)
	mechanisms(t, func(t *testing.T, m Mechanism) {
		if m == Landlock {
			return // there any socket is the network's
		}
		s := newScene(t, m)
		if err := unix.Mkfifo(filepath.Join(s.work, "port"), 0o600); err != nil {
			t.Fatal(err)
		}
		done := make(chan Result, 1)
		go func() {
			done <- s.run(`exec python3 -c "
import socket
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
open('port', 'w').write(str(s.getsockname()[1]))
s.accept()[0].sendall(b'hello')"`)
		}()
		r := s.run(`exec python3 -c "
import socket
print(socket.create_connection(('127.0.0.1', int(open('port').read()))).recv(10))"`)
		if r.Stdout.String() != "b'hello'\n" {
			t.Errorf("%+v", r)
		}
		if r := <-done; !r.OK() {
			t.Errorf("%+v", r)
		}
	})
}

// TestTheNetworkIsThereWhenAllowed is the other half of the attacks: a program with
// network connects to this machine, and still reaches no socket of its processes.
func TestTheNetworkIsThereWhenAllowed(t *testing.T) {
	needPython(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	abstract, err := net.Listen("unix", fmt.Sprintf("@agent-lsp-test-online-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	mechanisms(t, func(t *testing.T, m Mechanism) {
		s := newScene(t, m)
		s.box.Network = true
		_, port, _ := net.SplitHostPort(tcp.Addr().String())
		r := s.run("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", " + port + "))'")
		if !r.OK() {
			t.Errorf("it has no network: %s", r.Stderr)
		}
		r = s.run(`python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("\0` + abstract.Addr().String()[1:] + `")'`)
		if r.OK() {
			t.Error("it reaches a socket of another program")
		}
	})
}
