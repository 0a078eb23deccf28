package history_test

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
)

func TestAgreeFindsEveryDifference(t *testing.T) {
	h := fold(t, user(1, "go"), answer(1, 1, "looking", "a read {}", "b exec {}"), called(1, 2, "a"), called(1, 3, "b"),
		result(2, 2, event.Completed, "text"), result(3, 3, event.Cancelled, "stopped"),
		answer(1, 4, "done"), done(1), user(2, "more"))
	core := func() []abi.Message {
		return []abi.Message{
			{User: new("go")},
			{Agent: &abi.Agent{Text: new("looking"), Calls: []abi.Dispatch{{ID: 2}, {ID: 3}}}},
			{Tool: &abi.Tool{ID: 3, Text: "cancelled", Failed: true}},
			{Tool: &abi.Tool{ID: 2, Text: "text"}},
			{Agent: &abi.Agent{Text: new("done")}},
			{Agent: &abi.Agent{Text: new("")}}, // said nothing: it counts for nothing
			{User: new("more")},
		}
	}
	if err := history.Agree(h, core()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		change     func(m []abi.Message) []abi.Message
	}{
		{"user's text", `the user said "go", the core has user "stop"`, func(m []abi.Message) []abi.Message { m[0].User = new("stop"); return m }},
		{"agent's text", `the agent said "done", the core has "over"`, func(m []abi.Message) []abi.Message { m[4].Agent.Text = new("over"); return m }},
		{"no text", `the agent said "looking", the core has ""`, func(m []abi.Message) []abi.Message { m[1].Agent.Text = nil; return m }},
		{"fewer messages", `"more") is not in the core's conversation`, func(m []abi.Message) []abi.Message { return m[:6] }},
		{"more messages", `goes on after the last message: user "x"`, func(m []abi.Message) []abi.Message { return append(m, abi.Message{User: new("x")}) }},
		{"another role", `the agent said "done", the core has user "x"`, func(m []abi.Message) []abi.Message { m[4] = abi.Message{User: new("x")}; return m }},
		{"call's id", `call 1 of the message has id 3, the core gave it 4`, func(m []abi.Message) []abi.Message { m[1].Agent.Calls[1].ID = 4; return m }},
		{"fewer calls", `the agent made 2 calls, the core has 1`, func(m []abi.Message) []abi.Message { m[1].Agent.Calls = m[1].Agent.Calls[:1]; return m }},
		{"result's text", `answered "text", the core has "other"`, func(m []abi.Message) []abi.Message { m[3].Tool.Text = "other"; return m }},
		{"result failed", `is done, the core has failed=true`, func(m []abi.Message) []abi.Message { m[3].Tool.Failed = true; return m }},
		{"cancelled as success", `is cancelled, the core has failed=false`, func(m []abi.Message) []abi.Message { m[2].Tool.Failed = false; return m }},
		{"no result", `is cancelled, the core has no result`, func(m []abi.Message) []abi.Message { return append(m[:2], m[3:]...) }},
		{"doubled result", `the core has two results of call 3`, func(m []abi.Message) []abi.Message { m[3] = m[2]; return m }},
		{"orphan result", `the core has a result of call 9`, func(m []abi.Message) []abi.Message {
			return append(m[:4:4], append([]abi.Message{{Tool: &abi.Tool{ID: 9}}}, m[4:]...)...)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := history.Agree(h, c.change(core()))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Agree = %v, want %s", err, c.want)
			}
		})
	}
}

func TestAgreeWaitsForOpenCalls(t *testing.T) {
	h := fold(t, user(1, "go"), answer(1, 1, "", "a read {}"), called(1, 2, "a"))
	core := []abi.Message{{User: new("go")}, {Agent: &abi.Agent{Calls: []abi.Dispatch{{ID: 2}}}}}
	if err := history.Agree(h, core); err != nil {
		t.Fatal(err)
	}
	if err := history.Agree(h, append(core, abi.Message{Tool: &abi.Tool{ID: 2}})); err == nil {
		t.Error("an open call agrees with a result")
	}
}
