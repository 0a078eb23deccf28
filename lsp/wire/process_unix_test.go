//go:build unix

package wire_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
)

func TestExitCodesOfTheProcess(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*lsptest.Editor)
		code int
	}{
		{"exit after shutdown", func(e *lsptest.Editor) { e.Initialize(); e.Call("shutdown", nil); e.Notify("exit", nil) }, 0},
		{"shutdown with null params", func(e *lsptest.Editor) { e.Initialize(); e.Call("shutdown", "null"); e.Notify("exit", nil) }, 0},
		{"shutdown with an object", func(e *lsptest.Editor) { e.Initialize(); e.Call("shutdown", "{}"); e.Notify("exit", nil) }, 0},
		{"exit alone", func(e *lsptest.Editor) { e.Initialize(); e.Notify("exit", nil) }, 1},
		{"exit before initialize", func(e *lsptest.Editor) { e.Notify("exit", nil) }, 1},
		{"end of input", func(e *lsptest.Editor) { e.Initialize(); e.HangUp() }, 1},
		{"end of input after shutdown", func(e *lsptest.Editor) { e.Initialize(); e.Call("shutdown", nil); e.HangUp() }, 0},
		{"end of input inside of a frame", func(e *lsptest.Editor) {
			e.Initialize()
			e.SendRaw([]byte("Content-Length: 100\r\n\r\n{"))
			e.HangUp()
		}, 1},
		{"broken header after shutdown", func(e *lsptest.Editor) { e.Initialize(); e.Call("shutdown", nil); e.SendRaw([]byte("x\r\n")) }, 1},
		{"exit while a request runs", func(e *lsptest.Editor) { e.Initialize(); e.Go("test/block", nil); e.Barrier(); e.Notify("exit", nil) }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := lsptest.Start(t, process(), lsptest.Options{})
			defer e.Close()
			tt.do(e)
			if code := e.End(); code != tt.code {
				t.Errorf("exit code %d, want %d; %s", code, tt.code, e.Stderr())
			}
		})
	}
}

func TestAServerWhoseOutputNobodyReadsEnds(t *testing.T) {
	e := lsptest.Start(t, process(), lsptest.Options{})
	defer e.Close()
	e.Initialize()
	e.CloseOutput()
	e.Go("test/fill", nil)
	if code := e.ExitCode(); code != 1 { // its input is still open
		t.Errorf("exit code %d, want 1", code)
	}
	if !strings.Contains(e.Stderr(), "write to the client") {
		t.Errorf("standard error is %q", e.Stderr())
	}
}

func TestExitIsHeardWhileTheClientDoesNotRead(t *testing.T) {
	e := lsptest.Start(t, process(), lsptest.Options{})
	defer e.Close()
	e.Initialize()
	e.Go("test/fill", nil)
	e.WaitMethod("window/logMessage", 0)
	e.Pause()
	e.Notify("exit", nil)
	if code := e.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

func TestStrayOutputGoesToStandardError(t *testing.T) {
	e := lsptest.Start(t, process(), lsptest.Options{})
	defer e.Close()
	e.Initialize()
	if _, err := e.Call("test/print", nil); err != nil {
		t.Error(err)
	}
	if code := e.Shutdown(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(e.Stderr(), "a stray print") {
		t.Errorf("standard error is %q", e.Stderr())
	}
}

func TestServerEndsWithTheClientsProcess(t *testing.T) {
	client := exec.Command("cat")
	stdin, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stdin.Close(); client.Wait() }()
	e := lsptest.Start(t, process(), lsptest.Options{ProcessID: client.Process.Pid})
	defer e.Close()
	e.Initialize()
	e.Barrier()
	// The client stays a zombie: nobody has waited for it.
	if err := client.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := e.End(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if !strings.Contains(e.Stderr(), "process is gone") {
		t.Errorf("standard error is %q", e.Stderr())
	}
}

func TestAProcessOfAnotherMachineDoesNotEndTheServer(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	e := lsptest.Start(t, process(), lsptest.Options{ProcessID: gone.Process.Pid})
	defer e.Close()
	e.Initialize()
	if code := e.Shutdown(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestChildrenDieOfABrokenPipe(t *testing.T) {
	if os.Getenv("WIRE_TEST_CHILD") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChildrenDieOfABrokenPipe$")
		cmd.Env = append(os.Environ(), "WIRE_TEST_CHILD=1", "GORACE=atexit_sleep_ms=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if _, err := cmd.Output(); err != nil || !strings.Contains(stderr.String(), "status 141") {
			t.Errorf("%v, %q", err, stderr.String())
		}
		return
	}
	claimForTest()
	out, err := exec.Command("bash", "-c", `yes | head -1 >/dev/null; echo "status ${PIPESTATUS[0]}"`).Output()
	fmt.Fprint(os.Stderr, string(out), err)
}

func claimForTest() {
	if _, _, err := wire.ClaimStdio(); err != nil {
		panic(err)
	}
}
