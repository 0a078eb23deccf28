package main

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json"
)

// TestAPictureGoesFromTheEditorToTheModel points at a picture in a prompt, over
// stdio, with a model that does not take it: it is asked once more without, the
// person is told, and neither a later prompt nor a later server sends it again.
func TestAPictureGoesFromTheEditorToTheModel(t *testing.T) {
	picture := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x09\x00\x00\x00\x09\x08\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00IEND\xaeB`\x82"
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(picture))
	var mu sync.Mutex // guards seen
	var seen []bool
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		shown := strings.Contains(string(body), url)
		mu.Lock()
		seen = append(seen, shown)
		mu.Unlock()
		if shown {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":"Invalid content type. image_url is only supported by certain models."}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, wireAPIs["chat completions"].text)
	}))
	defer model.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "shots", "a b.png")
	place(t, map[string]string{path: picture})
	home := t.TempDir()
	place(t, map[string]string{filepath.Join(home, "agent-lsp", "config.yaml"): "profile: seeing\nprofiles:\n  seeing: {provider: openai, model: m, base_url: " + model.URL + "/v1, vision: true}\n"})
	argument := map[string]any{"text": "what is this?", "wait": true, "context": []any{map[string]any{"uri": text.URI(path)}}}
	var session any
	for _, which := range []string{"the first server", "another one"} {
		e := lsptest.Start(t, program(t, "XDG_CONFIG_HOME="+home, "AGENT_LSP_STORE="+filepath.Join(home, "sessions.db")), lsptest.Options{Folders: []string{dir}, Transcript: true})
		e.Initialize()
		if session != nil {
			if _, rerr := e.Command("agent.session.resume", map[string]any{"session": session}); rerr != nil {
				t.Fatal(rerr)
			}
			argument["session"] = session
		}
		var res struct {
			Session       string
			Outcome, Text string
		}
		for range 2 {
			raw, rerr := e.Command("agent.prompt", argument)
			if rerr != nil {
				t.Fatal(rerr)
			}
			if err := json.Unmarshal(raw, &res, json.MatchCaseInsensitiveNames(true)); err != nil || res.Text != "It says: größe 😀." {
				t.Fatalf("%s: the turn ended %s, %v", which, raw, err)
			}
		}
		session = res.Session
		transcript, rerr := e.Command("agent.transcript", map[string]any{"session": session})
		if n := strings.Count(string(transcript), "asked again without shots/a b.png, which this session does not send to it any more"); rerr != nil || n != 1 {
			t.Errorf("%s: the transcript tells of the refusal %d times: %s", which, n, transcript)
		}
		e.Shutdown()
	}
	if want := []bool{true, false, false, false, false}; len(seen) != len(want) || !seen[0] || seen[1] || seen[2] || seen[3] || seen[4] {
		t.Errorf("requests with the picture: %v, want %v", seen, want)
	}
}
