package session

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/anthropic"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/openai"
)

// served is a session whose model is served at an address, through the provider of
// the profile.
func served(t *testing.T, profile model.Profile) *rig {
	t.Helper()
	r := start(t, map[string]string{"t.txt": "file text\n"}, "version: 1\nentries: []\n")
	r.Shutdown()
	getenv := func(name string) string {
		if name == "" {
			return ""
		}
		return "sk-test-0123456789abcdefghij"
	}
	r.cfg.Provider = func(_ context.Context, p model.Profile, _ ProviderEnv) (model.Model, error) {
		if p.Provider == "anthropic" {
			return anthropic.New(p, httpmodel.Config{Getenv: getenv}), nil
		}
		return openai.New(p, httpmodel.Config{Getenv: getenv}), nil
	}
	r.cfg.Settings.Profiles = map[string]model.Profile{"demo": profile}
	r.Manager = NewManager(r.cfg, r)
	return r
}

// apis are the profiles of each API.
var apis = map[string]model.Profile{
	"chat":      {Provider: "openai", Model: "m-1"},
	"responses": {Provider: "openai", API: "responses", Model: "m-1"},
	"messages":  {Provider: "anthropic", Model: "m-1"},
}

func TestAFailedTurnSaysWhatToDo(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	for name, c := range map[string]struct {
		status    int
		body      string
		base, key string
		want      []string
	}{
		"a wrong key": {
			401, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, "", "MY_KEY",
			[]string{"MY_KEY was refused by HOST (401)", "Incorrect API key", "put a valid key there"},
		},
		"a wrong key, as Gemini says it": {
			400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, "", "MY_KEY",
			[]string{"MY_KEY was refused by HOST (400)"},
		},
		"no key":           {401, `{"error":{"message":"missing credentials"}}`, "", "", []string{"HOST refused a request without a key (401)", "api_key_env of profile demo"}},
		"no money":         {429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, "", "MY_KEY", []string{"quota", "the account at HOST"}},
		"an unknown model": {404, `{"error":{"message":"The model 'm-1' does not exist","code":"model_not_found"}}`, "", "MY_KEY", []string{`HOST does not serve model "m-1" (404)`, "correct model, or base_url, of profile demo"}},
		"a model of another name": {
			400, `{"type":"error","error":{"type":"invalid_request_error","message":"m-1 is not a valid model ID"}}`, "", "MY_KEY",
			[]string{`HOST does not serve model "m-1" (400)`},
		},
		"a dead host":    {0, "", dead.URL, "", []string{dead.URL, "connection refused", "start the server", "base_url"}},
		"an unknown one": {0, "", "http://no-such-host.invalid/v1", "", []string{"no-such-host.invalid", "base_url"}},
	} {
		for api, profile := range apis {
			t.Run(name+", "+api, func(t *testing.T) {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
				}))
				defer srv.Close()
				if profile.BaseURL = srv.URL; c.base != "" {
					profile.BaseURL = c.base
				}
				profile.APIKeyEnv = c.key
				r := served(t, profile)
				_, res := r.run("go")
				if res.Outcome != "failed" {
					t.Errorf("outcome %s, want failed", res.Outcome)
				}
				for _, want := range c.want {
					if want = strings.ReplaceAll(want, "HOST", strings.TrimPrefix(srv.URL, "http://")); !strings.Contains(res.Text, want) {
						t.Errorf("%q does not say %q", res.Text, want)
					}
				}
			})
		}
	}
}

// TestWhatIsSignedInACallComesBack has a server that refuses a call without the
// signature that it gave it, as Gemini does.
func TestWhatIsSignedInACallComesBack(t *testing.T) {
	extra := func(n string) string { return `{"google":{"thought_signature":"sig+/=` + n + `"}}` }
	call := func(members, extra string) string {
		if extra != "" {
			extra = `,"extra_content":` + extra
		}
		return `{` + members + `"type":"function","function":{"name":"read","arguments":"{\"path\":\"t.txt\"}"}` + extra + `}`
	}
	other := `{"id":"b","type":"function","function":{"name":"read","arguments":"{\"path\":\".\"}"}}`
	for name, calls := range map[string][2]string{
		"ids of their own":       {call(`"id":"a1",`, extra("1")), call(`"id":"a2",`, extra("2"))},
		"one id in all rounds":   {call(`"id":"a",`, extra("1")), call(`"id":"a",`, extra("2"))},
		"no ids":                 {call(``, extra("1")), call(``, extra("2"))},
		"the first of two calls": {call(`"id":"a1",`, extra("1")) + "," + other, call(`"id":"a2",`, extra("2"))},
		"the second of two":      {other + "," + call(`"id":"a1",`, extra("1")), call(`"id":"a2",`, extra("2"))},
	} {
		for _, streamed := range []bool{false, true} {
			round := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				for i := range round {
					if want := `"extra_content":` + extra([]string{"1", "2"}[i]); strings.Count(string(body), want) != 1 {
						w.WriteHeader(400)
						_, _ = io.WriteString(w, `{"error":{"message":"Function call is missing a thought_signature, `+[]string{"first", "second"}[i]+`"}}`)
						return
					}
				}
				message := `{"role":"assistant","content":"Done."}`
				if round < 2 {
					message = `{"role":"assistant","content":"So.","tool_calls":[` + calls[round] + `]}`
					round++
				}
				if streamed {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, `data: {"choices":[{"delta":`+message+`,"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"choices":[{"message":`+message+`,"finish_reason":"stop"}]}`)
			}))
			r := served(t, model.Profile{Provider: "openai", Model: "gemini", BaseURL: srv.URL})
			if _, res := r.run("go"); res.Text != "Done." {
				t.Errorf("%s, streamed %v: %+v", name, streamed, res)
			}
			srv.Close()
		}
	}
}
