package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json"
	"go.lsp.dev/protocol"
)

// beside runs a benchmark on the program as it is shipped and on a server of the
// same libraries that does nothing, both as processes over pipes.
func beside(b *testing.B, bench func(b *testing.B, e *lsptest.Editor)) {
	for _, c := range []struct {
		name string
		cmd  func(*testing.B) *exec.Cmd
	}{
		{"baseline", func(*testing.B) *exec.Cmd { return lsptest.Baseline() }},
		{"agent-lsp", agent},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := lsptest.Start(b, c.cmd(b), lsptest.Options{Folders: []string{b.TempDir()}})
			e.Initialize()
			bench(b, e)
			b.StopTimer()
			if code := e.Shutdown(); code != 0 {
				b.Fatalf("exit code %d", code)
			}
		})
	}
}

// BenchmarkCommandRoundTrip is workspace/executeCommand from the request to its
// answer: agent.status, or an echo.
func BenchmarkCommandRoundTrip(b *testing.B) {
	beside(b, func(b *testing.B, e *lsptest.Editor) {
		var took []time.Duration
		for b.Loop() {
			start := time.Now()
			if _, err := e.Command("agent.status", map[string]any{}); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
			if len(took)%1000 == 0 {
				e.Forget()
			}
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	})
}

// BenchmarkChangesInOrder is how many changes of 1 KiB a second are taken, the
// last one seen by a request behind them.
func BenchmarkChangesInOrder(b *testing.B) {
	beside(b, func(b *testing.B, e *lsptest.Editor) {
		uri := text.URI(filepath.Join(b.TempDir(), "a.txt"))
		piece := strings.Repeat("x", 1<<10)
		e.OpenText(uri, piece+"\n", 1)
		r := protocol.Range{End: protocol.Position{Character: 1 << 10}}
		n := 0
		for b.Loop() {
			e.Change(uri, text.Change{Range: &r, Text: piece})
			if n++; n%1000 == 0 {
				e.Barrier()
				e.Forget()
			}
		}
		e.Barrier()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "changes/s")
	})
}

// BenchmarkMemory is the resident size of a server that has answered and rests,
// and of one with 200 open documents of 100 KiB.
func BenchmarkMemory(b *testing.B) {
	beside(b, func(b *testing.B, e *lsptest.Editor) {
		size := func() float64 {
			e.Barrier()
			now, _, err := e.Memory()
			if err != nil {
				b.Skip(err)
			}
			return float64(now) / (1 << 20)
		}
		dir := b.TempDir()
		content := strings.Repeat("func line() int { return 1 } // some text\n", 100<<10/42)
		for b.Loop() {
			settle(b, e)
			rest := size()
			for i := range 200 {
				e.OpenText(text.URI(filepath.Join(dir, fmt.Sprint(i, ".txt"))), content, 1)
			}
			open := size()
			b.ReportMetric(rest, "MiB-at-rest")
			b.ReportMetric(open, "MiB-200-documents")
			for i := range 200 {
				e.CloseDocument(text.URI(filepath.Join(dir, fmt.Sprint(i, ".txt"))))
			}
		}
	})
}

// settle waits until a server has opened what it opens in the background.
func settle(b *testing.B, e *lsptest.Editor) {
	b.Helper()
	for {
		status, err := e.Command("agent.status", map[string]any{})
		if err != nil {
			b.Fatal(err)
		}
		if s := string(status); !strings.Contains(s, `"core":`) || strings.Contains(s, `"core":"ready"`) && strings.Contains(s, `"store":"ready"`) {
			return
		}
	}
}

// BenchmarkCheckedEdit is how long an edit's result waits for the checker, beside
// the checker alone on the same change: more-ms is what the server adds to it.
func BenchmarkCheckedEdit(b *testing.B) {
	dir, scripts := b.TempDir(), b.TempDir()
	text := func(n int) string { return fmt.Sprintf("package main\n\nfunc main() { println(%d) }\n", n) }
	put := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	put(filepath.Join(dir, "go.mod"), "module example.test/p\n\ngo 1.26\n")
	put(filepath.Join(dir, "main.go"), text(0))
	script := filepath.Join(scripts, "script.yaml")
	options, err := json.Marshal(map[string]any{
		"profile": map[string]any{"provider": "script", "script": script}, "approvals": "edits", "exec": map[string]any{"sandbox": false},
	})
	if err != nil {
		b.Fatal(err)
	}
	e := lsptest.Start(b, agent(b), lsptest.Options{Folders: []string{dir}, Transcript: true, InitializationOptions: options})
	e.Initialize()
	var bare, checked time.Duration
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		put(filepath.Join(dir, "main.go"), text(2*n))
		began := time.Now()
		cmd := exec.Command("go", "build", "-o", os.DevNull, "./...")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		bare += time.Since(began)
		put(script, fmt.Sprintf("version: 1\nentries:\n  - calls: [{read: {path: main.go}}]\n  - calls: [{write: {path: main.go, text: %q}}]\n  - text: done\n", text(2*n+1)))
		res, rerr := e.Command("agent.session.new", map[string]any{})
		if rerr != nil {
			b.Fatal(rerr)
		}
		var made struct {
			Session string `json:"session"`
		}
		if err := json.Unmarshal(res, &made); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		began = time.Now()
		res, rerr = e.Command("agent.prompt", map[string]any{"session": made.Session, "text": "go", "wait": true})
		checked += time.Since(began)
		if rerr != nil || !strings.Contains(string(res), `"done"`) {
			b.Fatalf("the turn ended %s, %v", res, rerr)
		}
	}
	b.ReportMetric(float64(bare.Milliseconds())/float64(n), "bare-ms")
	b.ReportMetric(float64((checked-bare).Milliseconds())/float64(n), "more-ms")
}
