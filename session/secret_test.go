package session

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/anthropic"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/openai"
	"github.com/agent-lsp/agent-lsp/session/model/script"
)

// locked is a log that many goroutines write.
type locked struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// TestAKeyThatAServerRepeatsIsKeptNowhere asks servers that put the key that they
// were sent into their replies, as some do.
func TestAKeyThatAServerRepeatsIsKeptNowhere(t *testing.T) {
	const key = "weird+key/without.a.shape=1"
	for wire, w := range wires {
		for name, c := range map[string]struct {
			status int
			body   string
			want   string
		}{
			"refused":         {401, `{"error":{"message":"Incorrect API key provided: KEY.","code":"invalid_api_key"}}`, "provided: [key]."},
			"as text":         {403, "KEY may not", "[key] may not"},
			"trouble":         {500, `{"error":{"message":"no backend for KEY"}}`, "no backend for [key]"},
			"within a stream": {200, "data: {\"error\":{\"message\":\"KEY has no credit\",\"code\":\"insufficient_quota\"}}\n\n", "[key] has no credit"},
			"not JSON":        {200, "data: {\"a\" KEY}\n\n", "cannot be read"},
		} {
			t.Run(wire+", "+name, func(t *testing.T) {
				srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
					if sent := in.Header.Get("Authorization") + in.Header.Get("X-Api-Key"); !strings.Contains(sent, key) {
						t.Errorf("the key was not sent: %q", sent)
					}
					out.Header().Set("Content-Type", "text/event-stream")
					out.WriteHeader(c.status)
					io.WriteString(out, strings.ReplaceAll(c.body, "KEY", key))
				}))
				defer srv.Close()
				r := start(t, nil, "version: 1\nentries: []\n")
				r.Shutdown()
				log := new(locked)
				r.cfg.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				recording := filepath.Join(t.TempDir(), "r.yaml")
				r.cfg.Provider = func(_ context.Context, p model.Profile, env ProviderEnv) (model.Model, error) {
					cfg := httpmodel.Config{Clock: env.Clock, Getenv: func(string) string { return key }, Log: r.cfg.Log, Retries: 1}
					var m model.Model = openai.New(p, cfg)
					if p.Provider == "anthropic" {
						m = anthropic.New(p, cfg)
					}
					return script.Record(m, recording, time.Time{}), nil
				}
				r.cfg.Settings.Profiles = map[string]model.Profile{"demo": {Provider: w.provider, API: w.api, BaseURL: srv.URL, APIKeyEnv: "THE_KEY"}}
				r.Manager = NewManager(r.cfg, r)
				id, res := r.run("go")
				if !strings.Contains(res.Text, c.want) {
					t.Errorf("the turn ended %+v, want %s", res, c.want)
				}
				recorded, err := os.ReadFile(recording)
				if err != nil {
					t.Fatal(err)
				}
				r.Shutdown()
				for what, text := range map[string]string{"answer": res.Text, "transcript": transcriptOf(t, r, id), "log": log.buf.String(), "recording": string(recorded)} {
					if strings.Contains(text, key) || text == "" && what != "log" {
						t.Errorf("the %s: %s", what, text)
					}
				}
			})
		}
	}
}
