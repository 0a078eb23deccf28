package session

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// writtenCalls are the forms in which models write a call as text, when their server
// does not make one of it; the first group is its JSON, or the second its name.
var writtenCalls = []*regexp.Regexp{
	regexp.MustCompile(`(?s)<(?:tool_call|function_call|tool_use)>\s*(\{.*?\})\s*(?:</|$)`),
	regexp.MustCompile("(?s)```(?:json|tool_call|tool_code)?\\s*\\n\\s*(\\{.*?\\})\\s*```"),
	regexp.MustCompile(`(?s)\[TOOL_CALLS\]\s*\[?\s*(\{.*\})\s*\]?\s*$`),
	regexp.MustCompile(`(?s)^\s*(?:<\|python_tag\|>)?\s*(\{.*\})\s*$`),
	regexp.MustCompile(`()<function=([a-zA-Z0-9_-]+)`),
}

// calledInText returns the tool that a reply without calls writes a call of into its
// text; "" for none. JSON that names no tool of the session's is text like any other.
func (q *requester) calledInText(msg *event.Message) string {
	if len(msg.Calls) > 0 || msg.Text == nil {
		return ""
	}
	for _, form := range writtenCalls {
		for _, m := range form.FindAllStringSubmatch(*msg.Text, -1) {
			name := ""
			if len(m) > 2 {
				name = m[2]
			} else {
				name = writtenName(m[1])
			}
			if q.hasTool(name) {
				return name
			}
		}
	}
	return ""
}

func (q *requester) hasTool(name string) bool {
	return slices.ContainsFunc(q.s.tools.Definitions(), func(d tools.Definition) bool { return d.Name == name })
}

// writtenName is the name in a call's JSON, which must have its arguments besides.
func writtenName(text string) string {
	var call struct {
		Name       string         `json:"name"`
		Arguments  jsontext.Value `json:"arguments"`
		Parameters jsontext.Value `json:"parameters"`
	}
	if json.Unmarshal([]byte(text), &call) != nil || call.Arguments == nil && call.Parameters == nil {
		return ""
	}
	return call.Name
}

// refuseText records a reply that wrote a call as text, and the next attempt of the
// ask. A second such reply is an error: nothing was done, so the turn is not complete.
func (q *requester) refuseText(a *ask, msg *event.Message, tool string, attempt int, wrote *bool) error {
	if *wrote {
		return &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf(
			"the model wrote a call of %s as text twice, and nothing was run; its server does not read this model's calls: switch tools on there, or pick another model", tool)}
	}
	*wrote = true
	msg.Refused = true
	again := *a.event
	again.Attempt = attempt + 1
	_, err := q.s.journal.record(a.turn.ctx, msg, &event.Note{Turn: a.turn.id, Model: true, Text: fmt.Sprintf(
		"your reply holds a call of %s as text, so nothing was run; make the call as a function call of the API, not in the text", tool)}, &again)
	return err
}
