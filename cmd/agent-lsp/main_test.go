package main

import (
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	lsptest.MaybeBaseline()
	proc.Main() // the binary of the tests is also the supervisor of its commands
	testscript.Main(m, map[string]func(){"agent-lsp": observed})
}

func TestScripts(t *testing.T) { testscript.Run(t, lsptest.Params("testdata/script")) }
