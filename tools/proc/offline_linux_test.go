package proc

import (
	"net"
	"os"
	"testing"
)

// TestAttemptsToConnectAreCounted is about what the kernel says of a program without
// network: not what it prints, and not whether it failed.
func TestAttemptsToConnectAreCounted(t *testing.T) {
	needPython(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mechanisms(t, func(t *testing.T, m Mechanism) {
		for name, c := range map[string]struct {
			script string
			want   bool
		}{
			"a connection":            {"s = socket.socket(); s.connect_ex(('11.22.33.44', 80))", true},
			"one by the new protocol": {"s = socket.socket(socket.AF_INET6); s.connect_ex(('2001:db8::1', 80))", true},
			"a datagram":              {"s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ntry: s.sendto(b'x', ('11.22.33.44', 53))\nexcept OSError: pass", true},
			"a local name server":     {"s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b'x', ('127.0.0.53', 53))", true},
			"a name":                  {"try: socket.getaddrinfo('example.org', 80)\nexcept OSError: pass", true},
			"nothing":                 {"print('ENOTFOUND EAI_AGAIN network is unreachable'); sys.exit(1)", false},
			"its own listener":        {"l = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen(); s = socket.socket(); s.connect(l.getsockname())", m == Landlock},
			"a file":                  {"open('a.txt').read()", false},
		} {
			t.Run(name, func(t *testing.T) {
				s := newScene(t, m)
				script := "import socket, sys\n" + c.script
				for _, network := range []bool{false, true} {
					s.box.Network = network
					r, err := Run(t.Context(), Spec{Argv: []string{"python3", "-c", script}, Dir: s.work, Policy: Confined(s.box), Env: os.Environ()})
					if err != nil {
						t.Fatal(err)
					}
					if want := c.want && !network; r.Offline != want {
						t.Errorf("with network %t: %t, want %t: %s%s", network, r.Offline, want, r.Stdout, r.Stderr)
					}
				}
			})
		}
	})
}
