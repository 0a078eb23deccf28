package proc

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAttributesOutsideStay is about modes, owners, times and extended attributes, which
// Landlock leaves to everybody.
func TestAttributesOutsideStay(t *testing.T) {
	needPython(t)
	mechanisms(t, func(t *testing.T, m Mechanism) {
		python := func(script string) string { return "python3 -c \"import os\n" + script + "\"" }
		for name, script := range map[string]string{
			"mode":                     "chmod 777 ../other/file",
			"mode of a directory":      "chmod 700 ../other",
			"mode by an absolute path": "chmod 777 $HOME/other/file",
			"mode through a link":      "ln -s ../other/file l; chmod 777 l; r=$?; rm l; exit $r",
			"mode through a directory": "ln -s ../other d; chmod 777 d/file; r=$?; rm d; exit $r",
			"mode by a descriptor":     python("os.fchmod(os.open('../other/file', os.O_RDONLY), 0o777)"),
			"mode in a directory":      python("os.chmod('file', 0o777, dir_fd=os.open('../other', os.O_RDONLY))"),
			"mode by /proc":            python("f = os.open('../other/file', os.O_RDONLY)\nos.chmod('/proc/self/fd/%d' % f, 0o777)"),
			"mode from elsewhere":      "cd ../other && chmod 777 file",
			"times":                    "touch -d 2001-01-01 ../other/file",
			"times of now":             "touch ../other/file",
			"times by a descriptor":    python("os.utime(os.open('../other/file', os.O_RDONLY), (1, 1))"),
			"owner":                    "chown $(id -u) ../other/file",
			"owner of a link":          "chown -h $(id -u) ../other/file",
			"extended":                 python("os.setxattr('../other/file', 'user.x', b'1')"),
			"extended, by descriptor":  python("os.setxattr(os.open('../other/file', os.O_RDONLY), 'user.x', b'1')"),
			"flags":                    "chattr +d ../other/file",
		} {
			t.Run(name, func(t *testing.T) {
				s := newScene(t, m)
				before := s.snapshot()
				if r := s.run(script); r.OK() || s.snapshot() != before {
					t.Errorf("%+v\n%s\n%s", r, before, s.snapshot())
				}
			})
		}
	})
}

// TestAttributesInsideChange has programs do what builds do.
func TestAttributesInsideChange(t *testing.T) {
	needPython(t)
	mechanisms(t, func(t *testing.T, m Mechanism) {
		for script, want := range map[string]string{
			"chmod 700 a.txt; stat -c %a a.txt":                                                                                                        "700",
			"chmod 711 sub; stat -c %a sub":                                                                                                            "711",
			"chmod 700 $PWD/sub/b.txt; stat -c %a sub/b.txt":                                                                                           "700",
			"cd sub; chmod 700 ../a.txt; stat -c %a ../a.txt":                                                                                          "700",
			"ln -s a.txt l; chmod 700 l; stat -c %a a.txt":                                                                                             "700",
			"ln -s a.txt l; touch -h -d @5 l; stat -c %Y l; stat -c %Y a.txt | grep -vx 5 >&2":                                                         "5",
			"touch -d @5 a.txt; stat -c %Y a.txt":                                                                                                      "5",
			"touch -d @5.25 a.txt; stat -c %.Y a.txt | cut -c -4":                                                                                      "5.25",
			"touch -d @5 a.txt; touch a.txt; test $(stat -c %Y a.txt) -gt 5 && echo now":                                                               "now",
			"chown $(id -u):$(id -g) a.txt && echo same":                                                                                               "same",
			"touch -d @5 a.txt; chmod 700 a.txt; cp -p a.txt c; stat -c '%a %Y' c":                                                                     "700 5",
			"chmod 700 a.txt; tar cf t a.txt; rm a.txt; tar xf t; stat -c %a a.txt":                                                                    "700",
			"install -m 750 a.txt i; stat -c %a i":                                                                                                     "750",
			"python3 -c \"import os; os.fchmod(os.open('a.txt', os.O_RDONLY), 0o700)\"; stat -c %a a.txt":                                              "700",
			"python3 -c \"import os; os.utime(os.open('a.txt', os.O_RDONLY), (5, 5))\"; stat -c %Y a.txt":                                              "5",
			"python3 -c \"import os; os.chmod('b.txt', 0o700, dir_fd=os.open('sub', os.O_RDONLY))\"; stat -c %a sub/b.txt":                             "700",
			"python3 -c \"import os; f = os.open('a.txt', os.O_RDWR); os.unlink('a.txt'); os.fchmod(f, 0o700); print(oct(os.fstat(f).st_mode)[-3:])\"": "700",
			"python3 -c \"import os; f = os.memfd_create('x'); os.fchmod(f, 0o700); print(oct(os.fstat(f).st_mode)[-3:])\"":                            "700",
			"chmod 700 none || echo $?":                                                                                                                "1",
			"chmod 700 '' || echo $?":                                                                                                                  "1",
		} {
			t.Run(script, func(t *testing.T) {
				s := newScene(t, m)
				if r := s.run(script); strings.TrimSpace(r.Stdout.String()) != want {
					t.Errorf("%s%s, want %s", r.Stdout, r.Stderr, want)
				}
			})
		}
	})
}

// TestTerminalsOfOthersAreNotWritten has a terminal that a person may sit at.
func TestTerminalsOfOthersAreNotWritten(t *testing.T) {
	mechanisms(t, func(t *testing.T, m Mechanism) {
		master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		slave := terminalOf(t, master)
		s := newScene(t, m)
		s.box.Writable = append(s.box.Writable, Scratch()...)
		for _, to := range []string{slave, "/dev/tty", "/dev/console"} {
			if r := s.run("echo x >" + to); r.OK() {
				t.Errorf("%s was written", to)
			}
		}
		if r := s.run("echo x >/dev/null"); !r.OK() {
			t.Errorf("/dev/null: %s", r.Stderr)
		}
	})
}

// terminalOf unlocks a terminal and returns its other end's name.
func terminalOf(t *testing.T, master *os.File) string {
	t.Helper()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return "/dev/pts/" + strconv.Itoa(n)
}
