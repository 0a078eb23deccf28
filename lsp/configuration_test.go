package lsp

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/go-json-experiment/json/jsontext"
)

func TestCommandWaitsForTheFirstSettings(t *testing.T) {
	gate := make(chan struct{})
	dir := t.TempDir()
	settings := map[string]jsontext.Value{"agentLsp": jsontext.Value(`{"profile":"mine"}`)}
	r := attach(t, lsptest.Options{Folders: []string{dir}, Settings: settings}, dir, func(c *Config) {
		c.Limits.Landing = time.Minute
		c.Configure = func(jsontext.Value) []string {
			<-gate
			return nil
		}
	})
	r.Initialize()
	made := r.GoCommand("agent.session.new", nil)
	r.Barrier() // whoever does not wait has had its turn
	if calls := strings.Join(r.engine.asked(), "; "); calls != "" {
		t.Errorf("before the settings were taken the engine was asked: %s", calls)
	}
	close(gate)
	if _, err := made.Wait(); err != nil {
		t.Fatal(err)
	}
	if calls := strings.Join(r.engine.asked(), "; "); calls == "" {
		t.Error("the command was not run")
	}
}
