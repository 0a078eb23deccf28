package session

import (
	"os"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// TestMain lets the test binary be the child that package proc starts.
func TestMain(m *testing.M) {
	proc.Main()
	os.Exit(m.Run())
}
