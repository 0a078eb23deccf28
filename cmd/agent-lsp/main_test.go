package main

import (
	"fmt"
	"maps"
	"os/exec"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/tools/caches"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	lsptest.MaybeBaseline()
	proc.Main() // the binary of the tests is also the supervisor of its commands
	caches.Main()
	programs := map[string]func(){"agent-lsp": observed}
	maps.Copy(programs, helpers)
	testscript.Main(m, programs)
}

func TestScripts(t *testing.T) {
	p := lsptest.Params("testdata/script")
	p.Condition = func(name string) (bool, error) {
		if name != "island" {
			return false, fmt.Errorf("unknown condition %q", name)
		}
		return exec.Command("island", "true").Run() == nil, nil
	}
	testscript.Run(t, p)
}
