package projection

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wireMessage is how a provider reads a message.
type wireMessage struct {
	Role             string           `json:"role"`
	Content          jsontext.Value   `json:"content"`
	ReasoningContent *string          `json:"reasoning_content"`
	Reasoning        *string          `json:"reasoning"`
	ToolCalls        []wireToolCall   `json:"tool_calls"`
	ToolCallID       string           `json:"tool_call_id"`
	References       []string         `json:"_tool_references"`
	Tools            []jsontext.Value `json:"tools"`
}

type wireToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// wellFormed holds the messages against what both kinds of provider demand.
func wellFormed(t testing.TB, wire []jsontext.Value) {
	t.Helper()
	messages := make([]wireMessage, len(wire))
	for i, raw := range wire {
		if !utf8.Valid(raw) || !raw.IsValid() {
			t.Fatalf("message %d is not strict JSON: %q", i, raw)
		}
		if err := json.Unmarshal(raw, &messages[i], json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("message %d: %v: %s", i, err, raw)
		}
		if why := faulty(messages[i]); why != "" {
			t.Fatalf("message %d %s: %s", i, why, raw)
		}
	}
	paired(t, messages, wire)
	alternating(t, messages, wire)
}

// faulty says what is wrong with one message by itself.
func faulty(m wireMessage) string {
	if m.Tools != nil {
		if m.Role != "system" || m.Content != nil || len(m.Tools) == 0 {
			return "is no block of tools"
		}
		return ""
	}
	for _, r := range []*string{m.ReasoningContent, m.Reasoning} {
		if r != nil && *r == "" {
			return "echoes empty reasoning"
		}
	}
	for _, c := range m.ToolCalls {
		var object map[string]any
		if c.ID == "" || c.Type != "function" || json.Unmarshal([]byte(c.Function.Arguments), &object) != nil {
			return "has a malformed call"
		}
	}
	if m.Content.Kind() == '[' {
		var parts []map[string]jsontext.Value
		if json.Unmarshal(m.Content, &parts) != nil || len(parts) == 0 {
			return "has no parts"
		}
		for _, p := range parts {
			if string(p["type"]) == `"text"` && string(p["text"]) == `""` {
				return "has an empty text part"
			}
		}
		return ""
	}
	var text string
	if json.Unmarshal(m.Content, &text) != nil {
		return "has no content"
	}
	if strings.TrimSpace(text) == "" && len(m.ToolCalls) == 0 {
		return "is empty"
	}
	return ""
}

// paired checks that every call has one result, right after it, in order, and that
// no result stands elsewhere.
func paired(t testing.TB, messages []wireMessage, wire []jsontext.Value) {
	t.Helper()
	seen := map[string]bool{}
	var open []wireToolCall
	for i, m := range messages {
		if len(open) > 0 {
			if m.Role != "tool" || m.ToolCallID != open[0].ID {
				t.Fatalf("message %d should answer %s: %s", i, open[0].ID, wire[i])
			}
			open = open[1:]
			continue
		}
		if m.Role == "tool" {
			t.Fatalf("message %d answers no call: %s", i, wire[i])
		}
		for _, c := range m.ToolCalls {
			if seen[c.ID] {
				t.Fatalf("message %d: the id %s is used twice: %s", i, c.ID, wire[i])
			}
			seen[c.ID] = true
		}
		open = m.ToolCalls
	}
	if len(open) > 0 {
		t.Fatalf("call %s has no result at the end", open[0].ID)
	}
}

// alternating checks that users never follow each other. Assistants may, after an
// answer that was cut short: a provider that minds merges those.
func alternating(t testing.TB, messages []wireMessage, wire []jsontext.Value) {
	t.Helper()
	last := ""
	for i, m := range messages {
		if m.Role == "user" && last == "user" {
			t.Fatalf("message %d is a second user's in a row: %s", i, wire[i])
		}
		last = m.Role
	}
}
