package session

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/anthropic"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/openai"
)

// TestSealedReasoningOutlivesTheProcess has a model that reasons before each of
// two calls, and restarts in between: what it is sent back is what it sent.
func TestSealedReasoningOutlivesTheProcess(t *testing.T) {
	signed := func(n string) string {
		return `{"type":"thinking","thinking":"hm ` + n + `","signature":"sig` + n + `"}`
	}
	reason := func(n string) string {
		return `{"type":"reasoning","id":"rs_` + n + `","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"enc` + n + `"}`
	}
	for wire, c := range map[string]struct {
		provider, api string
		answers       [3]string // the first two call read
		want          [2]string // what is sent back of them
	}{
		"anthropic": {
			provider: "anthropic",
			answers: [3]string{
				`{"type":"message","id":"m","stop_reason":"tool_use","content":[` + signed("1") + `,{"type":"text","text":"One."},{"type":"tool_use","id":"c1","name":"read","input":{"path":"t.txt"}}]}`,
				`{"type":"message","id":"m","stop_reason":"tool_use","content":[` + signed("2") + `,{"type":"tool_use","id":"c2","name":"read","input":{"path":"t.txt"}}]}`,
				`{"type":"message","id":"m","stop_reason":"end_turn","content":[{"type":"text","text":"Fine."}]}`,
			},
			want: [2]string{
				`[` + signed("1") + `,{"type":"text","text":"One."},{"type":"tool_use","id":"c1"`,
				`[` + signed("2") + `,{"type":"tool_use","id":"c2"`,
			},
		},
		"responses": {
			provider: "openai", api: "responses",
			answers: [3]string{
				`{"id":"r","status":"completed","output":[` + reason("1") + `,{"type":"message","content":[{"type":"output_text","text":"One."}]},{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"t.txt\"}"}]}`,
				`{"id":"r","status":"completed","output":[` + reason("2") + `,{"type":"function_call","call_id":"c2","name":"read","arguments":"{\"path\":\"t.txt\"}"}]}`,
				`{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Fine."}]}]}`,
			},
			want: [2]string{
				reason("1") + `,{"role":"assistant","content":"One."},{"type":"function_call","call_id":"c1"`,
				reason("2") + `,{"type":"function_call","call_id":"c2"`,
			},
		},
	} {
		t.Run(wire, func(t *testing.T) {
			var mu sync.Mutex // guards seen
			var seen []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				defer mu.Unlock()
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, c.answers[min(len(seen), 2)])
				seen = append(seen, string(body))
			}))
			defer srv.Close()
			r := start(t, map[string]string{"t.txt": "file text\n"}, "version: 1\nentries: []\n")
			r.Shutdown()
			r.cfg.Provider = func(_ context.Context, p model.Profile, _ ProviderEnv) (model.Model, error) {
				if p.Provider == "anthropic" {
					return anthropic.New(p, httpmodel.Config{}), nil
				}
				return openai.New(p, httpmodel.Config{}), nil
			}
			profile := model.Profile{Provider: c.provider, API: c.api, BaseURL: srv.URL, Model: "m"}
			r.cfg.Settings.Profiles = map[string]model.Profile{"demo": profile}
			r.Manager = NewManager(r.cfg, r)
			id, res := r.run("go")
			if res.Text != "Fine." {
				t.Fatalf("turn ended %+v:\n%s", res, r.kinds())
			}
			again := func(name string) string {
				t.Helper()
				r.Shutdown()
				profile.Model = name
				r.cfg.Settings.Profiles = map[string]model.Profile{"demo": profile}
				r.Manager = NewManager(r.cfg, r)
				if _, err := r.Resume(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				if _, res := r.run("and?"); res.Text != "Fine." {
					t.Fatalf("turn ended %+v:\n%s", res, r.kinds())
				}
				return seen[len(seen)-1]
			}
			for i, body := range []string{seen[1], seen[2], again("m")} {
				for k, want := range c.want {
					if has := strings.Contains(body, want); has != (k <= i) {
						t.Errorf("request %d has the reasoning of answer %d: %t\n%s", i+2, k+1, has, body)
					}
				}
			}
			if body := again("another"); strings.Contains(body, `"signature"`) || strings.Contains(body, `"encrypted_content"`) {
				t.Errorf("another model is sent the reasoning: %s", body)
			}
		})
	}
}
