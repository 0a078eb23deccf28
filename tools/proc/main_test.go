package proc

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// anything is the policy of the tests' programs that no sandbox is about.
var anything = Unconfined("a test's own program")

// serverScript names a variable that makes the test binary play the server: it
// runs the script in it and ends.
const serverScript = "PROC_TEST_SCRIPT"

func TestMain(m *testing.M) {
	if os.Getenv("PROC_TEST_DIRECT") == "" {
		Main()
	}
	if script := os.Getenv(serverScript); script != "" {
		dir, _ := os.Getwd()
		_, err := Run(context.Background(), Spec{Policy: anything, Argv: []string{"sh", "-c", script}, Dir: dir})
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if what := os.Getenv(reachScript); what != "" {
		if err := reach(what); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// reachScript names a variable that makes the test binary reach for something
// outside of itself.
const reachScript = "PROC_TEST_REACH"

func reach(what string) error {
	how, whom, _ := strings.Cut(what, " ")
	switch how {
	case "connect":
		c, err := net.Dial("tcp", whom)
		if err == nil {
			err = c.Close()
		}
		return err
	case "listen":
		var c net.ListenConfig
		c.SetMultipathTCP(false) // of which Landlock knows nothing
		l, err := c.Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err == nil {
			err = l.Close()
		}
		return err
	case "abstract":
		c, err := net.Dial("unix", whom)
		if err == nil {
			err = c.Close()
		}
		return err
	}
	pid, err := strconv.Atoi(whom)
	if err != nil {
		return err
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Signal(syscall.Signal(0))
}
