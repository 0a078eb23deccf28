package event

import (
	"fmt"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Heading is the title of a call; without one, as in transcripts of before, the
// tool's name and what comes first in its arguments.
func (c *Call) Heading() string {
	if c.Title != "" {
		return c.Title
	}
	if c.Call != nil && c.Call.Tool == nil {
		if typed, err := json.Marshal(c.Call); err == nil {
			if first, ok := firstMember(typed); ok { // {"Read":{"path":…}}
				if value, ok := firstMember(first); ok {
					return c.Name + " " + flat(value)
				}
			}
		}
	}
	return c.Name + " " + c.Arguments
}

// Heading is the title of a check; without one, as in transcripts of before, what
// the title would be.
func (c *Check) Heading() string {
	command := workspace.CommandLine(c.Command)
	switch {
	case c.Title != "":
		return c.Title
	case c.Outcome == "skipped":
		return "not checked"
	case command == "":
		command = "the checker"
	}
	switch c.Outcome {
	case "found":
		if len(c.Findings) == 1 {
			return command + " found 1 problem"
		}
		return fmt.Sprintf("%s found %d problems", command, len(c.Findings))
	case "clean":
		return command + " found nothing"
	}
	return "unchecked: " + command + " failed"
}

// firstMember is the value of an object's first member.
func firstMember(object jsontext.Value) (jsontext.Value, bool) {
	dec := jsontext.NewDecoder(strings.NewReader(string(object)))
	if dec.PeekKind() != '{' {
		return nil, false
	}
	for range 2 { // the brace and the name
		if _, err := dec.ReadToken(); err != nil {
			return nil, false
		}
	}
	value, err := dec.ReadValue()
	return value, err == nil
}

// flat is a text, or a list of them as one line.
func flat(value jsontext.Value) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var list []string
	if json.Unmarshal(value, &list) == nil {
		return strings.Join(list, " ")
	}
	return string(value)
}

// Heading returns the switch in one line.
func (m *Mode) Heading() string {
	line := fmt.Sprintf("the mode is %s now, and was %s", m.Mode, m.Before)
	if m.Why != "" {
		line += ": " + m.Why
	}
	return line
}
