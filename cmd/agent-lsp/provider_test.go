package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wireAPI is how one of the real interfaces says two answers: a call of read, and
// a text.
type wireAPI struct {
	profile  string
	path     string
	call     string
	text     string
	answered string // a part of the second request: the call's result in its place
}

var wireAPIs = map[string]wireAPI{
	"chat completions": {
		profile: "provider: openai, model: m, base_url: BASE/v1, api_key_env: AGENT_LSP_TEST_KEY",
		path:    "/v1/chat/completions",
		call: `data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"read","arguments":"{\"path\":"}}]}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.txt\"}"}}]}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}

data: [DONE]

`,
		text: `data: {"id":"c2","choices":[{"index":0,"delta":{"content":"It says: "}}]}

data: {"id":"c2","choices":[{"index":0,"delta":{"content":"größe 😀."}}]}

data: {"id":"c2","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":7}}

data: [DONE]

`,
		answered: `"tool_call_id":"t1"`,
	},
	"responses": {
		profile: "provider: openai, api: responses, model: m, base_url: BASE/v1, api_key_env: AGENT_LSP_TEST_KEY",
		path:    "/v1/responses",
		call: `event: response.created
data: {"type":"response.created","response":{"id":"r1","status":"in_progress","output":[]}}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs1","summary":[{"type":"summary_text","text":"Read it."}],"encrypted_content":"c2VhbGVk"}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"f1","call_id":"t1","name":"read","arguments":"","status":"in_progress"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"f1","output_index":1,"delta":"{\"path\":\"a.txt\"}"}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","item_id":"f1","output_index":1,"arguments":"{\"path\":\"a.txt\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"f1","call_id":"t1","name":"read","arguments":"{\"path\":\"a.txt\"}","status":"completed"}}

event: response.completed
data: {"type":"response.completed","response":{"id":"r1","status":"completed","output":[{"type":"function_call","id":"f1","call_id":"t1","name":"read","arguments":"{\"path\":\"a.txt\"}","status":"completed"}],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}

`,
		text: `event: response.created
data: {"type":"response.created","response":{"id":"r2","status":"in_progress","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m1","role":"assistant","status":"in_progress","content":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","item_id":"m1","output_index":0,"content_index":0,"delta":"It says: größe 😀."}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It says: größe 😀.","annotations":[]}]}}

event: response.completed
data: {"type":"response.completed","response":{"id":"r2","status":"completed","output":[{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"It says: größe 😀.","annotations":[]}]}],"usage":{"input_tokens":20,"output_tokens":7,"total_tokens":27}}}

`,
		answered: `{"type":"reasoning","id":"rs1","summary":[{"type":"summary_text","text":"Read it."}],"encrypted_content":"c2VhbGVk"},{"type":"function_call","call_id":"t1"`,
	},
	"messages": {
		profile: "provider: anthropic, model: m, base_url: BASE, api_key_env: AGENT_LSP_TEST_KEY, max_output: 1000",
		path:    "/v1/messages",
		call: `event: message_start
data: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Read it."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a.txt\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`,
		text: `event: message_start
data: {"type":"message_start","message":{"id":"m2","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":20,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It says: größe 😀."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`,
		answered: `[{"type":"thinking","thinking":"Read it.","signature":"c2lnbmVk"},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a.txt"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"`,
	},
}

// TestRunAsksRealProviders runs a whole prompt over each interface against a
// server that says what real ones say, and records it; the recording replays to
// the same answer. The key goes to the server alone.
func TestRunAsksRealProviders(t *testing.T) {
	const key = "sk-test-0123456789abcdefghij"
	for name, api := range wireAPIs {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var requests []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || r.URL.Path != api.path {
					t.Errorf("a request to %s: %v", r.URL.Path, err)
				}
				if got := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key"); !strings.Contains(got, key) {
					t.Errorf("the key was not sent: %q", got)
				}
				mu.Lock()
				requests = append(requests, string(body))
				n := len(requests)
				mu.Unlock()
				w.Header().Set("Content-Type", "text/event-stream")
				answer := api.call
				if n > 1 {
					answer = api.text
				}
				io.WriteString(w, answer)
			}))
			defer server.Close()

			home, dir := t.TempDir(), t.TempDir()
			t.Setenv("XDG_CONFIG_HOME", home)
			t.Setenv("XDG_STATE_HOME", home)
			t.Setenv("AGENT_LSP_TEST_KEY", key)
			place(t, map[string]string{
				filepath.Join(home, "agent-lsp", "config.yaml"): fmt.Sprintf("profile: real\nprofiles:\n  real: {%s}\n", strings.ReplaceAll(api.profile, "BASE", server.URL)),
				filepath.Join(dir, "a.txt"):                     "größe 😀\n",
			})
			recording := filepath.Join(home, "recording.yaml")
			out, log, code := runHere(t, "run", "--trust", "-C", dir, "--record", recording, "--json", "what does a.txt say?")
			if code != exitDone || !strings.Contains(out, `"text":"It says: größe 😀."`) {
				t.Fatalf("exit code %d\n%s\n%s", code, out, log)
			}
			if len(requests) != 2 || !strings.Contains(requests[1], api.answered) {
				t.Fatalf("%d requests, the last one:\n%s", len(requests), requests[len(requests)-1])
			}
			recorded, err := os.ReadFile(recording)
			if err != nil {
				t.Fatal(err)
			}
			for what, text := range map[string]string{"the transcript": out, "the log": log, "the recording": string(recorded)} {
				if strings.Contains(text, key) {
					t.Errorf("the key is in %s", what)
				}
			}
			server.Close()
			real := out
			out, log, code = runHere(t, "run", "--trust", "-C", dir, "--script", recording, "--json", "what does a.txt say?")
			if code != exitDone || !strings.Contains(out, `"text":"It says: größe 😀."`) {
				t.Errorf("the recording replays to exit code %d\n%s\n%s", code, out, log)
			}
			if d := cmp.Diff(ownless(real), ownless(out)); d != "" {
				t.Errorf("the recording replays to another transcript (-real +replayed):\n%s", d)
			}
		})
	}
}

// own is what of a transcript is a run's own: its times, its session and the name
// of its profile.
var own = regexp.MustCompile(`"(at|session|profile)":"[^"]*"`)

func ownless(transcript string) []string {
	return strings.Split(own.ReplaceAllString(transcript, `"$1":"-"`), "\n")
}

// runHere runs the program in this process.
func runHere(t *testing.T, args ...string) (out, log string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(args, stdio{strings.NewReader(""), &stdout, &stderr})
	return stdout.String(), stderr.String(), code
}

func place(t *testing.T, texts map[string]string) {
	t.Helper()
	for path, text := range texts {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
