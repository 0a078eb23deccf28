//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestASupervisorIsUsedAgainAndReplacedWhenItIsGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("finds the supervisor by its child")
	}
	parent := func() string { return strings.TrimSpace(sh(t, "echo $PPID").Stdout.String()) }
	first := parent()
	for tries := 0; ; tries++ { // a slow machine lets one expire between two programs
		second := parent()
		if second == first {
			break
		}
		if first = second; tries == 10 {
			t.Fatal("no supervisor is used again")
		}
	}
	var pid int
	if _, err := fmt.Sscan(first, &pid); err != nil {
		t.Fatal(err)
	}
	idle.Lock()
	var dead *link
	for _, l := range idle.list {
		if l.cmd != nil && l.cmd.Process.Pid == pid {
			dead = l
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Error(err)
			}
			_ = l.cmd.Wait()
		}
	}
	idle.Unlock()
	if next := parent(); next == first {
		t.Error("a dead supervisor ran a program")
	}
	// One that is not used ends, unless it was used meanwhile.
	idle.Lock()
	kept := slices.Clone(idle.list)
	idle.Unlock()
	for _, l := range kept {
		if l == dead {
			t.Error("a dead supervisor is kept")
		}
		l.expire(l.uses - 1)
		l.expire(l.uses)
	}
	idle.Lock()
	defer idle.Unlock()
	for _, l := range kept {
		if slices.Contains(idle.list, l) {
			t.Error("a supervisor is kept for ever")
		}
	}
}

func TestAProgramDiesWithItsSupervisor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs the parent's death signal")
	}
	l := newLifeline(t)
	r, err := Run(t.Context(), Spec{Policy: anything, Argv: []string{"sh", "-c", `exec 9>` + l.path + `; printf x >&9; kill -9 $PPID; exec sleep 300`}, Dir: t.TempDir()})
	// The supervisor may end before it can report that the program runs.
	if err == nil && (r.Code != -1 || r.Signal != "SIGKILL") {
		t.Errorf("the result is %+v", r)
	}
	l.ended(l.started(1))
	if r := sh(t, "echo fine"); r.Stdout.String() != "fine\n" {
		t.Errorf("the next program: %+v", r)
	}
}

func TestAStartErrorLeavesTheSupervisorFit(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/garbage", []byte("\x7fELF garbage"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if r, err := Run(t.Context(), Spec{Policy: anything, Argv: []string{"./garbage"}, Dir: dir}); err == nil {
			t.Fatalf("garbage ran: %+v", r)
		} else if !errors.Is(err, unix.ENOEXEC) {
			t.Errorf("the error is %v", err)
		}
	}
	if r := sh(t, "echo fine"); r.Stdout.String() != "fine\n" {
		t.Errorf("the next program: %+v", r)
	}
}
