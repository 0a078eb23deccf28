package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/go-json-experiment/json"
)

// binary builds the program as it is shipped, once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "agent-lsp-bench-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "agent-lsp")
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

func agent(b *testing.B) *exec.Cmd {
	b.Helper()
	path, err := binary()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+b.TempDir(), "XDG_CONFIG_HOME="+b.TempDir())
	return cmd
}

// BenchmarkSpawnToInitialize is from the start of the process to the answer of
// initialize, beside a server of the same libraries that does nothing.
func BenchmarkSpawnToInitialize(b *testing.B) {
	for _, c := range []struct {
		name string
		cmd  func(*testing.B) *exec.Cmd
	}{
		{"baseline", func(*testing.B) *exec.Cmd { return lsptest.Baseline() }},
		{"agent-lsp", agent},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			c.cmd(b)
			for b.Loop() {
				e := lsptest.Start(b, c.cmd(b), lsptest.Options{Folders: []string{dir}})
				e.Initialize()
				b.StopTimer()
				if code := e.Shutdown(); code != 0 {
					b.Fatalf("exit code %d", code)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkTurn is a whole prompt of some model rounds on a model without
// latency, one read each, from a script and from a server on this machine that
// speaks chat completions: the slope between the two sizes is what a round costs.
func BenchmarkTurn(b *testing.B) {
	for _, kind := range []string{"script", "endpoint"} {
		for _, rounds := range []int{1, 101} {
			b.Run(fmt.Sprintf("model=%s/rounds=%d", kind, rounds), func(b *testing.B) { benchTurn(b, kind, rounds) })
		}
	}
}

func benchTurn(b *testing.B, kind string, rounds int) {
	dir := b.TempDir()
	profile := map[string]any{"provider": "script", "script": filepath.Join(dir, "script.yaml")}
	if kind == "script" {
		if err := os.WriteFile(filepath.Join(dir, "script.yaml"), []byte(turns(rounds)), 0o644); err != nil {
			b.Fatal(err)
		}
	} else {
		server := httptest.NewServer(endpoint(rounds))
		defer server.Close()
		profile = map[string]any{"provider": "openai", "model": "m", "baseUrl": server.URL + "/v1"}
	}
	options, err := json.Marshal(map[string]any{"profile": profile, "turn": map[string]any{"maxRounds": 1000}})
	if err != nil {
		b.Fatal(err)
	}
	e := lsptest.Start(b, agent(b), lsptest.Options{Folders: []string{dir}, Transcript: true, InitializationOptions: options})
	e.Initialize()
	for b.Loop() {
		// A session of its own, so that the script starts anew.
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
		if res, rerr = e.Command("agent.prompt", map[string]any{"session": made.Session, "text": "go", "wait": true}); rerr != nil {
			b.Fatal(rerr)
		}
		if !strings.Contains(string(res), `"complete"`) {
			b.Fatalf("the turn ended %s", res)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(rounds), "µs/round")
}

// endpoint answers each request of a turn of some rounds by how many results of
// calls it has: with another read, in the end with a text.
func endpoint(rounds int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err) // the benchmark fails with a cut connection
		}
		n := strings.Count(string(body), `"role":"tool"`)
		delta, finish := `{"content":"done"}`, "stop"
		if n < rounds-1 {
			finish = "tool_calls"
			delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"t%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"missing%d\"}"}}]}`, n, n)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", delta, finish)
	}
}

// turns is a script whose every round but the last reads another part of the
// workspace.
func turns(rounds int) string {
	var y strings.Builder
	y.WriteString("version: 1\nentries:\n")
	for i := range rounds - 1 {
		fmt.Fprintf(&y, "  - calls: [{read: {path: \"missing%d\"}}]\n", i)
	}
	y.WriteString("  - text: done\n")
	return y.String()
}

// BenchmarkTask is the whole of the README's task without a checker: read, edit,
// run a program, answer, from a running server.
func BenchmarkTask(b *testing.B) {
	dir := b.TempDir()
	script := filepath.Join(b.TempDir(), "script.yaml")
	if err := os.WriteFile(script, []byte(`version: 1
entries:
  - calls: [{read: {path: a.txt}}]
  - calls: [{write: {path: a.txt, text: "b\n"}}]
  - calls: [{exec: {argv: ["true"]}}]
  - text: done
`), 0o644); err != nil {
		b.Fatal(err)
	}
	options, err := json.Marshal(map[string]any{
		"profile": map[string]any{"provider": "script", "script": script}, "approvals": "all",
	})
	if err != nil {
		b.Fatal(err)
	}
	var peak int64
	for b.Loop() {
		b.StopTimer()
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o644); err != nil {
			b.Fatal(err)
		}
		e := lsptest.Start(b, agent(b), lsptest.Options{Folders: []string{dir}, Transcript: true, InitializationOptions: options})
		e.Initialize()
		b.StartTimer()
		res, rerr := e.Command("agent.prompt", map[string]any{"text": "go", "wait": true})
		b.StopTimer()
		if rerr != nil || !strings.Contains(string(res), `"complete"`) {
			b.Fatalf("the turn ended %s, %v", res, rerr)
		}
		_, now, err := e.Memory()
		if err != nil {
			b.Fatal(err)
		}
		peak = max(peak, now)
		e.Shutdown()
		b.StartTimer()
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
}

// TestTheFirstRequestIsSmall holds what every round of a small session pays for.
func TestTheFirstRequestIsSmall(t *testing.T) {
	size := len(config.Prelude)
	for _, d := range tools.Builtin() {
		size += len(model.Definition(d.Name, d.Description, d.Parameters))
	}
	if limit := 10_000 - 1000; size > limit {
		t.Errorf("prelude and tools take %d bytes, over %d", size, limit)
	}
}
