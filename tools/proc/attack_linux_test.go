package proc

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mechanisms runs a test with each mechanism that this system has. On a system
// that runs the tests for others it is an error to have fewer than both.
func mechanisms(t *testing.T, test func(*testing.T, Mechanism)) {
	for _, m := range []Mechanism{Namespaces, Landlock} {
		t.Run(string(m), func(t *testing.T) {
			missing := ""
			switch s := SandboxSupport(); {
			case m == Namespaces && s.Mechanism != m:
				missing = strings.Join(s.Missing, "; ")
			case m == Landlock && landlockVersion() < abiScopes:
				missing = fmt.Sprintf("the kernel's Landlock has version %d", landlockVersion())
			}
			if missing == "" {
				test(t, m)
				return
			}
			if os.Getenv("CI") == "true" {
				t.Fatalf("this system cannot run the test, which must not be left out: %s", missing)
			}
			t.Skip(missing)
		})
	}
}

// scene is a person's home with secrets, and a workspace in it.
type scene struct {
	t          *testing.T
	home, work string
	box        Sandbox
}

// newScene makes one outside of the directories for temporary files, which a
// sandbox replaces.
func newScene(t *testing.T, m Mechanism) *scene {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, home: home, work: filepath.Join(home, "work")}
	for name, text := range map[string]string{
		".ssh/id_rsa": "PRIVATE", ".netrc": "PRIVATE", ".cargo/env": "old\n", "other/file": "old\n",
		"work/a.txt": "a\n", "work/.git/config": "[core]\n", "work/.git/hooks/keep": "old\n", "work/.git/HEAD": "ref: x\n", "work/.vscode/tasks.json": "{}\n",
		"work/sub/b.txt": "b\n",
	} {
		p := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(s.work, n))
		}
		return out
	}
	s.box = Sandbox{
		Mechanism: m,
		Writable:  []string{s.work, "/dev/null"},
		Pinned:    at(".git"),
		Protected: at(".git/config", ".git/hooks", ".git/info", ".vscode", ".idea", ".envrc", ".mcp.json"),
		Hidden:    []string{filepath.Join(home, ".ssh"), filepath.Join(home, ".netrc"), filepath.Join(home, ".aws")},
		Temp:      "",
	}
	return s
}

// run runs a script in the workspace; it may fail.
func (s *scene) run(script string) Result {
	s.t.Helper()
	r, err := Run(s.t.Context(), Spec{Argv: []string{"sh", "-c", script}, Dir: s.work, Policy: Confined(s.box), Env: append(os.Environ(), "HOME="+s.home)})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// snapshot is what stands in the home, with modes and times.
func (s *scene) snapshot() string {
	s.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(s.home, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, _ := os.ReadFile(path)
		mod := info.ModTime().String()
		if d.IsDir() {
			mod = ""
		}
		fmt.Fprintf(&b, "%s %v %v %q\n", strings.TrimPrefix(path, s.home), info.Mode(), mod, text)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

// TestNothingOutsideChanges has scripts try to change what is not theirs: none may
// leave a trace, nor say that it succeeded.
func TestNothingOutsideChanges(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		for name, script := range map[string]string{
			"write beside":             "echo x >../other/file",
			"make beside":              "echo x >../other/new",
			"remove beside":            "rm ../other/file",
			"move beside":              "mv ../other/file ../other/g",
			"move out":                 "mv a.txt ../other/a.txt",
			"link and write":           "ln ../other/file l && echo x >l",
			"a build's environment":    "echo evil >>$HOME/.cargo/env",
			"cargo's settings":         "echo evil >$HOME/.cargo/config.toml",
			"through a symbolic link":  "ln -s ../other/file l; echo x >l; r=$?; rm l; exit $r",
			"the home":                 "echo x >$HOME/.profile",
			"git's settings":           "echo evil >>.git/config",
			"git's settings, replaced": "echo evil >.git/c && mv .git/c .git/config; r=$?; rm -f .git/c; exit $r",
			"a hook":                   "echo evil >.git/hooks/pre-commit",
			"a hook, changed":          "echo evil >.git/hooks/keep",
			"hooks, moved":             "mv .git/hooks .git/h; r=$?; mv .git/h .git/hooks 2>/dev/null; exit $r",
			"the editor's tasks":       "echo evil >.vscode/tasks.json",
			"the editor's tasks, gone": "rm -r .vscode",
			"mounts":                   "umount -l .vscode || mount -o remount,rw . || unshare -Urm true",
		} {
			t.Run(name, func(t *testing.T) {
				s := newScene(t, m)
				before := s.snapshot()
				r := s.run("{ " + script + "; } 2>/dev/null && echo DONE")
				if strings.Contains(r.Stdout.String(), "DONE") && len(r.PutBack) == 0 {
					t.Error("it says that it succeeded")
				}
				if m == Namespaces && len(r.PutBack) > 0 {
					t.Errorf("%v was changed before it was put back", r.PutBack)
				}
				if after := s.snapshot(); after != before {
					t.Errorf("before:\n%s\nafter:\n%s", before, after)
				}
			})
		}
	})
}

// TestWhatAProtectedPlaceWasComesBack has a program make what was not there, or
// take the whole place away.
func TestWhatAProtectedPlaceWasComesBack(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		for name, script := range map[string]string{
			"an editor's folder":    "mkdir -p .idea/x && echo evil >.idea/x/y",
			"an environment":        "echo evil >.envrc",
			"a link":                "ln -s /etc/passwd .mcp.json",
			"git's attributes":      "mkdir -p .git/info && echo '* filter=x' >.git/info/attributes",
			"git's own, moved away": "mv .git .g && mkdir -p .git/hooks && echo evil >.git/config; r=$?; exit $r",
		} {
			t.Run(name, func(t *testing.T) {
				s := newScene(t, m)
				s.box.Aside = filepath.Join(t.TempDir(), "aside")
				r := s.run(script)
				for _, p := range []string{".idea", ".envrc", ".mcp.json", ".git/info"} {
					if _, err := os.Lstat(filepath.Join(s.work, p)); err == nil {
						t.Errorf("%s is there", p)
					}
				}
				if text, _ := os.ReadFile(filepath.Join(s.work, ".git/config")); string(text) != "[core]\n" {
					t.Errorf("git's settings are %q", text)
				}
				if text, _ := os.ReadFile(filepath.Join(s.work, ".git/hooks/keep")); string(text) != "old\n" {
					t.Errorf("the hook is %q", text)
				}
				moved := strings.HasPrefix(name, "git's own")
				if moved && m == Namespaces {
					if r.OK() {
						t.Error("git's own directory was moved")
					}
					return
				}
				if len(r.PutBack) == 0 {
					t.Errorf("it is not said: %+v", r)
				}
				if kept, _ := os.ReadDir(s.box.Aside); len(kept) == 0 {
					t.Error("what was taken away is kept nowhere")
				}
			})
		}
	})
}

func TestSecretsAreUnreadable(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		s := newScene(t, m)
		for _, script := range []string{
			"cat $HOME/.ssh/id_rsa", "cat $HOME/.netrc", "cp $HOME/.netrc n && cat n", "ln -s $HOME/.ssh s; cat s/id_rsa", "cat /proc/self/root$HOME/.netrc",
			"ln $HOME/.netrc hard && cat hard", "tar cf - -C $HOME .ssh | tr -d '\\0'",
		} {
			if r := s.run(script); strings.Contains(r.Stdout.String(), "PRIVATE") {
				t.Errorf("%s: %s", script, r.Stdout)
			}
		}
		if r := s.run("cat a.txt ../other/file /etc/passwd"); !r.OK() {
			t.Errorf("what is no secret cannot be read: %s", r.Stderr)
		}
	})
}

// TestOtherProcessesAreOutOfReach has servers listen in every way, and a process
// to be looked into.
func TestOtherProcessesAreOutOfReach(t *testing.T) {
	needPython(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	name := fmt.Sprintf("@agent-lsp-test-%d", os.Getpid())
	abstract, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	victim := exec.Command("sleep", "300")
	victim.Env = []string{"KEY=PRIVATE"}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { victim.Process.Kill(); victim.Wait() }()
	mechanisms(t, func(t *testing.T, m Mechanism) {
		s := newScene(t, m)
		inHome, err := net.Listen("unix", filepath.Join(s.home, "sock"))
		if err != nil {
			t.Fatal(err)
		}
		defer inHome.Close()
		_, tcpPort, _ := net.SplitHostPort(tcp.Addr().String())
		_, udpPort, _ := net.SplitHostPort(udp.LocalAddr().String())
		for name, script := range map[string]string{
			"tcp":                    "s = socket.socket(); s.connect(('127.0.0.1', " + tcpPort + "))",
			"tcp by multipath":       "s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect(('127.0.0.1', " + tcpPort + "))",
			"a listener for all":     "s = socket.socket(); s.bind(('0.0.0.0', 0)); s.listen(); import urllib.request" + unlessNamespaces(m),
			"udp":                    "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', " + udpPort + "))" + unlessNamespaces(m),
			"an abstract socket":     "s = socket.socket(socket.AF_UNIX); s.connect('\\0" + name[1:] + "')",
			"a socket in a file":     "s = socket.socket(socket.AF_UNIX); s.connect('" + filepath.Join(s.home, "sock") + "')",
			"vsock":                  "s = socket.socket(40, socket.SOCK_STREAM)",
			"a raw socket":           "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
			"netlink":                "s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)",
			"a signal":               fmt.Sprintf("os.kill(%d, 9)", victim.Process.Pid),
			"a signal to the server": fmt.Sprintf("os.kill(%d, 0)", os.Getpid()),
			"an environment":         fmt.Sprintf("assert 'PRIVATE' in open('/proc/%d/environ').read()", victim.Process.Pid),
			"ptrace":                 fmt.Sprintf("ctypes.CDLL(None, use_errno=True).ptrace(16, %d, 0, 0) == 0 or sys.exit(1)", victim.Process.Pid),
			"a keyring":              fmt.Sprintf("ctypes.CDLL(None).syscall(%d, 0, -3, 0) > 0 or sys.exit(1)", unix.SYS_KEYCTL),
			"io_uring":               fmt.Sprintf("ctypes.CDLL(None).syscall(%d, 8, ctypes.create_string_buffer(120)) > 0 or sys.exit(1)", unix.SYS_IO_URING_SETUP),
			"a user namespace":       "ctypes.CDLL(None).unshare(0x10000000) == 0 or sys.exit(1)",
			"a cloned namespace":     fmt.Sprintf("r = ctypes.CDLL(None).syscall(%d, 0x10000011, 0, 0, 0, 0)\nif r == 0: os._exit(0)\nr > 0 or sys.exit(1)", unix.SYS_CLONE),
		} {
			t.Run(name, func(t *testing.T) {
				spec := Spec{Argv: []string{"python3", "-c", "import ctypes, os, socket, sys\n" + script + "\nprint('THROUGH')"}, Dir: s.work, Env: os.Environ(), Policy: anything}
				if !strings.HasPrefix(script, "os.kill") && !slices.Contains(privileged, name) && m == Landlock {
					if r, err := Run(t.Context(), spec); err != nil || !strings.Contains(r.Stdout.String(), "THROUGH") {
						t.Fatalf("the attack does not work unconfined either: %v %s", err, r.Stderr)
					}
				}
				spec.Policy = Confined(s.box)
				r, err := Run(t.Context(), spec)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(r.Stdout.String(), "THROUGH") {
					t.Errorf("it got through")
				}
			})
		}
	})
}

// privileged are attacks that an ordinary user, or not every system, can try
// unconfined.
var privileged = []string{"vsock", "a raw socket", "ptrace", "a user namespace", "a cloned namespace", "a keyring", "io_uring"}

// unlessNamespaces ends a script where what it tried is harmless: in a network
// namespace it reaches nobody.
func unlessNamespaces(m Mechanism) string {
	if m == Namespaces {
		return "; sys.exit(0)"
	}
	return ""
}

func needPython(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("python3", "-c", "import ctypes").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("python3 plays the attacker: %v %s", err, out)
		}
		t.Skipf("python3 plays the attacker: %v", err)
	}
}

// TestWhatASandboxStartsEndsWithIt has a program leave its session, and kill whom
// it can.
func TestWhatASandboxStartsEndsWithIt(t *testing.T) {
	needPython(t)
	mechanisms(t, func(t *testing.T, m Mechanism) {
		for name, script := range map[string]string{
			"in another session":         "exit",
			"after the supervisor's end": "kill -9 $PPID; exit",
			"after the end of all":       "trap '' TERM; kill -TERM -1; exit",
			"after its threads' end": fmt.Sprintf(`python3 -c "
import ctypes, os
for t in os.listdir('/proc/$PPID/task'):
    ctypes.CDLL(None).syscall(%d, $PPID, int(t), 9)
    ctypes.CDLL(None).syscall(%d, int(t), 9)"; exit`, unix.SYS_TGKILL, unix.SYS_TKILL),
		} {
			t.Run(name, func(t *testing.T) {
				s := newScene(t, m)
				l := newLifeline(t)
				if err := unix.Mkfifo(l.path+".go", 0o600); err != nil {
					t.Fatal(err)
				}
				s.box.Writable = append(s.box.Writable, filepath.Dir(l.path))
				done := make(chan Result, 1)
				go func() {
					done <- s.run(prologue(l) + `setsid sh -c 'trap "" TERM; printf x >&9; sleep 300; sleep 300' & wait_started 1; ` + script)
				}()
				f := l.started(1)
				if err := os.WriteFile(l.path+".go", []byte("go\n"), 0); err != nil {
					t.Fatal(err)
				}
				<-done
				l.ended(f)
			})
		}
	})
}

// TestTheServerCannotBeLookedInto is about programs outside of every sandbox. Root
// may look into everything, so the kernel's own word counts.
func TestTheServerCannotBeLookedInto(t *testing.T) {
	if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || n != 0 {
		t.Errorf("the server can be dumped: %d, %v", n, err)
	}
	r := sh(t, fmt.Sprintf("cat /proc/%d/environ >/dev/null", os.Getpid()))
	if os.Getuid() != 0 && r.OK() {
		t.Error("its environment can be read")
	}
}
