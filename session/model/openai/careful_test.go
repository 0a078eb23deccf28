package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
)

// mistral returns as Mistral's servers do: it refuses other roles than an assistant
// or a result after a result, system messages behind others, and ids that are not
// nine letters and digits.
func mistral(body []byte) (refusal string) {
	var req struct {
		Messages []struct {
			Role   string `json:"role"`
			CallID string `json:"tool_call_id"`
			Calls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err.Error()
	}
	id := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	before, open := "", map[string]bool{}
	for _, m := range req.Messages {
		allowed := map[string]string{"": "system user", "system": "system user assistant", "user": "user assistant", "assistant": "assistant user tool", "tool": "assistant tool"}
		if !strings.Contains(allowed[before], m.Role) {
			return "Unexpected role '" + m.Role + "' after role '" + before + "'"
		}
		for _, c := range m.Calls {
			if !id.MatchString(c.ID) {
				return "Tool call id was " + c.ID + " but must be a-z, A-Z, 0-9, with a length of 9."
			}
			open[c.ID] = true
		}
		if m.Role == "tool" && !open[m.CallID] {
			return "Unexpected tool call id " + m.CallID + " in tool results"
		}
		before = m.Role
	}
	if before != "user" && before != "tool" {
		return "Expected last role User or Tool for serving but got " + before
	}
	return ""
}

func TestAStrictServerIsSentWhatItTakes(t *testing.T) {
	const start = `{"role":"system","content":"base"}
{"role":"user","content":"go"}
`
	calls := func(ids ...string) string {
		one, results := "", ""
		for i, id := range ids {
			one += `,{"id":"` + id + `","type":"function","function":{"name":"read","arguments":"{}"}}`
			results += `{"role":"tool","tool_call_id":"` + id + `","content":"r` + string(rune('0'+i)) + `"}` + "\n"
		}
		return `{"role":"assistant","content":"","tool_calls":[` + one[1:] + "]}\n" + results
	}
	const user, state = `{"role":"user","content":"more"}` + "\n", `{"role":"system","content":"open files"}` + "\n"
	for name, c := range map[string]struct {
		talk  string
		asked int // requests for two of the same
	}{
		"nothing to do":          {start + calls("abcdefGH9"), 2},
		"a user after a result":  {start + calls("abcdefGH9") + user, 3},
		"state after a result":   {start + calls("abcdefGH9") + state, 3},
		"state after a user":     {start + calls("abcdefGH9") + user + state, 3},
		"state alone":            {start + state, 3},
		"another provider's ids": {start + calls("toolu_01A09q90qw90lq917835lq9", "call_1", "x"), 3},
		"long ids":               {start + calls(strings.Repeat("i", 200), strings.Repeat("i", 201)), 3},
		"all of it":              {start + calls("call_1") + user + calls("call_2", "call_3") + user + state, 3},
	} {
		asked := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			if why := mistral(body); why != "" {
				w.WriteHeader(400)
				_, _ = io.WriteString(w, `{"object":"error","message":"`+why+`","type":"invalid_request_error","code":3230}`)
				return
			}
			for _, said := range []string{"go", "open files", "more", "r0"} {
				if strings.Contains(c.talk, `"`+said+`"`) && !strings.Contains(string(body), said) {
					t.Errorf("%s: %q is not sent: %s", name, said, body)
				}
			}
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
		}))
		p := New(model.Profile{Provider: "openai", BaseURL: srv.URL, Model: "m"}, Config{})
		for range 2 { // what it took is remembered
			if resp, err := p.Respond(t.Context(), model.Request{Messages: messages(c.talk)}, nil); err != nil || *resp.Text != "ok" {
				t.Errorf("%s: %+v, %v", name, resp, err)
			}
		}
		if asked != c.asked {
			t.Errorf("%s: %d requests, want %d", name, asked, c.asked)
		}
		srv.Close()
	}
}

func TestLongIDsAreShortenedForOpenAI(t *testing.T) {
	long := strings.Repeat("x", 41)
	talk := []*model.Message{
		{Role: model.RoleAssistant, Calls: []model.FunctionCall{{ID: long + "1"}, {ID: long + "2"}, {ID: long[:40]}}},
		{Role: model.RoleTool, CallID: long + "1"},
		{Role: model.RoleTool, CallID: long + "2"},
		{Role: model.RoleTool, CallID: long[:40]},
	}
	got := shortIDs(talk)
	seen := map[string]bool{}
	for i, c := range got[0].Calls {
		if len(c.ID) > 40 || c.ID != got[i+1].CallID || seen[c.ID] {
			t.Errorf("call %d: %q, its result %q", i, c.ID, got[i+1].CallID)
		}
		seen[c.ID] = true
	}
	if got[0].Calls[2].ID != long[:40] || talk[0].Calls[0].ID != long+"1" {
		t.Error("an id that fits, or the caller's own, was changed")
	}
}
