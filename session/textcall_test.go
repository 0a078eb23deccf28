package session

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
)

// TestACallWrittenAsTextIsAskedForOnceMore has a model whose server does not read its
// calls.
func TestACallWrittenAsTextIsAskedForOnceMore(t *testing.T) {
	const call = `{"name": "read", "arguments": {"path": "t.txt"}}`
	for name, c := range map[string]struct {
		text string
		is   bool
	}{
		"tags":                {"I look.\n<tool_call>\n" + call + "\n</tool_call>", true},
		"tags without an end": {"<tool_call>" + call, true},
		"other tags":          {"<function_call>" + call + "</function_call>", true},
		"a fence":             {"I will read it:\n```json\n" + call + "\n```\n", true},
		"a bare fence":        {"```\n" + call + "\n```", true},
		"nothing but JSON":    {"\n" + call + "\n", true},
		"parameters":          {`<|python_tag|>{"name": "exec", "parameters": {"argv": ["ls"]}}`, true},
		"mistral's":           {"[TOOL_CALLS] [" + call + "]", true},
		"llama's":             {`<function=read>{"path": "t.txt"}</function>`, true},
		"no tool of ours":     {"```json\n" + `{"name": "readme", "arguments": {}}` + "\n```", false},
		"no arguments":        {"```json\n" + `{"name": "read", "version": 1}` + "\n```", false},
		"JSON in words":       {`The manifest has {"name": "read"} in it.`, false},
		"plain":               {"All is well with <tool_call> tags.", false},
	} {
		t.Run(name, func(t *testing.T) {
			quoted, _ := json.Marshal(c.text)
			text := fmt.Sprintf("  - text: %s\n", quoted)
			const end = "  - text: Done.\n"
			r := start(t, map[string]string{"t.txt": "file text\n"}, "version: 1\nentries:\n"+text+end)
			_, res := r.run("go")
			if !c.is {
				if res.Text != c.text {
					t.Errorf("a text is taken for a call: %+v", res)
				}
				return
			}
			if res.Text != "Done." || res.Outcome != "complete" || !strings.Contains(r.kinds(), "as a function call of the API") {
				t.Errorf("%+v:\n%s", res, r.kinds())
			}
			r = start(t, map[string]string{"t.txt": "file text\n"}, "version: 1\nentries:\n"+text+text+end)
			if _, res := r.run("go"); res.Outcome != "failed" || !strings.Contains(res.Text, "as text twice") {
				t.Errorf("the second time: %+v", res)
			}
		})
	}
}

// TestAProfileThatIsSwitchedIsAskedAtItsNewPlace changes a profile's API between two
// prompts of one session.
func TestAProfileThatIsSwitchedIsAskedAtItsNewPlace(t *testing.T) {
	paths := map[string]string{"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
	said := map[string]string{
		"chat":      `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`,
		"responses": `{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ok"}]}]}`,
		"messages":  `{"type":"message","id":"m","stop_reason":"end_turn","content":[{"type":"text","text":"ok"}]}`,
	}
	for from := range apis {
		for to := range apis {
			var asked []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.Path)
				w.Header().Set("Content-Type", "application/json")
				for api, path := range paths {
					if path == r.URL.Path {
						fmt.Fprint(w, said[api])
					}
				}
			}))
			at := func(api string) map[string]model.Profile {
				p := apis[api]
				p.BaseURL = srv.URL
				return map[string]model.Profile{"demo": p}
			}
			r := served(t, at(from)["demo"])
			id, _ := r.run("one")
			settings := r.cfg.Settings
			settings.Profiles = at(to)
			r.Configure(settings)
			turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "two"}))
			if res := r.result(id, turn); res.Text != "ok" || len(asked) != 2 || asked[0] != paths[from] || asked[1] != paths[to] {
				t.Errorf("%s to %s: %+v, asked %q", from, to, res, asked)
			}
			srv.Close()
		}
	}
}
