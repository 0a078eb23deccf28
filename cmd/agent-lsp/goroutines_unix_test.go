//go:build unix

package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
)

// listOnSignal lists the goroutines whenever SIGUSR1 comes.
func listOnSignal() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			listGoroutines(os.Stderr)
		}
	}()
}

// goroutinesOf asks a server for its goroutines.
func goroutinesOf(t *testing.T, e *lsptest.Editor) goroutines {
	t.Helper()
	n := len(lists(e.Stderr()))
	if err := syscall.Kill(e.PID(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	e.WaitStderr("another list of goroutines", func(s string) bool { return strings.Count(s, listEnds) > n })
	all := lists(e.Stderr())
	return all[len(all)-1]
}
