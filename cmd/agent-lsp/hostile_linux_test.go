package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
)

// TestOutputWithoutEndLeavesTheServerSmall has commands print 128 MiB, and with
// AGENT_LSP_TEST_SLOW 1 GiB, on either stream, in lines and in none. The server's
// memory at its peak stays what it was.
func TestOutputWithoutEndLeavesTheServerSmall(t *testing.T) {
	size := 128 << 20
	if os.Getenv("AGENT_LSP_TEST_SLOW") != "" {
		size = 1 << 30
	}
	flood := func(script string) string {
		return fmt.Sprintf("{exec: {argv: [sh, -c, %q]}}", script)
	}
	small := flood("head -c 2000000 /dev/zero; yes 'é€😀' | head -c 2000000 >&2; echo END >&2")
	e := lsptest.Start(t, program(t), lsptest.Options{
		Folders: []string{t.TempDir()}, Transcript: true, Timeout: 5 * time.Minute,
		InitializationOptions: scripted(t, strings.Join([]string{
			"  - {when: \"1/1\", calls: [" + small + "]}",
			"  - {when: \"1/2\", text: warm}",
			"  - when: \"2/1\"",
			"    calls:",
			"      - " + flood(fmt.Sprintf("head -c %d /dev/zero; echo END", size)),
			"      - " + flood(fmt.Sprintf("yes 'é€😀' | head -c %d >&2; echo END >&2", size)),
			"  - {when: \"2/2\", text: flooded}", "",
		}, "\n"), map[string]any{"approvals": "all", "exec": map[string]any{"timeout": "10m", "output": 2000}}),
	})
	e.Initialize()
	prompted(t, e, "warm up")
	_, before, err := e.Memory()
	if err != nil {
		t.Fatal(err)
	}
	prompted(t, e, "flood")
	_, after, err := e.Memory()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("at its peak the server had %d KiB before and %d KiB after", before>>10, after>>10)
	if grown := after - before; grown > 16<<20 {
		t.Errorf("%d bytes of output made the server grow by %d bytes", 2*size, grown)
	}
	got := results(t, e)
	if len(got) != 3 {
		t.Fatalf("results: %q", got)
	}
	for i, want := range []string{"exit code 0\n\ufffd", "exit code 0\n\ufffd", "exit code 0\n[stderr]\né€😀\n"} {
		if !strings.HasPrefix(got[i], want) || !strings.HasSuffix(got[i], "END") || !strings.Contains(got[i], " characters elided ...]") || len(got[i]) > 12_000 {
			t.Errorf("result %d has %d bytes: %.200q", i, len(got[i]), got[i])
		}
	}
	if code := e.Shutdown(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// greedy is a program that takes what it can of its input, and leaves it as one
// that does not wait.
func greedy() {
	if err := syscall.SetNonblock(0, true); err != nil {
		fmt.Println("no input:", err)
		return
	}
	n, err := syscall.Read(0, make([]byte, 1000))
	fmt.Println("input:", n, err)
}

// TestACommandTakesNothingOfTheConversation sends a hundred requests while a
// command has tried for its input in every way and still runs.
func TestACommandTakesNothingOfTheConversation(t *testing.T) {
	dir := t.TempDir()
	for _, pipe := range []string{"running", "go"} {
		if err := syscall.Mkfifo(filepath.Join(dir, pipe), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := "greedy; cat; head -c 10; dd bs=1 count=10 2>/dev/null; read line || echo none; greedy; cat & : >running; cat go; wait; cat; greedy; echo END"
	e := lsptest.Start(t, program(t), lsptest.Options{
		Folders: []string{dir}, Transcript: true,
		InitializationOptions: scripted(t, fmt.Sprintf("  - calls: [{exec: {argv: [sh, -c, %q]}}]\n  - text: done\n", script), map[string]any{"approvals": "all"}),
	})
	e.Initialize()
	turn := e.GoCommand("agent.prompt", map[string]any{"text": "go", "wait": true})
	// Opening the pipe waits for the command to open it.
	running, err := os.Open(filepath.Join(dir, "running"))
	if err != nil {
		t.Fatal(err)
	}
	running.Close()
	var asked []*lsptest.Pending
	for range 100 {
		asked = append(asked, e.GoCommand("agent.status", map[string]any{}))
	}
	for i, p := range asked {
		if result, rerr := p.Wait(); rerr != nil || !strings.Contains(string(result), "sessions") {
			t.Fatalf("request %d was answered with %s, %v", i, result, rerr)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("gone on\n"), 0); err != nil {
		t.Fatal(err)
	}
	if result, rerr := turn.Wait(); rerr != nil || !strings.Contains(string(result), `"text":"done"`) {
		t.Errorf("the turn ended with %s, %v", result, rerr)
	}
	if got, want := results(t, e)[0], "exit code 0\ninput: 0 <nil>\nnone\ninput: 0 <nil>\ngone on\ninput: 0 <nil>\nEND"; got != want {
		t.Errorf("the command saw %q, want %q", got, want)
	}
	if code := e.Shutdown(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
