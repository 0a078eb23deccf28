package anthropic

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel/wiretest"
)

// heard is what a stream of these events, one a line, came to.
func heard(t *testing.T, lines string) wiretest.Heard {
	t.Helper()
	var events []wiretest.Event
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		events = append(events, wiretest.Event{Data: strings.TrimSpace(line)})
	}
	wire := &wiretest.Wire{Replies: []wiretest.Play{{Pieces: []string{wiretest.Frame("\n", events...)}}}}
	return wiretest.Ask{API: api, Base: "http://h", Config: httpmodel.Config{Transport: wire}}.Do(t.Context(), t)
}

func ended(lines, stop string) string {
	return lines + `
{"type":"message_delta","delta":{"stop_reason":"` + stop + `"}}
{"type":"message_stop"}`
}

const call = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"write","input":{}}}`

func TestArgumentsComeInAnyForm(t *testing.T) {
	piece := func(text string) string {
		return `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":` + text + `}}`
	}
	for name, c := range map[string]struct{ lines, want string }{
		"none":             {call, `{}`},
		"empty":            {call + "\n" + piece(`""`), `{}`},
		"null":             {call + "\n" + piece(`"null"`), `{}`},
		"at the beginning": {strings.Replace(call, `"input":{}`, `"input":{"a":1}`, 1), `{"a":1}`},
		"in pieces":        {call + "\n" + piece(`"{\"a\""`) + "\n" + piece(`" : 1}"`), `{"a" : 1}`},
		"broken":           {call + "\n" + piece(`"{\"a"`), `{"a`},
	} {
		t.Run(name, func(t *testing.T) {
			heard(t, ended(c.lines, "tool_use")).Want(t, model.Response{Finish: "tool_calls", Calls: []model.FunctionCall{{ID: "t1", Name: "write", Arguments: c.want}}})
		})
	}
}

// Gateways that speak the Messages API number blocks as they like.
func TestCallsAreToldApart(t *testing.T) {
	start := func(index, id string) string {
		return `{"type":"content_block_start"` + index + `,"content_block":{"type":"tool_use","id":"` + id + `","name":"read","input":{}}}`
	}
	piece := func(index, path string) string {
		return `{"type":"content_block_delta"` + index + `,"delta":{"type":"input_json_delta","partial_json":` + text(path) + `}}`
	}
	const a, b, zero, one = `{"path":"a"}`, `{"path":"b"}`, `,"index":0`, `,"index":1`
	for name, c := range map[string]struct {
		lines []string
		ids   [2]string
	}{
		"by index, interleaved":   {[]string{start(zero, "1"), start(one, "2"), piece(one, `{"path":`), piece(zero, a), piece(one, `"b"}`)}, [2]string{"1", "2"}},
		"indices that jump":       {[]string{start(`,"index":4`, "1"), piece(`,"index":4`, a), start(`,"index":9`, "2"), piece(`,"index":9`, b)}, [2]string{"1", "2"}},
		"no index":                {[]string{start("", "1"), piece("", a), start("", "2"), piece("", `{"path":`), piece("", `"b"}`)}, [2]string{"1", "2"}},
		"every block has index 0": {[]string{start(zero, "1"), piece(zero, a), start(zero, "2"), piece(zero, b)}, [2]string{"1", "2"}},
		"no ids":                  {[]string{start(zero, ""), piece(zero, a), start(one, ""), piece(one, b)}, [2]string{"", ""}},
		"one id for two":          {[]string{start(zero, "1"), piece(zero, a), start(one, "1"), piece(one, b)}, [2]string{"1", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			heard(t, ended(strings.Join(c.lines, "\n"), "tool_use")).Want(t, model.Response{Finish: "tool_calls", Calls: []model.FunctionCall{
				{ID: c.ids[0], Name: "read", Arguments: a}, {ID: c.ids[1], Name: "read", Arguments: b},
			}})
		})
	}
}

func TestWhyAnAnswerEnded(t *testing.T) {
	const said = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}`
	for _, c := range []struct{ lines, stop, want string }{
		{said, "end_turn", "stop"},
		{said, "stop_sequence", "stop"},
		{said, "max_tokens", "max_tokens"},
		{call, "max_tokens", "max_tokens"},
		{call, "tool_use", "tool_calls"},
		{call, "end_turn", "tool_calls"},
		{said, "refusal", "refusal"},
		{said, "pause_turn", "pause_turn"},
		{said, "model_context_window_exceeded", "length"},
	} {
		if got := heard(t, ended(c.lines, c.stop)).Response.Finish; got != c.want {
			t.Errorf("%s after %s: %s, want %s", c.stop, c.lines, got, c.want)
		}
	}
	heard(t, ended(`{"type":"message_start","message":{"id":"m"}}`, "refusal")).Fails(t, model.BadRequest, "refused")
	heard(t, said+"\n"+`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`).Fails(t, model.Network, "before the answer was complete")
}

func TestUsageCountsWhatTheCacheTookAndGave(t *testing.T) {
	h := heard(t, ended(`{"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":1}}}
		{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}
		{"type":"message_delta","delta":{},"usage":{"output_tokens":7,"cache_read_input_tokens":null}}`, "end_turn"))
	h.Want(t, model.Response{Text: new("x"), Finish: "stop", ProviderID: "m", Usage: model.Usage{Input: 60, CachedInput: 30, Output: 7}})
}
