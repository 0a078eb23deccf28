package openai

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel/wiretest"
	"github.com/google/go-cmp/cmp"
)

// heard is what a chat server's stream of these chunks, one a line, came to.
func heard(t *testing.T, api wiretest.API, chunks string) wiretest.Heard {
	t.Helper()
	var events []wiretest.Event
	for line := range strings.Lines(strings.TrimSpace(chunks)) {
		events = append(events, wiretest.Event{Data: strings.TrimSpace(line)})
	}
	wire := &wiretest.Wire{Replies: []wiretest.Play{{Pieces: []string{wiretest.Frame("\n", events...)}}}}
	return wiretest.Ask{API: api, Base: "http://h", Config: httpmodel.Config{Transport: wire}}.Do(t.Context(), t)
}

// deltas is a chat stream whose deltas are the lines.
func deltas(lines, finish string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		b.WriteString(`{"choices":[{"index":0,"delta":` + strings.TrimSpace(line) + `}]}` + "\n")
	}
	return b.String() + `{"choices":[{"index":0,"delta":{},"finish_reason":"` + finish + `"}]}` + "\n[DONE]"
}

func TestCallsAreAssembledFromWhateverFragments(t *testing.T) {
	a, b := `{"path":"a"}`, `{"path":"b"}`
	two := []model.FunctionCall{{ID: "1", Name: "read", Arguments: a}, {ID: "2", Name: "read", Arguments: b}}
	nameless := []model.FunctionCall{{Name: "read", Arguments: a}, {Name: "read", Arguments: b}}
	for name, c := range map[string]struct {
		lines string
		want  []model.FunctionCall
	}{
		"by index, interleaved": {`{"tool_calls":[{"index":0,"id":"1","function":{"name":"read","arguments":""}},{"index":1,"id":"2","function":{"name":"read","arguments":""}}]}
			{"tool_calls":[{"index":1,"function":{"arguments":"{\"path\":"}},{"index":0,"function":{"arguments":"{\"pa"}}]}
			{"tool_calls":[{"index":0,"function":{"arguments":"th\":\"a\"}"}}]}
			{"tool_calls":[{"index":1,"function":{"arguments":"\"b\"}"}}]}`, two},
		"two in one delta without index":        {`{"tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"2","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]}`, two},
		"two in one delta without index and id": {`{"tool_calls":[{"function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]}`, nameless},
		"two begun in one delta without index and id": {`{"tool_calls":[{"function":{"name":"read","arguments":"{\"path\":"}},{"function":{"name":"read","arguments":"{\"path\":"}}]}
			{"tool_calls":[{"function":{"arguments":"\"a\"}"}},{"function":{"arguments":"\"b\"}"}}]}`, nameless},
		"one after the other without index and id": {`{"tool_calls":[{"function":{"name":"read","arguments":"{\"path\":"}}]}
			{"tool_calls":[{"function":{"arguments":"\"a\"}"}}]}
			{"tool_calls":[{"function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]}`, nameless},
		"the name again in each fragment": {`{"tool_calls":[{"function":{"name":"read","arguments":"{\"path\":"}}]}
			{"tool_calls":[{"function":{"name":"read","arguments":"\"a\"}"}}]}
			{"tool_calls":[{"function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]}`, nameless},
		"id in the first fragment only": {`{"tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"path\":"}}]}
			{"tool_calls":[{"function":{"arguments":"\"a\"}"}}]}
			{"tool_calls":[{"id":"2","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]}`, two},
		"id in every fragment, no index": {`{"tool_calls":[{"id":"1","function":{"name":"read","arguments":""}}]}
			{"tool_calls":[{"id":"2","function":{"name":"read","arguments":"{\"path\":"}}]}
			{"tool_calls":[{"id":"1","function":{"arguments":"{\"path\":\"a\"}"}}]}
			{"tool_calls":[{"id":"2","function":{"arguments":"\"b\"}"}}]}`, two},
		"name in a later fragment": {`{"tool_calls":[{"index":0,"id":"1","function":{}}]}
			{"tool_calls":[{"index":0,"function":{"name":"read"}}]}
			{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"a\"}"}}]}`, two[:1]},
		"name in a later fragment, no index": {`{"tool_calls":[{"id":"1"}]}
			{"tool_calls":[{"function":{"name":"read"}}]}
			{"tool_calls":[{"function":{"arguments":"{\"path\":\"a\"}"}}]}`, two[:1]},
		"fragments of a group without anything": {`{"tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"path\":"}},{"id":"2","function":{"name":"read","arguments":"{\"path\":"}}]}
			{"tool_calls":[{"function":{"arguments":"\"a\"}"}},{"function":{"arguments":"\"b\"}"}}]}`, two},
		"every call has index 0": {`{"tool_calls":[{"index":0,"id":"1","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}
			{"tool_calls":[{"index":0,"id":"2","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]}`, two},
		"indices that begin elsewhere": {`{"tool_calls":[{"index":4,"id":"1","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}
			{"tool_calls":[{"index":9,"id":"2","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]}`, two},
		"by id, interleaved at one index": {`{"tool_calls":[{"index":0,"id":"1","function":{"name":"read","arguments":"{\"pa"}}]}
			{"tool_calls":[{"index":0,"id":"2","function":{"name":"read","arguments":"{\"path\":"}}]}
			{"tool_calls":[{"index":0,"id":"1","function":{"arguments":"th\":\"a\"}"}}]}
			{"tool_calls":[{"index":0,"id":"2","function":{"arguments":"\"b\"}"}}]}`, two},
		"by id and name, interleaved at one index": {`{"tool_calls":[{"index":0,"id":"1","function":{"name":"read","arguments":"{\"pa"}}]}
			{"tool_calls":[{"index":0,"id":"2","function":{"name":"read","arguments":"{\"path\":"}}]}
			{"tool_calls":[{"index":0,"id":"1","function":{"name":"read","arguments":"th\":\"a\"}"}}]}
			{"tool_calls":[{"index":0,"id":"2","function":{"name":"read","arguments":"\"b\"}"}}]}`, two},
		"another id in each fragment": {`{"tool_calls":[{"index":0,"id":"1","function":{"name":"read","arguments":"{\"pa"}}]}
			{"tool_calls":[{"index":0,"id":"1","function":{"arguments":"th\":"}}]}
			{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}`, two[:1]},
		"a string index": {`{"tool_calls":[{"index":"0","id":"1","function":{"name":"read","arguments":"{\"path\":"}},{"index":"1","id":"2","function":{"name":"read"}}]}
			{"tool_calls":[{"index":"1","function":{"arguments":"{\"path\":\"b\"}"}},{"index":"0","function":{"arguments":"\"a\"}"}}]}`, two},
		"a float index": {`{"tool_calls":[{"index":0.0,"id":"1","function":{"name":"read","arguments":"{\"path\":"}},{"index":1.0,"id":"2","function":{"name":"read"}}]}
			{"tool_calls":[{"index":1.0,"function":{"arguments":"{\"path\":\"b\"}"}},{"index":0.0,"function":{"arguments":"\"a\"}"}}]}`, two},
		"arguments as an object": {`{"tool_calls":[{"index":0,"id":"1","function":{"name":"read","arguments":{"path":"a"}}}]}`, two[:1]},
		"of old servers": {`{"function_call":{"name":"read","arguments":"{\"path\":"}}
			{"function_call":{"arguments":"\"a\"}"}}`, nameless[:1]},
		"empty arguments": {
			`{"tool_calls":[{"index":0,"id":"1","function":{"name":"x","arguments":""}},{"index":1,"id":"2","function":{"name":"x"}},{"index":2,"id":"3","function":{"name":"x","arguments":" "}},{"index":3,"id":"4","function":{"name":"x","arguments":"null"}},{"index":4,"id":"5","function":{"name":"x","arguments":null}}]}`,
			[]model.FunctionCall{{ID: "1", Name: "x", Arguments: "{}"}, {ID: "2", Name: "x", Arguments: "{}"}, {ID: "3", Name: "x", Arguments: "{}"}, {ID: "4", Name: "x", Arguments: "{}"}, {ID: "5", Name: "x", Arguments: "{}"}},
		},
		"broken arguments stay as they are": {`{"tool_calls":[{"index":0,"id":"1","function":{"name":"x","arguments":"{\"p\": \"a"}}]}`, []model.FunctionCall{{ID: "1", Name: "x", Arguments: `{"p": "a`}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := heard(t, chatAPI, deltas(c.lines, "stop"))
			h.Want(t, model.Response{Calls: c.want, Finish: "tool_calls"})
		})
	}
}

func TestWhyAnAnswerEnded(t *testing.T) {
	const said, call = `{"content":"x"}`, `{"tool_calls":[{"index":0,"id":"1","function":{"name":"write","arguments":"{\"path\":\"a\",\"text\":\"half"}}]}`
	for _, c := range []struct{ line, finish, want string }{
		{said, "stop", "stop"},
		{said, "length", "length"},
		{call, "length", "length"},
		{call, "stop", "tool_calls"},
		{call, "tool_calls", "tool_calls"},
		{call, "function_call", "tool_calls"},
		{call, "MAX_TOKENS", "max_tokens"},
		{said, "content_filter", "content_filter"},
		{`{"refusal":"I cannot"}`, "stop", "refusal"},
		{said, "eos", "eos"},
	} {
		if got := heard(t, chatAPI, deltas(c.line, c.finish)).Response.Finish; got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.finish, c.line, got, c.want)
		}
	}
	heard(t, chatAPI, deltas(`{"content":""}`, "content_filter")).Fails(t, model.BadRequest, "content_filter")
	heard(t, chatAPI, deltas(said, "error")).Fails(t, model.Overloaded, "broke off")
	heard(t, chatAPI, `[DONE]`).Fails(t, model.Network, "without an answer")
	heard(t, chatAPI, `{"choices":[{"delta":{"content":"x"}}]}`+"\n[DONE]").Want(t, model.Response{Text: new("x"), Finish: "stop"})
	if h := heard(t, chatAPI, deltas(`{"refusal":"I cannot"}`, "stop")); *h.Response.Text != "I cannot" || h.Text != "I cannot" {
		t.Errorf("a refusal is %v, shown %q", h.Response, h.Text)
	}
	for reason, want := range map[string]string{"max_output_tokens": "max_output_tokens", "content_filter": "content_filter"} {
		h := heard(t, responsesAPI, `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"1","name":"write","arguments":"{\"path"}}
			{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"`+reason+`"}}}`)
		h.Want(t, model.Response{Calls: []model.FunctionCall{{ID: "1", Name: "write", Arguments: `{"path`}}, Finish: want, ProviderID: "r"})
	}
	heard(t, responsesAPI, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`).Fails(t, model.BadRequest, "content_filter")
	heard(t, responsesAPI, `{"type":"response.output_text.delta","delta":"x"}
		{"type":"response.failed","response":{"error":null}}`).Fails(t, model.Overloaded, "the model failed")
	h := heard(t, responsesAPI, `{"type":"response.refusal.delta","delta":"I cannot"}
		{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot"}]}]}}`)
	h.Want(t, model.Response{Text: new("I cannot"), Finish: "refusal"})
}

func TestMembersOfAnotherTypeAreRead(t *testing.T) {
	const said, end = `"delta":{"content":"x"}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	plain := model.Response{Text: new("x"), Finish: "stop"}
	counted := plain
	counted.Usage = model.Usage{Input: 9, CachedInput: 4, Output: 2, Reasoning: 1}
	for chunk, want := range map[string]model.Response{
		`{"choices":[{"index":"0",` + said + `}]}`:              plain,
		`{"choices":[{"index":0.0,` + said + `}]}`:              plain,
		`{"choices":[{"index":null,` + said + `}]}`:             plain,
		`{"error":"","choices":[{` + said + `}]}`:               plain,
		`{"error":{},"choices":[{` + said + `}]}`:               plain,
		`{"error":{ },"choices":[{` + said + `,"error":{}}]}`:   plain,
		`{"error":null,"choices":[{` + said + `,"error":""}]}`:  plain,
		`{"error":false,"choices":[{` + said + `,"error":[]}]}`: plain,
		`{"choices":[{` + said + `}],"usage":{"prompt_tokens":9.0,"completion_tokens":2.0,"prompt_tokens_details":{"cached_tokens":4.0},"completion_tokens_details":{"reasoning_tokens":1.0}}}`:       counted,
		`{"choices":[{` + said + `}],"usage":{"prompt_tokens":"9","completion_tokens":"2","prompt_tokens_details":{"cached_tokens":"4"},"completion_tokens_details":{"reasoning_tokens":"1"}}}`:       counted,
		`{"choices":[{` + said + `}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1},"cost":"$0.1"}}`: counted,
	} {
		h := heard(t, chatAPI, chunk+"\n"+end+"\n[DONE]")
		if h.Err != nil {
			t.Errorf("%s: %v", chunk, h.Err)
			continue
		}
		h.Want(t, want)
	}
	heard(t, chatAPI, `{"error":{},"choices":[]}`).Fails(t, model.Overloaded)
	for _, finish := range []string{``, `,"finish_reason":null`, `,"finish_reason":""`, `,"finish_reason":"stop"`} {
		srv := wiretest.Serve(t, wiretest.Reply{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"choices":[{"message":{"role":"assistant","content":"x"}` + finish + `}]}`})
		wiretest.Ask{API: chatAPI, Base: srv.URL}.Do(t.Context(), t).Want(t, plain)
	}
	body := `{"type":"response.completed","response":{"id":"r","status":"completed","error":{},"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}],"usage":{"input_tokens":"9","input_tokens_details":{"cached_tokens":4.0},"output_tokens":2.0,"output_tokens_details":{"reasoning_tokens":"1"}}}}`
	counted.ProviderID = "r"
	heardWhole := heard(t, responsesAPI, body)
	heardWhole.Text, heardWhole.Deltas = "x", []model.Delta{{Text: "x"}} // the end alone is not shown
	heardWhole.Want(t, counted)
}

func TestReasoningIsReadUnderEveryName(t *testing.T) {
	for _, line := range []string{
		`{"reasoning_content":"hm"}`, `{"reasoning":"hm"}`, `{"reasoning_content":"hm","reasoning":"hm"}`,
		`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`,
	} {
		h := heard(t, chatAPI, deltas(line+"\n{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}", "stop"))
		h.Want(t, model.Response{Text: new("x"), Reasoning: new("hm"), Finish: "stop"})
	}
}

func TestUsageIsTakenFromWhereverItStands(t *testing.T) {
	for name, chunks := range map[string]string{
		"last":            deltas(`{"content":"x"}`, "stop"),
		"with the finish": `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":1}}}`,
		"under another name": `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}
			{"choices":[],"usage":{"prompt_tokens":9,"prompt_cache_hit_tokens":4,"completion_tokens":2}}`,
	} {
		want := map[string]model.Usage{"with the finish": {Input: 9, Output: 2, Reasoning: 1}, "under another name": {Input: 9, CachedInput: 4, Output: 2}}[name]
		if diff := cmp.Diff(want, heard(t, chatAPI, chunks).Response.Usage); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Servers that speak Responses beside OpenAI number and name items as they like.
func TestCallsOfAResponseAreToldApart(t *testing.T) {
	item := func(event, rest, id, name, arguments string) string {
		return `{"type":"response.output_item.` + event + `"` + rest + `,"item":{"type":"function_call","id":"i` + id + `","call_id":"` + id + `","name":"` + name + `","arguments":` + text(arguments) + `}}`
	}
	piece := func(rest, arguments string) string {
		return `{"type":"response.function_call_arguments.delta"` + rest + `,"delta":` + text(arguments) + `}`
	}
	const a, b, end, zero = `{"path":"a"}`, `{"path":"b"}`, `{"type":"response.completed","response":{"id":"r"}}`, `,"output_index":0`
	want := func(ids ...string) []model.FunctionCall {
		return []model.FunctionCall{{ID: ids[0], Name: "read", Arguments: a}, {ID: ids[1], Name: "read", Arguments: b}}
	}
	for name, c := range map[string]struct {
		lines []string
		want  []model.FunctionCall
	}{
		"every item has index 0":     {[]string{item("added", zero, "1", "read", ""), item("done", zero, "1", "read", a), item("added", zero, "2", "read", ""), item("done", zero, "2", "read", b)}, want("1", "2")},
		"no index":                   {[]string{item("added", "", "1", "read", ""), item("done", "", "1", "read", a), item("added", "", "2", "read", ""), item("done", "", "2", "read", b)}, want("1", "2")},
		"no index, both begun first": {[]string{item("added", "", "1", "read", ""), item("added", "", "2", "read", ""), item("done", "", "1", "read", a), item("done", "", "2", "read", b)}, want("1", "2")},
		"ends alone, no index":       {[]string{item("done", "", "1", "read", a), item("done", "", "2", "read", b)}, want("1", "2")},
		"another id in each event": {[]string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"x1","call_id":"1","name":"read","arguments":""}}`, piece(`,"output_index":0,"item_id":"x2"`, a), item("done", zero, "1", "read", a),
			item("done", `,"output_index":1`, "2", "read", b),
		}, want("1", "2")},
		"no id of the call":               {[]string{item("added", zero, "", "read", ""), piece(zero, a), item("done", zero, "", "read", a), item("added", `,"output_index":1`, "", "read", ""), item("done", `,"output_index":1`, "", "read", b)}, want("", "")},
		"one id for two calls":            {[]string{item("added", zero, "1", "read", ""), item("done", zero, "1", "read", a), item("added", `,"output_index":1`, "1", "read", ""), item("done", `,"output_index":1`, "1", "read", b)}, want("1", "1")},
		"one id for two calls, one begun": {[]string{item("added", zero, "1", "read", ""), item("done", zero, "1", "read", a), item("done", zero, "1", "read", b)}, want("1", "1")},
		"an index for the first alone":    {[]string{item("done", `,"output_index":7`, "1", "read", a), item("done", "", "2", "read", b)}, want("1", "2")},
		"pieces by the item's id, no index, no end": {[]string{
			item("added", "", "1", "read", ""), item("added", "", "2", "read", ""), piece(`,"item_id":"i1"`, `{"path":`), piece(`,"item_id":"i2"`, b), piece(`,"item_id":"i1"`, `"a"}`),
		}, want("1", "2")},
		"pieces by the index, no end": {[]string{item("added", zero, "1", "read", ""), item("added", `,"output_index":1`, "2", "read", ""), piece(`,"output_index":1`, b), piece(zero, a)}, want("1", "2")},
		"all arguments at once": {[]string{
			item("added", zero, "1", "read", ""), piece(zero, `{"pa`), `{"type":"response.function_call_arguments.done","output_index":0,"arguments":` + text(a) + `}`, item("done", `,"output_index":1`, "2", "read", b),
		}, want("1", "2")},
		"in the end of the answer alone": {[]string{`{"type":"response.completed","response":{"id":"r","output":[{"type":"function_call","call_id":"1","name":"read","arguments":` + text(a) + `},{"type":"function_call","call_id":"2","name":"read","arguments":` + text(b) + `}]}}`}, want("1", "2")},
		"empty arguments": {
			[]string{item("done", zero, "1", "x", ""), item("done", `,"output_index":1`, "2", "x", " "), item("done", `,"output_index":2`, "3", "x", "null"), `{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","call_id":"4","name":"x"}}`},
			[]model.FunctionCall{{ID: "1", Name: "x", Arguments: "{}"}, {ID: "2", Name: "x", Arguments: "{}"}, {ID: "3", Name: "x", Arguments: "{}"}, {ID: "4", Name: "x", Arguments: "{}"}},
		},
		"broken arguments stay as they are": {[]string{item("done", zero, "1", "x", `{"p": "a`)}, []model.FunctionCall{{ID: "1", Name: "x", Arguments: `{"p": "a`}}},
		"arguments as an object":            {[]string{`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"1","name":"x","arguments":{"path":"a"}}}`}, []model.FunctionCall{{ID: "1", Name: "x", Arguments: a}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := heard(t, responsesAPI, strings.Join(append(c.lines, end), "\n"))
			h.Want(t, model.Response{ProviderID: "r", Finish: "tool_calls", Calls: c.want})
		})
	}
}

func TestCallsOfAResponseWithoutItsDoneEvents(t *testing.T) {
	h := heard(t, responsesAPI, `{"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","call_id":"2","name":"b","arguments":""}}
		{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"1","name":"a","arguments":""}}
		{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"x\""}
		{"type":"response.function_call_arguments.delta","output_index":1,"delta":":1}"}
		{"type":"response.completed","response":{"id":"r"}}`)
	h.Want(t, model.Response{ProviderID: "r", Finish: "tool_calls", Calls: []model.FunctionCall{{ID: "1", Name: "a", Arguments: `{"x":1}`}, {ID: "2", Name: "b", Arguments: "{}"}}})
}
