//go:build !unix

package main

import (
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
)

func listOnSignal() {}

// goroutinesOf answers none: there is no signal to ask by.
func goroutinesOf(*testing.T, *lsptest.Editor) goroutines { return nil }
