package main

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
)

// TestAHugePromptIsRefusedAndTheServerGoesOn sends 24 MiB over stdio, and then the
// most that is taken.
func TestAHugePromptIsRefusedAndTheServerGoesOn(t *testing.T) {
	e := lsptest.Start(t, program(t), lsptest.Options{
		Folders: []string{t.TempDir()}, InitializationOptions: scripted(t, "  - text: Hello.\n  - text: That was long.\n", nil),
	})
	e.Initialize()
	_, rerr := e.Command("agent.prompt", map[string]any{"text": strings.Repeat("x", 24<<20), "wait": true})
	if rerr == nil || rerr.Code != -32602 || !strings.Contains(rerr.Message, "text: ") || !strings.Contains(rerr.Message, "25165824 bytes; at most 4194304") {
		t.Errorf("24 MiB were answered with %v", rerr)
	}
	if text := prompted(t, e, "hello"); text != "Hello." {
		t.Errorf("the next prompt ended with %q", text)
	}
	if text := prompted(t, e, strings.Repeat("x", 4<<20)); text != "That was long." {
		t.Errorf("the longest prompt ended with %q", text)
	}
	if code := e.Shutdown(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
