package openai

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/history/historytest"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel/wiretest"
	"github.com/agent-lsp/agent-lsp/session/projection"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// messages are the lines of a text.
func messages(lines string) []jsontext.Value {
	var out []jsontext.Value
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		out = append(out, jsontext.Value(strings.TrimSpace(line)))
	}
	return out
}

func diff(t *testing.T, want, got string) {
	t.Helper()
	if d := cmp.Diff(strings.ReplaceAll(strings.TrimSpace(want), "\n", ""), got); d != "" {
		t.Errorf("request (-want +got):\n%s", d)
	}
}

const talk = `{"role":"system","content":[{"type":"text","text":"base","cache_control":{"type":"ephemeral"}}]}
{"role":"user","content":[{"type":"text","text":"<go> & see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,aGk="}},{"type":"video_url","video_url":{"url":"data:video/mp4;base64,aGk="}}]}
{"role":"assistant","content":"Look.","reasoning_content":"hm","reasoning":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\"}"}},{"id":"c2","type":"function","function":{"name":"exec","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"text","_tool_references":["send"]}
{"role":"tool","tool_call_id":"c2","content":"Error: no"}
{"role":"system","tools":[{"type":"function","function":{"name":"send"}}]}
{"role":"system","content":"open files"}`

func TestChatSendsTheMessagesAsTheyAre(t *testing.T) {
	req := model.Request{Profile: model.Profile{Model: "m", MaxOutput: 9}, Messages: messages(talk), Tools: wiretest.Tools()[:1]}
	got, err := chatBody(req, false)
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.ReplaceAll(strings.Replace(talk, `,"_tool_references":["send"]`, "", 1), "\n", ",")
	end := `],"tools":[` + string(wiretest.Tools()[0]) + `],`
	diff(t, `{"model":"m","messages":[`+plain+end+`"max_tokens":9,"stream":true,"stream_options":{"include_usage":true}}`, string(got))
	if got, err = chatBody(req, true); err != nil {
		t.Fatal(err)
	}
	plain = strings.NewReplacer(`,"cache_control":{"type":"ephemeral"}`, "", `,"reasoning_content":"hm","reasoning":"hm"`, "").Replace(plain)
	diff(t, `{"model":"m","messages":[`+plain+end+`"max_completion_tokens":9,"stream":true,"stream_options":{"include_usage":true}}`, string(got))
}

func TestAConversationBecomesItems(t *testing.T) {
	p := New(model.Profile{}, Config{})
	got, err := p.responsesBody(model.Request{Profile: model.Profile{Model: "m", MaxOutput: 9}, Messages: messages(talk), Tools: []jsontext.Value{
		jsontext.Value(`{"type":"function","function":{"name":"read","description":"d","parameters":{"type":"object","z":1,"a":2}}}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, `{"model":"m","input":[{"role":"system","content":"base"},
{"role":"user","content":[{"type":"input_text","text":"<go> & see"},{"type":"input_image","image_url":"data:image/png;base64,aGk="},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,aGk="},{"type":"input_text","text":"[a video is not shown: the Responses API takes none]"}]},
{"role":"assistant","content":"Look."},
{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\": \"a\"}"},{"type":"function_call","call_id":"c2","name":"exec","arguments":"{}"},
{"type":"function_call_output","call_id":"c1","output":"text"},{"type":"function_call_output","call_id":"c2","output":"Error: no"},
{"role":"system","content":"open files"}],
"tools":[{"type":"function","name":"read","description":"d","parameters":{"type":"object","z":1,"a":2},"strict":false},{"type":"function","name":"send","parameters":{"type":"object","properties":{}},"strict":false}],
"max_output_tokens":9,"include":["reasoning.encrypted_content"],"store":false,"stream":true}`, string(got))
}

func TestSealedReasoningIsSentBackUnchangedOrNotAtAll(t *testing.T) {
	const first, second = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Größe?"}],"encrypted_content":"one=="}`, `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"two=="}`
	answer := `{"type":"response.completed","response":{"id":"r","status":"completed","output":[` + first + `,{"type":"message","content":[{"type":"output_text","text":"Look."}]},
		{"type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"a\"}"},` + second + `,{"type":"function_call","call_id":"call_b","name":"exec","arguments":""}]}}`
	srv := wiretest.Serve(t, wiretest.Reply{Body: wiretest.Frame("\n", wiretest.Event{Data: strings.ReplaceAll(answer, "\n", "")})})
	profile := model.Profile{Provider: "openai", API: "responses", BaseURL: srv.URL, Model: "m1"}
	resp, err := New(profile, Config{}).Respond(t.Context(), model.Request{Profile: profile, Messages: messages(`{"role":"user","content":"x"}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	turn := func(profile model.Profile, reasoning, text, path string) string {
		t.Helper()
		got, err := New(profile, Config{}).responsesBody(model.Request{Profile: profile, Messages: messages(`{"role":"user","content":"x"}
			{"role":"assistant","content":"` + text + `","reasoning_content":"` + reasoning + `","_sealed":` + string(resp.Sealed) + `,"tool_calls":[{"id":"call_a","function":{"name":"read","arguments":"{\"path\":\"` + path + `\"}"}},{"id":"call_b","function":{"name":"exec","arguments":"{}"}}]}
			{"role":"tool","tool_call_id":"call_a","content":"r"}
			{"role":"tool","tool_call_id":"call_b","content":"r"}`)})
		if err != nil {
			t.Fatal(err)
		}
		itemsFit(t, string(got))
		return string(got)
	}
	want := first + `,{"role":"assistant","content":"Look."},{"type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"a\"}"},` + second + `,{"type":"function_call","call_id":"call_b","name":"exec","arguments":"{}"},`
	if got := turn(profile, "Größe?", "Look.", "a"); !strings.Contains(got, `{"role":"user","content":"x"},`+want) {
		t.Errorf("the reasoning is not sent back as it came, %s:\n%s", want, got)
	}
	another := profile
	another.Model = "m2"
	for name, got := range map[string]string{
		"changed": turn(profile, "Größe", "Look.", "a"), "gone": turn(profile, "", "Look.", "a"), "another text": turn(profile, "Größe?", "Lock.", "a"),
		"another call": turn(profile, "Größe?", "Look.", "b"), "another model": turn(another, "Größe?", "Look.", "a"),
	} {
		if strings.Contains(got, `"reasoning"`) || !strings.Contains(got, `"call_id":"call_b"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	chat, err := chatBody(model.Request{Messages: messages(`{"role":"assistant","content":"x","_sealed":{"by":"y"}}`)}, false)
	if err != nil || strings.Contains(string(chat), "_sealed") {
		t.Errorf("a chat server is sent %s, %v", chat, err)
	}
}

func TestAModelThatDoesNotReasonIsNotAskedForIt(t *testing.T) {
	srv := wiretest.Serve(t,
		wiretest.Reply{Status: http.StatusBadRequest, Body: `{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include"}}`},
		wiretest.Reply{Body: wiretest.Frame("\n", encodeResponses(wiretest.Short())...)})
	profile := model.Profile{Provider: "openai", API: "responses", BaseURL: srv.URL}
	p := New(profile, Config{})
	for range 2 {
		if _, err := p.Respond(t.Context(), model.Request{Messages: messages(`{"role":"user","content":"x"}`)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var asked []bool
	for _, r := range srv.Seen() {
		asked = append(asked, strings.Contains(r.Body, "encrypted_content"))
	}
	if !slices.Equal(asked, []bool{true, false, false}) {
		t.Errorf("asked for reasoning: %v", asked)
	}
}

// itemsFit holds a request against what the Responses API demands: every call has
// one output, after it.
func itemsFit(t testing.TB, body string) {
	t.Helper()
	var r struct {
		Input []struct {
			Type, Role string
			Content    jsontext.Value
			CallID     string `json:"call_id"`
			Arguments  *string
			Output     *string
		} `json:"input"`
	}
	if err := json.Unmarshal([]byte(body), &r, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var open []string
	seen := map[string]bool{}
	for i, it := range r.Input {
		switch {
		case it.Type == "function_call":
			var object map[string]any
			if it.Arguments == nil || json.Unmarshal([]byte(*it.Arguments), &object) != nil || it.CallID == "" || seen[it.CallID] {
				t.Fatalf("item %d is no call: %s", i, body)
			}
			seen[it.CallID] = true
			open = append(open, it.CallID)
		case it.Type == "function_call_output":
			if len(open) == 0 || open[0] != it.CallID || it.Output == nil {
				t.Fatalf("item %d answers %q, want %v: %s", i, it.CallID, open, body)
			}
			open = open[1:]
		case it.Type == "reasoning":
		case len(open) > 0 || len(it.Content) < 3 || it.Role == "":
			t.Fatalf("item %d stands where %v are to be answered, or is empty: %s", i, open, body)
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls %v are not answered: %s", open, body)
	}
}

func TestAnyConversationIsWellFormed(t *testing.T) {
	for seed := range uint64(60/wiretest.Stride + 4) {
		talk := historytest.Random(rand.New(rand.NewPCG(seed, 3)), 6)
		p := New(model.Profile{}, Config{})
		for _, ask := range talk.Asks {
			events, err := talk.Events(ask.Events)
			if err != nil {
				t.Fatal(err)
			}
			h, err := history.Fold(func(yield func(store.Event, error) bool) {
				for _, e := range events {
					if !yield(e, nil) {
						return
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			typed, wire, err := new(projection.Projector).Conversation(t.Context(), h, projection.System{Base: "base", Dynamic: []string{"open"}},
				projection.Model{PromptCache: seed%2 == 0, Rendering: projection.Rendering(seed % 3)}, projection.Default(), projection.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			req := model.Request{Messages: wire, Tools: wiretest.Tools()}
			items, err := p.responsesBody(req)
			if err != nil {
				t.Fatal(err)
			}
			itemsFit(t, string(items))
			conversation := model.Request{Conversation: typed, Tools: wiretest.Tools()}
			if same, err := p.responsesBody(conversation); err != nil || !bytes.Equal(same, items) {
				t.Fatalf("%v: typed messages become\n%s\nand the same as JSON\n%s", err, same, items)
			}
			for _, strict := range []bool{false, true} {
				b, err := chatBody(req, strict)
				if err != nil || !jsontext.Value(b).IsValid() {
					t.Fatalf("%v: %s", err, b)
				}
				if same, err := chatBody(conversation, strict); err != nil || !bytes.Equal(same, b) {
					t.Fatalf("%v: typed messages become\n%s\nand the same as JSON\n%s", err, same, b)
				}
				for _, name := range []string{"_tool_references", "reasoning_content", "cache_control"} {
					if strings.Contains(string(b), `"`+name+`":`) && (strict || name == "_tool_references") {
						t.Fatalf("%s is sent: %s", name, b)
					}
				}
			}
		}
	}
}
