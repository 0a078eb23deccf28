//go:build unix

package tools

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/proc"
)

func TestExecTellsHowItEnded(t *testing.T) {
	w := newWorld(t, map[string]string{"d/x": "", "script": "echo no\n"}, func(c *Config) {
		c.Exec.Env = append(os.Environ(), "MY_API_KEY=hidden", "PLAIN=hidden", "KEPT=shown", "NAMED=hidden")
		c.Exec.Keep = []string{"KEPT", "NAMED"}
		c.Exec.Secrets = []string{"NAMED"}
	})
	d := "d"
	for _, tt := range []struct {
		name  string
		op    Op
		state State
		text  string
	}{
		{"output", execOp("echo", "hi"), Completed, "exit code 0\nhi"},
		{"no output", execOp("true"), Completed, "exit code 0\n[no output]"},
		{"exit code", execOp("sh", "-c", "echo out; echo err >&2; exit 7"), Failed, "exit code 7\nout\n[stderr]\nerr"},
		{"signal", execOp("sh", "-c", "kill -SEGV $$"), Failed, "killed by SIGSEGV\n[no output]"},
		{"time", execOp("sh", "-c", "echo part; exec sleep 100"), Failed, "timed out: it did not end within 0.3s and was killed\npart"},
		{"left in the background", execOp("sh", "-c", "sleep 100 & echo hi"), Completed, "exit code 0; what it left running in the background was ended\nhi"},
		{"waited for", execOp("sh", "-c", "sleep 0 >/dev/null & wait; echo hi"), Completed, "exit code 0\nhi"},
		{"no shell", execOp("echo", "$HOME; *", "`x`"), Completed, "exit code 0\n$HOME; * `x`"},
		{"directory", Op{Exec: &abi.Exec{Argv: []string{"ls"}, Cwd: &d}}, Completed, "exit code 0\nx"},
		{"secrets", execOp("sh", "-c", `echo "$MY_API_KEY|$NAMED|$PLAIN|$KEPT"`), Completed, "exit code 0\n|||shown"},
		{"input", execOp("cat"), Completed, "exit code 0\n[no output]"},
		{"not executable", execOp("./script"), Failed, "./script may not be run: permission denied"},
		{"a directory", execOp("./d"), Failed, "./d was not found"},
		{"no program", execOp(), Failed, "no program is named: argv needs at least one argument"},
		{"NUL", execOp("echo", "a\x00b"), Failed, "an argument has a NUL byte in it"},
		{"controls", execOp("printf", `\033[31mred\033[0m\n\377\n1\r2\n`), Completed, "exit code 0\nred\n\ufffd\n2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.cfg.Exec.Timeout = time.Minute
			if tt.name == "time" {
				w.cfg.Exec.Timeout = 300 * time.Millisecond
			}
			got := w.run(tt.op)
			if got.State != tt.state || got.Text != tt.text {
				t.Errorf("got %s %q, want %s %q", got.State, got.Text, tt.state, tt.text)
			}
		})
	}
}

// TestWhatIsLeftRunningIsSaid, wherever its output goes.
func TestWhatIsLeftRunningIsSaid(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a program leaves has another parent here")
	}
	w := newWorld(t, nil)
	for name, script := range map[string]string{
		"its output here":         "sleep 100 & echo hi",
		"its output elsewhere":    "sleep 100 >/dev/null 2>&1 & echo hi",
		"nohup":                   "nohup sleep 100 >/dev/null 2>&1 & echo hi",
		"in a session of its own": "setsid sleep 100 >/dev/null 2>&1 & echo hi",
		"an orphan's orphan":      "(setsid sh -c 'sleep 100 & sleep 100' >/dev/null 2>&1 &) ; echo hi",
		"one that ignores ends":   "(trap '' TERM HUP; sleep 100) >/dev/null 2>&1 & echo hi",
	} {
		t.Run(name, func(t *testing.T) {
			const text = "exit code 0; what it left running in the background was ended\nhi"
			if got := w.run(execOp("sh", "-c", script)); got.State != Completed || got.Text != text {
				t.Errorf("got %s %q, want %q", got.State, got.Text, text)
			}
		})
	}
}

func TestHugeOutputIsBoundedAndValid(t *testing.T) {
	w := newWorld(t, nil, func(c *Config) { c.Exec.Output = 2000 })
	for name, script := range map[string]string{
		"zeros":          "head -c 20000000 /dev/zero; echo END",
		"one long line":  "head -c 5000000 /dev/zero | tr '\\0' x; echo END",
		"cut characters": "yes 'é€😀' | head -c 3000001; echo END",
		"invalid":        "head -c 1000000 /dev/zero | tr '\\0' '\\377'; echo END",
		"progress":       `i=0; while [ $i -lt 5000 ]; do printf '\033[2K\rstep %d' $i; i=$((i+1)); done; echo; echo END`,
	} {
		t.Run(name, func(t *testing.T) {
			got := w.run(execOp("sh", "-c", script))
			n := utf8.RuneCountInString(got.Text)
			if got.State != Completed || n > 2100 || !utf8.ValidString(got.Text) || !strings.HasSuffix(got.Text, "END") {
				t.Errorf("%s, %d characters, valid %t: …%q", got.State, n, utf8.ValidString(got.Text), got.Text[max(0, len(got.Text)-30):])
			}
			if name != "progress" && !strings.Contains(got.Text, " characters elided ...]") {
				t.Error("it does not say how much is left out")
			}
			if name == "progress" && got.Text != "exit code 0\nstep 4999\nEND" {
				t.Errorf("got %q", got.Text)
			}
		})
	}
}

func TestACancelledCommandEnds(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	w.run(readOp("f"))
	ctx, cancel := context.WithCancel(t.Context())
	ready := filepath.Join(w.dir, "ready")
	proc.Run(t.Context(), proc.Spec{Argv: []string{"mkfifo", ready}, Dir: w.dir, Policy: proc.Unconfined("a test's own program")})
	go func() {
		f, err := os.Open(ready) // until the command writes
		if err == nil {
			f.Close()
		}
		cancel()
	}()
	got := w.Run(ctx, execOp("sh", "-c", "echo b >f; echo part; : >ready; exec sleep 100"), "")
	want(t, got, Cancelled, "cancelled: it was killed\npart", "[changed files: f]")
}

func TestChangedFilesAreNamed(t *testing.T) {
	needs(t, "git")
	w := newWorld(t, map[string]string{"read.txt": "a\n", "touched.txt": "a\n", "tracked.txt": "a\n", "dirty.txt": "a\n", "gone.txt": "a\n", "sub/deep.txt": "a\n", ".gitignore": "ignored\n"})
	initRepo(t, w)
	w.put("dirty.txt", "b\n")
	w.run(readOp("read.txt"))
	w.run(readOp("touched.txt"))
	got := w.run(execOp("sh", "-c", `
		echo b >read.txt; touch touched.txt; echo b >tracked.txt; echo c >>dirty.txt; rm gone.txt
		echo n >"new file.txt"; echo n >ignored; chmod +x sub/deep.txt`))
	want(t, got, Completed, "[changed files: dirty.txt, gone.txt, new file.txt, read.txt, sub/deep.txt, tracked.txt]")
	want(t, w.run(execOp("true")), Completed, "exit code 0\n[no output]")
	if got := w.run(execOp("true")); len(got.Touched) > 0 {
		t.Errorf("nothing changed, but %v is named", got.Touched)
	}
	// What git makes of a file does not change it; taking it back does.
	for _, argv := range [][]string{{"add", "."}, {"commit", "-q", "-m", "second"}, {"reset", "-q", "HEAD~1"}, {"add", "."}} {
		if got := w.run(gitOp(argv...)); got.State != Completed || argv[0] != "reset" && len(got.Touched) > 0 {
			t.Errorf("git %v: %+v", argv, got)
		}
	}
	want(t, w.run(gitOp("reset", "-q", "--hard")), Completed, "[changed files: dirty.txt, gone.txt, new file.txt, read.txt, sub/deep.txt, tracked.txt]")
	// A root below the top of the work tree names its own files.
	d, err := NewDisk(filepath.Join(w.dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	sub, err := New(Config{Workspace: d})
	if err != nil {
		t.Fatal(err)
	}
	want(t, sub.Run(t.Context(), execOp("sh", "-c", "echo x >deep.txt; echo x >../tracked.txt"), ""), Completed, "[changed files: deep.txt]")
}

func TestConfinedCommandsWriteInsideOnly(t *testing.T) {
	if s := proc.SandboxSupport(); s.Mechanism == proc.NoMechanism {
		t.Skip(s)
	}
	needs(t, "git")
	outside := unwritable(t)
	w := newWorld(t, map[string]string{"f": "a\n"}, func(c *Config) { c.Exec.Sandbox = &proc.Sandbox{Writable: proc.Scratch()} })
	initRepo(t, w)
	want(t, w.run(execOp("sh", "-c", "echo b >f && echo c >g && echo x >/dev/null && echo t >$(mktemp) && echo fine")), Completed, "fine", "[changed files: f, g]")
	want(t, w.run(execOp("sh", "-c", "echo x >"+outside+"/x")), Failed, "cannot create")
	want(t, w.run(gitOp("add", ".")), Completed)
	want(t, w.run(gitOp("commit", "-m", "x")), Completed)
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("outside are %v", left)
	}
}

// unwritable is a directory that confined commands may not write to: neither
// temporary nor a cache, wherever the tests were checked out.
func unwritable(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{".", home, "/"} {
		abs, err := filepath.Abs(parent)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(proc.Scratch(), func(dir string) bool { return within(dir, abs) }) {
			continue
		}
		dir, err := os.MkdirTemp(abs, "agent-lsp-outside-") //nolint:usetesting // what lies below the temporary directory may be written //nolint:usetesting // what lies below the temporary directory may be written
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	t.Fatal("no directory here is out of reach of confined commands")
	return ""
}

func TestNothingRunsInAnUntrustedWorkspace(t *testing.T) {
	needs(t, "git")
	w := newWorld(t, map[string]string{"f": "a\n"}, func(c *Config) { c.Policy = Policy{Mode: ModeAll, Untrusted: true} })
	initRepo(t, w)
	for _, op := range []Op{execOp("touch", "x"), gitOp("commit", "-m", "x"), gitOp("checkout", "-b", "x")} {
		want(t, w.run(op), Failed, "not trusted")
		if d := w.Decide(t.Context(), op); d.Verdict != Deny || !strings.Contains(d.Reason, "not trusted") {
			t.Errorf("the decision is %+v", d)
		}
	}
	want(t, w.run(gitOp("log", "--oneline")), Completed, "first")
	// The repository's own settings may name programs.
	marker := filepath.Join(w.dir, "ran")
	for _, setting := range [][2]string{
		{"core.fsmonitor", "touch " + marker},
		{"core.pager", "touch " + marker},
		{"filter.x.clean", "touch " + marker},
		{"diff.external", "touch " + marker},
		{"diff.x.textconv", "touch " + marker},
		{"alias.log", "!touch " + marker},
		{"core.sshCommand", "touch " + marker},
		{"core.hooksPath", "hooks"},
	} {
		t.Run(setting[0], func(t *testing.T) {
			w.put(".gitattributes", "* filter=x diff=x\n")
			w.put("hooks/post-index-change", "#!/bin/sh\ntouch "+marker+"\n")
			os.Chmod(filepath.Join(w.dir, "hooks/post-index-change"), 0o755)
			git(t, w, "config", setting[0], setting[1])
			defer git(t, w, "config", "--unset", setting[0])
			for i, op := range []Op{gitOp("status"), gitOp("diff"), gitOp("log", "-p"), gitOp("show")} {
				w.put("f", strings.Repeat("b\n", i+2))
				w.run(op)
			}
			if w.get("ran") != "<none>" {
				t.Error("a program of the repository ran")
				os.Remove(marker)
			}
		})
	}
}
