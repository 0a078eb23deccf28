package anthropic

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel/wiretest"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type obj = map[string]any

func text(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(b)
}

var api = wiretest.API{
	New:     func(p model.Profile, cfg httpmodel.Config) model.Model { return New(p, cfg) },
	Profile: model.Profile{Provider: "anthropic", Model: "m"}, Path: "messages", Versioned: true, Header: "X-Api-Key",
	Encode: encode, Whole: whole,
	Alive: []wiretest.Event{{Name: "ping", Data: `{"type":"ping"}`}, {Name: "new_event", Data: `{"type":"new_event","x":1}`}},
	Refuse: func(name, message string) wiretest.Event {
		return wiretest.Event{Name: "error", Data: text(obj{"type": "error", "error": obj{"type": name, "message": message}})}
	},
}

func TestMessagesOnTheWire(t *testing.T) { wiretest.Run(t, api) }

func TestRequestsNameTheVersionOfTheAPI(t *testing.T) {
	srv := wiretest.Serve(t, wiretest.Reply{Body: wiretest.Frame("\n", encode(wiretest.Short())...)})
	wiretest.Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Want(t, wiretest.Short().Response())
	if got := srv.Seen()[0].Header.Get("Anthropic-Version"); got != "2023-06-01" {
		t.Errorf("version %q", got)
	}
}

var stops = map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "max_tokens": "max_tokens"}

func usageOf(u model.Usage) obj {
	return obj{"input_tokens": u.Input - u.CachedInput - min(5, u.Input-u.CachedInput), "cache_creation_input_tokens": min(5, u.Input-u.CachedInput), "cache_read_input_tokens": u.CachedInput, "output_tokens": 1}
}

func blocksOf(s wiretest.Said) []obj {
	var out []obj
	if s.Reasoning != nil {
		out = append(out, obj{"type": "thinking", "thinking": strings.Join(s.Reasoning, ""), "signature": "signed=="})
	}
	if s.Text != nil {
		out = append(out, obj{"type": "text", "text": strings.Join(s.Text, "")})
	}
	for _, c := range s.Calls {
		arguments := strings.Join(c.Arguments, "")
		if arguments == "" {
			arguments = "{}"
		}
		out = append(out, obj{"type": "tool_use", "id": c.ID, "name": c.Name, "input": jsontext.Value(arguments)})
	}
	return out
}

func whole(s wiretest.Said) string {
	u := usageOf(s.Usage)
	u["output_tokens"], u["output_tokens_details"] = s.Usage.Output, obj{"thinking_tokens": s.Usage.Reasoning}
	return text(obj{"type": "message", "id": s.ID, "role": "assistant", "content": blocksOf(s), "stop_reason": stops[s.Finish], "usage": u})
}

// encode is a stream of the Messages API.
func encode(s wiretest.Said) []wiretest.Event {
	var out []wiretest.Event
	event := func(name string, members obj) {
		members["type"] = name
		out = append(out, wiretest.Event{Name: name, Data: text(members)})
	}
	event("message_start", obj{"message": obj{"id": s.ID, "type": "message", "role": "assistant", "content": []any{}, "stop_reason": nil, "usage": usageOf(s.Usage)}})
	calls := s.Calls
	for i, b := range blocksOf(s) {
		delta := func(kind, member string, pieces ...string) {
			for _, p := range pieces {
				event("content_block_delta", obj{"index": i, "delta": obj{"type": kind, member: p}})
			}
		}
		switch b["type"] {
		case "thinking":
			event("content_block_start", obj{"index": i, "content_block": obj{"type": "thinking", "thinking": "", "signature": ""}})
			delta("thinking_delta", "thinking", s.Reasoning...)
			delta("signature_delta", "signature", "signed==")
		case "text":
			event("content_block_start", obj{"index": i, "content_block": obj{"type": "text", "text": ""}})
			delta("text_delta", "text", s.Text...)
		case "tool_use":
			event("content_block_start", obj{"index": i, "content_block": obj{"type": "tool_use", "id": b["id"], "name": b["name"], "input": obj{}}})
			delta("input_json_delta", "partial_json", append([]string{""}, calls[0].Arguments...)...)
			calls = calls[1:]
		}
		event("content_block_stop", obj{"index": i})
	}
	event("message_delta", obj{"delta": obj{"stop_reason": stops[s.Finish], "stop_sequence": nil}, "usage": obj{"output_tokens": s.Usage.Output, "output_tokens_details": obj{"thinking_tokens": s.Usage.Reasoning}}})
	event("message_stop", obj{})
	return out
}

func BenchmarkMessages(b *testing.B) { wiretest.Bench(b, api) }
