package openai

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel/wiretest"
	"github.com/go-json-experiment/json"
)

type object = map[string]any

func text(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(b)
}

func provider(p model.Profile, cfg httpmodel.Config) model.Model { return New(p, cfg) }

var chatAPI = wiretest.API{
	New: provider, Profile: model.Profile{Provider: "openai", Model: "m"}, Path: "chat/completions", Header: "Authorization",
	Encode: encodeChat, Whole: wholeChat, Spare: 2,
	Alive: []wiretest.Event{{Data: `{"id":"answer_1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`}, {Data: `{"choices":[]}`}},
	Refuse: func(name, message string) wiretest.Event {
		return wiretest.Event{Data: text(object{"error": object{"type": name, "message": message}})}
	},
}

var responsesAPI = wiretest.API{
	New: provider, Profile: model.Profile{Provider: "openai", Model: "m", API: "responses"}, Path: "responses", Header: "Authorization",
	Encode: encodeResponses, Whole: wholeResponses,
	Alive: []wiretest.Event{{Name: "response.in_progress", Data: `{"type":"response.in_progress","response":{"id":"answer_1","status":"in_progress","output":[]}}`}, {Name: "keepalive", Data: `{"type":"keepalive"}`}},
	Refuse: func(name, message string) wiretest.Event {
		return wiretest.Event{Name: "response.failed", Data: text(object{"type": "response.failed", "response": object{"id": "r", "status": "failed", "error": object{"code": name, "message": message}}})}
	},
}

func TestChatOnTheWire(t *testing.T)      { wiretest.Run(t, chatAPI) }
func TestResponsesOnTheWire(t *testing.T) { wiretest.Run(t, responsesAPI) }

func chatUsageOf(u model.Usage) object {
	return object{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CachedInput}, "completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

// encodeChat is a stream of chat completions.
func encodeChat(s wiretest.Said) []wiretest.Event {
	var out []wiretest.Event
	chunk := func(delta object, finish any) {
		out = append(out, wiretest.Event{Data: text(object{
			"id": s.ID, "object": "chat.completion.chunk", "error": nil, "usage": nil,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		})})
	}
	chunk(object{"role": "assistant", "content": nil}, nil)
	for _, r := range s.Reasoning {
		chunk(object{"reasoning_content": r, "content": nil}, nil)
	}
	for _, t := range s.Text {
		chunk(object{"content": t}, nil)
	}
	for i, c := range s.Calls {
		chunk(object{"tool_calls": []object{{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil)
		for _, a := range c.Arguments {
			chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": a}}}}, nil)
		}
	}
	chunk(object{}, s.Finish)
	return append(out, wiretest.Event{Data: text(object{"id": s.ID, "choices": []object{}, "usage": chatUsageOf(s.Usage)})}, wiretest.Event{Data: "[DONE]"})
}

func wholeChat(s wiretest.Said) string {
	message := object{"role": "assistant", "content": strings.Join(s.Text, ""), "reasoning": strings.Join(s.Reasoning, "")}
	var calls []object
	for _, c := range s.Calls {
		calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": strings.Join(c.Arguments, "")}})
	}
	message["tool_calls"] = calls
	return text(object{"id": s.ID, "object": "chat.completion", "usage": chatUsageOf(s.Usage), "choices": []object{{"index": 0, "message": message, "finish_reason": s.Finish}}})
}

// outputOf is the items of a reply.
func outputOf(s wiretest.Said) []object {
	var out []object
	if s.Reasoning != nil {
		out = append(out, object{"type": "reasoning", "id": "rs_1", "summary": []object{{"type": "summary_text", "text": strings.Join(s.Reasoning, "")}}, "encrypted_content": "sealed=="})
	}
	if s.Text != nil {
		out = append(out, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []object{{"type": "output_text", "text": strings.Join(s.Text, "")}}})
	}
	for _, c := range s.Calls {
		out = append(out, object{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": strings.Join(c.Arguments, ""), "status": "completed"})
	}
	return out
}

func bodyOf(s wiretest.Said, status string) object {
	u := s.Usage
	return object{"id": s.ID, "object": "response", "status": status, "error": nil, "incomplete_details": nil, "output": outputOf(s), "usage": object{
		"input_tokens": u.Input, "input_tokens_details": object{"cached_tokens": u.CachedInput},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}}
}

func wholeResponses(s wiretest.Said) string { return text(bodyOf(s, "completed")) }

// encodeResponses is a stream of the Responses API.
func encodeResponses(s wiretest.Said) []wiretest.Event {
	var out []wiretest.Event
	event := func(name string, members object) {
		members["type"], members["sequence_number"] = name, len(out)
		out = append(out, wiretest.Event{Name: name, Data: text(members)})
	}
	event("response.created", object{"response": object{"id": s.ID, "object": "response", "status": "in_progress", "error": nil, "output": []object{}}})
	for i, item := range outputOf(s) {
		open := object{"type": item["type"], "id": item["id"], "status": "in_progress"}
		if item["type"] == "function_call" {
			open["call_id"], open["name"], open["arguments"] = item["call_id"], item["name"], ""
		}
		event("response.output_item.added", object{"output_index": i, "item": open})
		switch item["type"] {
		case "reasoning":
			event("response.reasoning_summary_part.added", object{"output_index": i, "item_id": item["id"], "summary_index": 0, "part": object{"type": "summary_text", "text": ""}})
			for _, r := range s.Reasoning {
				event("response.reasoning_summary_text.delta", object{"output_index": i, "item_id": item["id"], "summary_index": 0, "delta": r})
			}
		case "message":
			event("response.content_part.added", object{"output_index": i, "item_id": item["id"], "content_index": 0, "part": object{"type": "output_text", "text": ""}})
			for _, t := range s.Text {
				event("response.output_text.delta", object{"output_index": i, "item_id": item["id"], "content_index": 0, "delta": t, "logprobs": []any{}})
			}
			event("response.output_text.done", object{"output_index": i, "item_id": item["id"], "content_index": 0, "text": strings.Join(s.Text, "")})
		case "function_call":
			for _, c := range s.Calls {
				if c.ID == item["call_id"] {
					for _, a := range c.Arguments {
						event("response.function_call_arguments.delta", object{"output_index": i, "item_id": item["id"], "delta": a})
					}
				}
			}
			event("response.function_call_arguments.done", object{"output_index": i, "item_id": item["id"], "arguments": item["arguments"]})
		}
		event("response.output_item.done", object{"output_index": i, "item": item})
	}
	event("response.completed", object{"response": bodyOf(s, "completed")})
	return out
}

func BenchmarkChat(b *testing.B)      { wiretest.Bench(b, chatAPI) }
func BenchmarkResponses(b *testing.B) { wiretest.Bench(b, responsesAPI) }
