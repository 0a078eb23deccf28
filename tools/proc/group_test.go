//go:build unix

package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds waiting for what must happen; only a failing test waits it out.
const patience = 20 * time.Second

// lifeline is a named pipe that processes keep open: reading comes to its end
// when the last of them has ended.
type lifeline struct {
	t    *testing.T
	path string
	open chan *os.File
}

func newLifeline(t *testing.T) *lifeline {
	t.Helper()
	l := &lifeline{t: t, path: filepath.Join(t.TempDir(), "alive"), open: make(chan *os.File, 1)}
	if err := unix.Mkfifo(l.path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.Open(l.path) // waits for the first to write
		if err != nil {
			close(l.open)
			return
		}
		l.open <- f
	}()
	return l
}

// started waits until as many processes said that they live, a byte each.
func (l *lifeline) started(n int) *os.File {
	l.t.Helper()
	select {
	case f, ok := <-l.open:
		if !ok {
			l.t.Fatal("the named pipe cannot be opened")
		}
		if err := f.SetReadDeadline(time.Now().Add(patience)); err != nil {
			l.t.Fatal(err)
		}
		if _, err := io.ReadFull(f, make([]byte, n)); err != nil {
			l.t.Fatalf("the processes do not start: %v", err)
		}
		return f
	case <-time.After(patience):
		l.t.Fatal("no process starts")
		return nil
	}
}

// ended fails the test while a process lives.
func (l *lifeline) ended(f *os.File) {
	l.t.Helper()
	defer f.Close()
	_, err := io.Copy(io.Discard, f)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		l.t.Error("a process is left")
	} else if err != nil {
		l.t.Error(err)
	}
}

// families are scripts that leave processes behind. Each holds fd 9 open, the
// lifeline, and wrote a byte to it for each process before anything else happens.
var families = map[string]struct {
	script    string
	processes int
	escapes   bool // beyond the reach of systems without orphan adoption
}{
	"child in the background":    {`(printf x >&9; exec sleep 300) & wait_started 1`, 1, false},
	"child that ignores the end": {`(trap '' TERM HUP INT; printf x >&9; sleep 300; sleep 300) & wait_started 1`, 1, false},
	"orphan in another session":  {`setsid sh -c 'printf x >&9; exec sleep 300' & wait_started 1`, 1, true},
	"orphan's orphan":            {`setsid sh -c 'setsid sh -c "printf x >&9; exec sleep 300" & exit' & wait_started 1`, 1, true},
	"orphan without the pipes":   {`setsid sh -c 'printf x >&9; exec sleep 300' >/dev/null 2>&1 & wait_started 1`, 1, true},
}

// prologue opens the lifeline and defines wait_started, which waits until the
// test has seen the processes start: it reads a line from the named pipe "go".
func prologue(l *lifeline) string {
	return `exec 9>` + l.path + `; wait_started() { read line <` + l.path + `.go; }; `
}

func TestNothingIsLeftRunning(t *testing.T) {
	for name, f := range families {
		for _, end := range []string{"exits", "times out", "is cancelled"} {
			t.Run(name+" when it "+end, func(t *testing.T) {
				t.Parallel()
				if f.escapes && runtime.GOOS != "linux" {
					t.Skip("what leaves its group escapes here")
				}
				if strings.Contains(f.script, "setsid") {
					if _, err := exec.LookPath("setsid"); err != nil {
						t.Skip("setsid is not installed")
					}
				}
				l := newLifeline(t)
				if err := unix.Mkfifo(l.path+".go", 0o600); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				spec := Spec{Policy: anything, Dir: t.TempDir(), Grace: 50 * time.Millisecond}
				script := prologue(l) + f.script + "; echo hi"
				switch end {
				case "times out":
					spec.Timeout = 300 * time.Millisecond
					script += "; trap '' TERM; wait; sleep 300"
				case "is cancelled":
					script += "; sleep 300"
				}
				spec.Argv = []string{"sh", "-c", script}
				alive := make(chan *os.File, 1)
				go func() {
					file := l.started(f.processes)
					if err := os.WriteFile(l.path+".go", []byte("go\n"), 0); err != nil {
						t.Error(err)
					}
					if end == "is cancelled" {
						cancel()
					}
					alive <- file
				}()
				r, err := Run(ctx, spec)
				if err != nil {
					t.Fatal(err)
				}
				if end == "exits" && (r.Code != 0 || r.Stdout.String() != "hi\n") {
					t.Errorf("got code %d and %q, want 0 and hi", r.Code, r.Stdout)
				}
				if r.TimedOut != (end == "times out") || r.Cancelled != (end == "is cancelled") {
					t.Errorf("the result is %+v", r)
				}
				l.ended(<-alive)
			})
		}
	}
}

func TestAForkingCrowdEndsWithItsCommand(t *testing.T) {
	l := newLifeline(t)
	r := sh(t, `exec 9>`+l.path+`; printf x >&9; trap '' TERM; i=0; while [ $i -lt 300 ]; do sleep 300 & i=$((i+1)); done; wait`, timeout(500*time.Millisecond))
	if !r.TimedOut {
		t.Errorf("the result is %+v", r)
	}
	l.ended(l.started(1))
}

// TestWhatIsStartedAfterTheTimeIsUpEndsToo has a program answer the request to end
// by starting more and more, in its group and out of it.
func TestWhatIsStartedAfterTheTimeIsUpEndsToo(t *testing.T) {
	escape := ""
	if runtime.GOOS == "linux" {
		if _, err := exec.LookPath("setsid"); err == nil {
			escape = "setsid "
		}
	}
	for _, end := range []string{"times out", "is cancelled"} {
		t.Run("when it "+end, func(t *testing.T) {
			t.Parallel()
			l := newLifeline(t)
			if err := unix.Mkfifo(l.path+".asked", 0o600); err != nil {
				t.Fatal(err)
			}
			asked, err := os.OpenFile(l.path+".asked", os.O_RDWR, 0) // which does not wait for a writer
			if err != nil {
				t.Fatal(err)
			}
			defer asked.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			spec := Spec{Policy: anything, Dir: t.TempDir(), Grace: time.Second}
			spec.Argv = []string{"sh", "-c", `exec 9>` + l.path + `; trap 'printf x >` + l.path + `.asked; while :; do ` + escape + `sleep 300 & sleep 300 & sleep 0.01; done' TERM; printf x >&9; sleep 300 & while :; do wait; done`}
			if end == "times out" {
				spec.Timeout = 500 * time.Millisecond
			}
			alive := make(chan *os.File, 1)
			go func() {
				file := l.started(1)
				if end == "is cancelled" {
					cancel()
				}
				alive <- file
			}()
			r, err := Run(ctx, spec)
			if err != nil || r.TimedOut != (end == "times out") || r.Cancelled != (end == "is cancelled") {
				t.Errorf("the result is %+v, %v", r, err)
			}
			if err := asked.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			if _, err := asked.Read(make([]byte, 1)); err != nil {
				t.Errorf("it was not asked to end: %v", err)
			}
			l.ended(<-alive)
		})
	}
}

// TestAWriterThatCannotBeEndedIsNotWaitedFor has this process, which no command
// started, hold a command's output open.
func TestAWriterThatCannotBeEndedIsNotWaitedFor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("another process's files can be opened on Linux")
	}
	dir := t.TempDir()
	for _, pipe := range []string{"pid", "go"} {
		if err := unix.Mkfifo(filepath.Join(dir, pipe), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan Result, 1)
	go func() {
		r, err := Run(t.Context(), Spec{Policy: anything, Argv: []string{"sh", "-c", "echo part; echo $$ >pid; read line <go; echo bye"}, Dir: dir})
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	hold, err := os.OpenFile("/proc/"+strings.TrimSpace(string(pid))+"/fd/1", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-done:
		if r.Code != 0 || r.LeftRunning || r.Stdout.String() != "part\nbye\n" {
			t.Errorf("the result is %+v", r)
		}
	case <-time.After(patience):
		t.Error("the command's end is waited for as long as somebody holds its output")
	}
}

func TestAKilledServerLeavesNoProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what leaves its group escapes here")
	}
	for _, mode := range []string{"supervised", "direct"} {
		t.Run(mode, func(t *testing.T) {
			l := newLifeline(t)
			script := `exec 9>` + l.path + `; printf x >&9; exec sleep 300`
			n := 1
			if mode == "supervised" {
				script = `exec 9>` + l.path + `; (trap '' TERM HUP; printf x >&9; sleep 300; sleep 300) & setsid sh -c 'printf x >&9; exec sleep 300' & trap '' TERM; printf x >&9; wait; sleep 300`
				n = 3
			}
			server := exec.Command(os.Args[0])
			server.Env = append(os.Environ(), serverScript+"="+script)
			if mode == "direct" {
				server.Env = append(server.Env, "PROC_TEST_DIRECT=1")
			}
			server.Dir = t.TempDir()
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			f := l.started(n)
			if err := server.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = server.Wait()
			l.ended(f)
		})
	}
}

func TestRunsLeaveNoGoroutinesOrFiles(t *testing.T) {
	files := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no list of open files")
		}
		return len(d)
	}
	sh(t, "true")
	goroutines, open := runtime.NumGoroutine(), files()
	for range 6 {
		sh(t, "sleep 100 & echo hi", timeout(0))
		sh(t, "sleep 100", timeout(10*time.Millisecond), func(s *Spec) { s.Grace = -1 })
	}
	if n := runtime.NumGoroutine(); n > goroutines+5 {
		t.Errorf("%d goroutines are left", n-goroutines)
	}
	if n := files(); n > open+5 {
		t.Errorf("%d files are left open", n-open)
	}
}

func TestManyRunsAtOnceKeepTheirOutputsApart(t *testing.T) {
	const runs = 16
	done := make(chan error, runs)
	for i := range runs {
		word := strings.Repeat(string(rune('a'+i)), 1000)
		go func() {
			r, err := Run(context.Background(), Spec{Policy: anything, Argv: []string{"sh", "-c", "echo " + word}, Dir: os.TempDir()})
			if err == nil && r.Stdout.String() != word+"\n" {
				err = errors.New("another run's output: " + r.Stdout.String())
			}
			done <- err
		}()
	}
	for range runs {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkTrue(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Skip("no program true")
	}
	b.Run("os-exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command(path).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, m := range []Mechanism{Namespaces, Landlock} {
		b.Run(string(m), func(b *testing.B) {
			if m == Namespaces && SandboxSupport().Mechanism != m || SandboxSupport().Mechanism == NoMechanism {
				b.Skip("not on this system")
			}
			dir := b.TempDir()
			policy := Confined(Sandbox{Mechanism: m, Writable: []string{dir}})
			for b.Loop() {
				r, err := Run(b.Context(), Spec{Policy: policy, Argv: []string{path}, Dir: dir})
				if err != nil || !r.OK() {
					b.Fatal(r, err)
				}
			}
		})
	}
	for _, mode := range []string{"supervised", "direct"} {
		b.Run(mode, func(b *testing.B) {
			was := mainCalled.Load()
			mainCalled.Store(mode == "supervised")
			defer mainCalled.Store(was)
			dir := b.TempDir()
			for b.Loop() {
				r, err := Run(b.Context(), Spec{Policy: anything, Argv: []string{path}, Dir: dir})
				if err != nil || !r.OK() {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// TestAProgramThatLeftNothingIsNotSaidToHave gives the end of a program no time at
// all, as a busy machine does.
func TestAProgramThatLeftNothingIsNotSaidToHave(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what leaves its group escapes here")
	}
	was := drain
	drain = 0
	defer func() { drain = was }()
	for script, left := range map[string]bool{"echo x": false, "sleep 600 &": true, "setsid sleep 600 >/dev/null 2>&1 &": true, "sleep 0 & wait": false} {
		for range 5 {
			r, err := Run(t.Context(), Spec{Policy: anything, Argv: []string{"sh", "-c", script}, Dir: t.TempDir()})
			if err != nil || r.LeftRunning != left {
				t.Errorf("%s: left running %v, %v, want %v", script, r.LeftRunning, err, left)
			}
		}
	}
}
