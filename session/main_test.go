package session

import (
	"os"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// TestMain lets the test binary be the helper process of package proc.
func TestMain(m *testing.M) {
	proc.Main()
	os.Exit(m.Run())
}
