package anthropic

import (
	"bytes"
	"math/rand/v2"
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

// bodyFor is the request that p would send.
func bodyFor(t testing.TB, profile model.Profile, messages ...string) string {
	t.Helper()
	req := model.Request{Profile: profile}
	for _, m := range messages {
		req.Messages = append(req.Messages, jsontext.Value(m))
	}
	b, err := body(req)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// check compares the request for lines of messages, from its system prompt on.
func check(t *testing.T, profile model.Profile, messages, want string) {
	t.Helper()
	got := bodyFor(t, profile, strings.Split(strings.TrimSpace(messages), "\n")...)
	_, got, _ = strings.Cut(got, `"max_tokens":8192,`)
	got = strings.TrimSuffix(got, `,"stream":true}`)
	want = strings.ReplaceAll(strings.TrimSpace(want), "\n", "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestAConversationBecomesBlocks(t *testing.T) {
	check(t, model.Profile{}, `
{"role":"system","content":[{"type":"text","text":"base","cache_control":{"type":"ephemeral"}}]}
{"role":"system","content":"summary"}
{"role":"user","content":"<go> & see"}
{"role":"assistant","content":"Let me look. ","reasoning_content":"hm","tool_calls":[{"id":"c.1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\"}"}},{"id":"c2","type":"function","function":{"name":"exec","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c.1","content":"text"}
{"role":"tool","tool_call_id":"c2","content":"Error: no such program"}
{"role":"user","content":"hurry"}
{"role":"assistant","content":"One"}
{"role":"assistant","content":"Two"}
{"role":"user","content":"next"}
{"role":"system","content":"open files"}`, `
"system":[{"type":"text","text":"base","cache_control":{"type":"ephemeral"}},{"type":"text","text":"summary"}],
"messages":[{"role":"user","content":[{"type":"text","text":"<go> & see"}]},
{"role":"assistant","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"c_1_ba290cdf","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"c2","name":"exec","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c_1_ba290cdf","content":[{"type":"text","text":"text"}]},{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"Error: no such program"}],"is_error":true},{"type":"text","text":"hurry"}]},
{"role":"assistant","content":[{"type":"text","text":"One"},{"type":"text","text":"Two"}]},
{"role":"user","content":[{"type":"text","text":"next"},{"type":"text","text":"<system>\nopen files\n</system>"}]}]`)
}

func TestTheEndOfTheConversationIsCached(t *testing.T) {
	check(t, model.Profile{PromptCache: true}, `
{"role":"user","content":"go"}
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"text"}
{"role":"system","content":"open files"}`, `
"messages":[{"role":"user","content":[{"type":"text","text":"go"}]},
{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"text"}],"cache_control":{"type":"ephemeral"}},{"type":"text","text":"<system>\nopen files\n</system>"}]}]`)
}

func TestFilesBecomeSources(t *testing.T) {
	check(t, model.Profile{}, `
{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},{"type":"file","file":{"filename":"a \"b\".pdf","file_data":"data:application/pdf;base64,aGk="}},{"type":"video_url","video_url":{"url":"data:video/mp4;base64,aGk="}},{"type":"image_url","image_url":{"url":"https://h/a.png"}}]}`, `
"messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},
{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="},"title":"a \"b\".pdf"},
{"type":"text","text":"[a video is not shown: the Messages API does not take it in this form]"},
{"type":"text","text":"[a image is not shown: the Messages API does not take it in this form]"}]}]`)
}

func TestToolsThatComeLater(t *testing.T) {
	check(t, model.Profile{}, `
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"activate","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"done","_tool_references":["send","list"]}
{"role":"system","tools":[{"type":"function","function":{"name":"send"}}]}`, `
"messages":[{"role":"user","content":[{"type":"text","text":"(the conversation goes on)"}]},
{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"activate","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"tool_reference","tool_name":"send"},{"type":"tool_reference","tool_name":"list"}]}]}],
"tools":[{"name":"send","input_schema":{"type":"object","properties":{}}}]`)
	b, err := body(model.Request{Profile: model.Profile{MaxOutput: 5}, Tools: []jsontext.Value{
		jsontext.Value(`{"type":"function","function":{"name":"a","description":"does","parameters":{"type":"object","z":1,"a":2}}}`),
		jsontext.Value(`{"type":"function","function":{"name":"b"},"defer_loading":true}`),
	}})
	want := `{"model":"","max_tokens":5,"messages":[],"tools":[{"name":"a","description":"does","input_schema":{"type":"object","z":1,"a":2}},{"name":"b","input_schema":{"type":"object","properties":{}},"defer_loading":true}],"stream":true}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
}

func TestBrokenArgumentsAreSentAsAnObject(t *testing.T) {
	for _, arguments := range []string{`{"p": "a`, `p": 1}`, `null`, `"x"`, `[1]`, `NaN`, ``, `{"a":1,"a":2}`} {
		quoted, _ := json.Marshal(arguments)
		got := bodyFor(t, model.Profile{}, `{"role":"user","content":"x"}`,
			`{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"x","arguments":`+string(quoted)+`}}]}`, `{"role":"tool","tool_call_id":"1","content":"r"}`)
		wellFormed(t, got)
	}
}

// thinking is a reply whose signed blocks stand between its text and its calls.
const thinking = `{"type":"message","id":"m","role":"assistant","stop_reason":"tool_use","content":[
{"type":"thinking","thinking":"first","signature":"s1"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"Größe "},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}},
{"type":"thinking","thinking":"unsigned","signature":""},{"type":"thinking","thinking":"second","signature":"s2"},{"type":"text","text":"and <b>."},{"type":"tool_use","id":"t2","name":"read","input":{"path":"b"}}]}`

func TestSignedThinkingIsSentBackUnchangedOrNotAtAll(t *testing.T) {
	wire := &wiretest.Wire{Replies: []wiretest.Play{{Header: map[string]string{"Content-Type": "application/json"}, Pieces: []string{thinking}}}}
	profile := model.Profile{Provider: "anthropic", BaseURL: "http://h", Model: "m1"}
	resp, err := New(profile, Config{Transport: wire}).Respond(t.Context(), model.Request{Profile: profile, Messages: []jsontext.Value{jsontext.Value(`{"role":"user","content":"x"}`)}}, nil)
	if err != nil || *resp.Reasoning != "first\nunsigned\nsecond" || *resp.Text != "Größe and <b>." {
		t.Fatalf("%+v, %v", resp, err)
	}
	said := turn{*resp.Reasoning, *resp.Text, "b", string(resp.Sealed)}
	want := `"content":[{"type":"thinking","thinking":"first","signature":"s1"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"Größe"},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}},` +
		`{"type":"thinking","thinking":"second","signature":"s2"},{"type":"text","text":"and <b>."},{"type":"tool_use","id":"t2","name":"read","input":{"path":"b"}}]`
	if got := said.body(t, profile); !strings.Contains(got, want) {
		t.Errorf("the thinking is not sent back as it came, %s:\n%s", want, got)
	}
	for name, change := range map[string]func(*turn){
		"changed reasoning": func(x *turn) { x.reasoning += "." },
		"no reasoning":      func(x *turn) { x.reasoning = "" },
		"changed text":      func(x *turn) { x.text = strings.Replace(x.text, "a", "o", 1) },
		"no text":           func(x *turn) { x.text = "" },
		"another call":      func(x *turn) { x.path = "c" },
		"no signature":      func(x *turn) { x.sealed = "null" },
		"a torn record":     func(x *turn) { x.sealed = `{"by":"messages m1","sum":7}` },
		"fewer parts":       func(x *turn) { x.sealed = strings.Replace(x.sealed, `null,`, ``, 1) },
		"more parts":        func(x *turn) { x.sealed = strings.Replace(x.sealed, `null,`, `null,null,`, 1) },
	} {
		x := said
		change(&x)
		if got := x.body(t, profile); strings.Contains(got, "thinking") || !strings.Contains(got, `"id":"t1"`) || !strings.Contains(got, `"id":"t2"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	profile.Model = "m2"
	if got := said.body(t, profile); strings.Contains(got, "thinking") {
		t.Errorf("another model is sent the thinking: %s", got)
	}
}

// turn is a recorded reply with the calls of thinking.
type turn struct{ reasoning, text, path, sealed string }

func (x turn) body(t *testing.T, profile model.Profile) string {
	t.Helper()
	got := bodyFor(t, profile, `{"role":"user","content":"x"}`,
		`{"role":"assistant","content":`+text(x.text)+`,"reasoning_content":`+text(x.reasoning)+`,"_sealed":`+x.sealed+`,"tool_calls":[{"id":"t1","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"t2","function":{"name":"read","arguments":`+text(`{"path":"`+x.path+`"}`)+`}}]}`,
		`{"role":"tool","tool_call_id":"t1","content":"r"}`, `{"role":"tool","tool_call_id":"t2","content":"r"}`)
	wellFormed(t, got)
	return got
}

// wellFormed holds a request against what the API demands.
func wellFormed(t testing.TB, body string) {
	t.Helper()
	var r struct {
		Model     string  `json:"model"`
		MaxTokens int     `json:"max_tokens"`
		System    []block `json:"system"`
		Messages  []struct {
			Role    string           `json:"role"`
			Content []jsontext.Value `json:"content"`
		} `json:"messages"`
		Tools  []jsontext.Value `json:"tools"`
		Stream bool             `json:"stream"`
	}
	if err := json.Unmarshal([]byte(body), &r, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	breakpoints := strings.Count(body, `"cache_control":`)
	var open []string
	for i, m := range r.Messages {
		if want := [...]string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			t.Fatalf("message %d is of %s and has %d blocks, want %s: %s", i, m.Role, len(m.Content), want, body)
		}
		var calls, results []string
		for j, raw := range m.Content {
			var b struct {
				Type, Text, ID, ToolUseID string
				Input                     map[string]any
			}
			if err := json.Unmarshal(raw, &b, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatalf("message %d, block %d: %v: %s", i, j, err, raw)
			}
			var id struct {
				ToolUseID string `json:"tool_use_id"`
			}
			_ = json.Unmarshal(raw, &id)
			switch b.Type {
			case "text":
				if strings.TrimSpace(b.Text) == "" {
					t.Fatalf("message %d, block %d is blank: %s", i, j, body)
				}
			case "tool_use":
				if b.Input == nil || b.ID == "" {
					t.Fatalf("message %d, block %d is no call: %s", i, j, raw)
				}
				calls = append(calls, b.ID)
			case "tool_result":
				if len(results) != j {
					t.Fatalf("message %d: a result after other content: %s", i, body)
				}
				results = append(results, id.ToolUseID)
			}
		}
		if !slices.Equal(open, results) {
			t.Fatalf("message %d answers %v, want %v: %s", i, results, open, body)
		}
		open = calls
	}
	if len(open) > 0 || breakpoints > 4 {
		t.Fatalf("calls %v are not answered, %d breakpoints: %s", open, breakpoints, body)
	}
}

func TestAnyConversationIsWellFormed(t *testing.T) {
	for seed := range uint64(60/wiretest.Stride + 4) {
		talk := historytest.Random(rand.New(rand.NewPCG(seed, 1)), 6)
		profile := model.Profile{PromptCache: seed%2 == 0}
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
				projection.Model{PromptCache: profile.PromptCache, Rendering: projection.Rendering(seed % 3)}, projection.Default(), projection.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := body(model.Request{Profile: profile, Messages: wire, Tools: wiretest.Tools()})
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, string(b))
			same, err := body(model.Request{Profile: profile, Conversation: typed, Tools: wiretest.Tools()})
			if err != nil || !bytes.Equal(same, b) {
				t.Fatalf("%v: typed messages become\n%s\nand the same as JSON\n%s", err, same, b)
			}
		}
	}
}

func TestBlocksGoBackAsTheyCame(t *testing.T) {
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	call := func(id, path string) string {
		return `{"type":"tool_use","id":"` + id + `","name":"read","input":{"path":"` + path + `"}}`
	}
	const signed = `{"type":"thinking","thinking":"hm","signature":"s"}`
	for _, blocks := range []string{
		text("One.") + "," + call("t1", "a"),
		text("One.") + "," + text("Two.") + "," + call("t1", "a"),
		text("One.") + "," + call("t1", "a") + "," + text("Two.") + "," + call("t2", "b"),
		call("t1", "a") + "," + text("One.") + "," + call("t2", "b"),
		text("One.") + "," + signed + "," + call("t1", "a"),
		signed + "," + call("t1", "a") + "," + text("One.") + "," + signed + "," + text("Two.") + "," + call("t2", "b"),
	} {
		wire := &wiretest.Wire{Replies: []wiretest.Play{{Header: map[string]string{"Content-Type": "application/json"}, Pieces: []string{`{"type":"message","id":"m","stop_reason":"tool_use","content":[` + blocks + `]}`}}}}
		profile := model.Profile{Provider: "anthropic", BaseURL: "http://h", Model: "m1"}
		resp, err := New(profile, Config{Transport: wire}).Respond(t.Context(), model.Request{Profile: profile, Messages: []jsontext.Value{jsontext.Value(`{"role":"user","content":"x"}`)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		said := &model.Message{Role: model.RoleAssistant, Calls: resp.Calls, Sealed: resp.Sealed}
		if resp.Text != nil {
			said.Content = []model.Part{{Text: *resp.Text}}
		}
		if resp.Reasoning != nil {
			said.Reasoning = *resp.Reasoning
		}
		got, err := body(model.Request{Profile: profile, Conversation: []*model.Message{{Role: model.RoleUser, Content: []model.Part{{Text: "x"}}}, said}})
		if err != nil || !strings.Contains(string(got), `"content":[`+blocks+`]`) {
			t.Errorf("%v: %s\nwant the blocks %s", err, got, blocks)
		}
	}
}
