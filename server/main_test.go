package server

import (
	"os"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/caches"
	"github.com/agent-lsp/agent-lsp/tools/proc"
)

func TestMain(m *testing.M) {
	caches.Main()
	proc.Main() // the binary of the tests also confines the programs that it starts
	os.Exit(m.Run())
}
