package checker_test

import (
	"os"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// anything is the policy of the tests' commands.
var anything = proc.Unconfined("a test's own command")

func TestMain(m *testing.M) {
	proc.Main() // the binary of the tests is also the supervisor of its commands
	os.Exit(m.Run())
}
