package history

import (
	"fmt"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// Agree reports the first difference between a folded history and the core's own
// conversation: the text of users and agents, calls by id, and each result's text
// and whether it failed. What the core never knew is passed over: notes, steers, replies
// without text and calls, and replies that were refused before they reached it.
// So is the wording of a cancelled call's result, of which each side has its own,
// and the order of results, which the core keeps as they arrived.
func Agree(h History, messages []abi.Message) error {
	rest := messages
	for _, m := range h.Messages {
		if unknownToCore(m) {
			continue
		}
		for len(rest) > 0 && silent(rest[0]) {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return fmt.Errorf("message %d (%s %q) is not in the core's conversation", m.ID, m.Role, clip(m.Text))
		}
		var err error
		if m.Role == User {
			err = agreeUser(m, rest[0])
			rest = rest[1:]
		} else {
			rest, err = agreeAgent(m, rest)
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", m.ID, err)
		}
	}
	for _, r := range rest {
		if !silent(r) {
			return fmt.Errorf("the core's conversation goes on after the last message: %s", describe(r))
		}
	}
	return nil
}

func unknownToCore(m Message) bool {
	if m.Failed || m.Role == Agent || m.Role == System {
		return true
	}
	if m.Role == User {
		return m.Steer
	}
	for _, c := range m.Calls {
		if c.ID != 0 {
			return false
		}
	}
	return len(m.Calls) > 0 || m.Text == ""
}

// silent is an agent's message that has neither text nor calls.
func silent(m abi.Message) bool {
	return m.Agent != nil && len(m.Agent.Calls) == 0 && (m.Agent.Text == nil || *m.Agent.Text == "")
}

func agreeUser(m Message, core abi.Message) error {
	if core.User == nil || *core.User != m.Text {
		return fmt.Errorf("the user said %q, the core has %s", clip(m.Text), describe(core))
	}
	return nil
}

func agreeAgent(m Message, core []abi.Message) ([]abi.Message, error) {
	agent := core[0].Agent
	if agent == nil {
		return nil, fmt.Errorf("the agent said %q, the core has %s", clip(m.Text), describe(core[0]))
	}
	text := ""
	if agent.Text != nil {
		text = *agent.Text
	}
	if text != m.Text {
		return nil, fmt.Errorf("the agent said %q, the core has %q", clip(m.Text), clip(text))
	}
	if len(agent.Calls) != len(m.Calls) {
		return nil, fmt.Errorf("the agent made %d calls, the core has %d", len(m.Calls), len(agent.Calls))
	}
	results := map[uint64]*abi.Tool{}
	rest := core[1:]
	for len(rest) > 0 && rest[0].Tool != nil {
		if results[rest[0].Tool.ID] != nil {
			return nil, fmt.Errorf("the core has two results of call %d", rest[0].Tool.ID)
		}
		results[rest[0].Tool.ID] = rest[0].Tool
		rest = rest[1:]
	}
	for i, c := range m.Calls {
		if agent.Calls[i].ID != c.ID {
			return nil, fmt.Errorf("call %d of the message has id %d, the core gave it %d", i, c.ID, agent.Calls[i].ID)
		}
		if err := agreeResult(c, results[c.ID]); err != nil {
			return nil, fmt.Errorf("call %d (%s): %w", c.ID, c.Name, err)
		}
		delete(results, c.ID)
	}
	for id := range results {
		return nil, fmt.Errorf("the core has a result of call %d, which is not in the message", id)
	}
	return rest, nil
}

func agreeResult(c Call, core *abi.Tool) error {
	open := c.State == Running || c.State == Awaiting
	switch {
	case open && core == nil:
		return nil
	case open:
		return fmt.Errorf("is %s, the core has the result %q", c.State, clip(core.Text))
	case core == nil:
		return fmt.Errorf("is %s, the core has no result", c.State)
	case core.Failed != (c.State != Done):
		return fmt.Errorf("is %s, the core has failed=%t", c.State, core.Failed)
	case c.State != Cancelled && (c.Result == nil || *c.Result != core.Text):
		return fmt.Errorf("answered %s, the core has %q", quote(c.Result), clip(core.Text))
	}
	return nil
}

func quote(s *string) string {
	if s == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", clip(*s))
}

func describe(m abi.Message) string {
	switch {
	case m.User != nil:
		return fmt.Sprintf("user %q", clip(*m.User))
	case m.Agent != nil && m.Agent.Text != nil:
		return fmt.Sprintf("agent %q with %d calls", clip(*m.Agent.Text), len(m.Agent.Calls))
	case m.Agent != nil:
		return fmt.Sprintf("agent with %d calls", len(m.Agent.Calls))
	case m.Tool != nil:
		return fmt.Sprintf("result of call %d: %q", m.Tool.ID, clip(m.Tool.Text))
	default:
		return "an empty message"
	}
}

// clip keeps an error readable.
func clip(s string) string {
	const limit = 80
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "…"
}
