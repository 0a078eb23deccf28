package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// program is the program under test, with directories of its own for its settings
// and sessions. Later variables win.
func program(t testing.TB, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("agent-lsp")
	home := t.TempDir()
	cmd.Env = append(os.Environ(),
		"XDG_STATE_HOME="+filepath.Join(home, "state"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"XDG_CACHE_HOME="+filepath.Join(os.TempDir(), "lsptest-cache"), "GOFLAGS=-mod=mod", "GOPROXY=off", "GORACE=atexit_sleep_ms=0")
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// scripted are the options of a session that runs by a script, with further ones.
func scripted(t testing.TB, entries string, more map[string]any) jsontext.Value {
	t.Helper()
	options := map[string]any{"profile": map[string]any{"provider": "script", "script": scriptFile(t, entries)}}
	for k, v := range more {
		options[k] = v
	}
	return encoded(t, options)
}

// scriptFile writes a script.
func scriptFile(t testing.TB, entries string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script.yaml")
	put(t, script, "version: 1\nentries:\n"+entries)
	return script
}

func encoded(t testing.TB, v any) jsontext.Value {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// put writes a file, and its directories.
func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// prompted runs one prompt to its end and answers the answer's text.
func prompted(t testing.TB, e *lsptest.Editor, text string) string {
	t.Helper()
	var done struct {
		Outcome string `json:"outcome"`
		Text    string `json:"text"`
	}
	result, rerr := e.Command("agent.prompt", map[string]any{"text": text, "wait": true})
	if rerr != nil {
		t.Fatal(rerr)
	}
	if err := json.Unmarshal(result, &done); err != nil || done.Outcome != "complete" {
		t.Fatalf("the turn ended %s, %v\n%s", result, err, e.Stderr())
	}
	return done.Text
}

// results are the texts of a transcript's results, in order.
func results(t testing.TB, e *lsptest.Editor) []string {
	t.Helper()
	var out []string
	for _, x := range e.Events() {
		if x.Kind() != "result" {
			continue
		}
		var r struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(x.Event, &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r.Text)
	}
	return out
}
