package projection

import (
	"slices"
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
	asBlocks(t, messages)
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

// asBlocks checks the messages as a provider reads them that takes system text
// apart and has only users and assistants: consecutive messages of one role are
// one, and the results of an assistant's calls come first in the user's message
// right after it.
func asBlocks(t testing.TB, messages []wireMessage) {
	t.Helper()
	type turn struct {
		role             string
		calls, results   []string
		resultAfterOther bool
		others           int
	}
	var turns []turn
	for _, m := range messages {
		role := m.Role
		switch role {
		case "system":
			continue
		case "tool":
			role = "user"
		}
		if len(turns) == 0 || turns[len(turns)-1].role != role {
			turns = append(turns, turn{role: role})
		}
		last := &turns[len(turns)-1]
		if len(last.calls) > 0 {
			t.Fatalf("an assistant goes on after its calls %v", last.calls)
		}
		for _, c := range m.ToolCalls {
			last.calls = append(last.calls, c.ID)
		}
		if m.Role == "tool" {
			last.results = append(last.results, m.ToolCallID)
			last.resultAfterOther = last.resultAfterOther || last.others > 0
		} else {
			last.others++
		}
	}
	for i, turn := range turns {
		var calls []string
		if i > 0 {
			calls = turns[i-1].calls
		}
		if !slices.Equal(calls, turn.results) || turn.resultAfterOther {
			t.Fatalf("turn %d answers %v after the calls %v (other content first: %t)", i, turn.results, calls, turn.resultAfterOther)
		}
	}
	if n := len(turns); n > 0 && len(turns[n-1].calls) > 0 {
		t.Fatalf("the last calls %v are not answered", turns[n-1].calls)
	}
}
