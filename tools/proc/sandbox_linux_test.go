package proc

import (
	"net"
	"os"
	"strconv"
	"testing"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// TestOfflineProgramsReachNobody has a program connect, listen and signal.
func TestOfflineProgramsReachNobody(t *testing.T) {
	if err := SandboxSupport(); err != nil {
		t.Skip(err)
	}
	if v, err := ll.LandlockGetABIVersion(); err != nil || v < 6 {
		t.Skipf("the kernel's Landlock has version %d, which knows no network: %v", v, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing is lost
	abstract, err := net.Listen("unix", "@agent-lsp-"+strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close() //nolint:errcheck // nothing is lost
	for _, what := range []string{"connect " + l.Addr().String(), "listen", "abstract " + abstract.Addr().String(), "signal " + strconv.Itoa(os.Getpid())} {
		for _, offline := range []bool{false, true} {
			r, err := Run(t.Context(), Spec{
				Argv: []string{os.Args[0]}, Dir: t.TempDir(), Env: append(os.Environ(), reachScript+"="+what),
				Policy: Confined(Sandbox{Writable: []string{"/dev/null"}, Offline: offline}),
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.OK() == offline {
				t.Errorf("%s, offline %t: code %d %s", what, offline, r.Code, r.Stderr)
			}
		}
	}
}
