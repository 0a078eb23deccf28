package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
)

// TestAKeyInTheEnvironmentIsAllThatAnEditorNeeds has a plain editor with no settings at
// all: one question, then the reply of the provider whose key is set.
func TestAKeyInTheEnvironmentIsAllThatAnEditorNeeds(t *testing.T) {
	for variable, api := range map[string]string{"ANTHROPIC": "messages", "OPENAI": "chat completions"} {
		t.Run(variable, func(t *testing.T) {
			var keys []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				keys = append(keys, r.Header.Get("Authorization")+r.Header.Get("x-api-key"))
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, wireAPIs[api].text)
			}))
			defer server.Close()
			e := lsptest.Start(t, program(t, variable+"_API_KEY=k-1", variable+"_BASE_URL="+server.URL), lsptest.Options{
				Folders: []string{t.TempDir()}, Questions: []lsptest.QuestionAnswer{"Use"},
			})
			e.Initialize()
			for range 2 {
				got, err := e.Command("agent.prompt", map[string]any{"text": "hello", "wait": true})
				if err != nil || !strings.Contains(string(got), "größe") {
					t.Errorf("prompt: %s, %v", got, err)
				}
			}
			if len(keys) != 2 || !strings.Contains(keys[0], "k-1") {
				t.Errorf("the provider got the keys %q", keys)
			}
			e.Wait("the question", 0, func(m lsptest.Message) bool {
				return m.Method == "window/showMessageRequest" && strings.Contains(string(m.Params), variable+"_API_KEY is set")
			})
		})
	}
}
