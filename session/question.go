package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/google/uuid"
)

// maxOptions is how many choices a question of the model offers at most.
const maxOptions = 10

// Inquiry is a question of the model to the person.
type Inquiry struct {
	Session uuid.UUID `json:"session"`
	ID      uint64    `json:"id"` // of the session's inquiries in this process
	Text    string    `json:"text"`
	// Options are choices; the person may say something else, too. None asks for a
	// free answer.
	Options []string `json:"options"`
}

// Reply is what the person said to an Inquiry. One that was dismissed has no text and
// may say why.
type Reply struct {
	Text      string
	Dismissed bool
	Why       string
}

// questionTool is the tool question, which the session itself provides.
type questionTool struct{ s *Session }

type questionArgs struct {
	Text    string   `json:"text"`
	Options []string `json:"options,omitzero" about:"choices, at most 10; the person may answer freely, too"`
}

func (questionTool) Definition() tools.Definition {
	return tools.Define[questionArgs]("question", "Ask the person what you cannot find out yourself, and wait for the answer. Not for leave: calls that need it ask by themselves.", tools.None)
}

func (questionTool) Decide(_ context.Context, c tools.Call) tools.Decision {
	args := tools.Arguments[questionArgs](c)
	return tools.Decision{Title: "Ask: " + titleOf(args.Text), Detail: strings.Join(args.Options, "\n"), Effect: tools.None}
}

func (q questionTool) Run(ctx context.Context, c tools.Call) tools.Outcome {
	args := tools.Arguments[questionArgs](c)
	refused := func(format string, a ...any) tools.Outcome {
		return tools.Outcome{State: tools.Failed, Text: fmt.Sprintf(format, a...)}
	}
	if strings.TrimSpace(args.Text) == "" {
		return refused("the question has no text")
	}
	if len(args.Options) > maxOptions {
		return refused("the question has %d options, and at most %d are shown", len(args.Options), maxOptions)
	}
	for i, o := range args.Options {
		if strings.TrimSpace(o) == "" {
			return refused("option %d has no text", i+1)
		}
	}
	in := Inquiry{Session: q.s.id, ID: q.s.inquiries.Add(1), Text: args.Text, Options: args.Options}
	event.Valid(&in)
	q.s.setDoing(waitingPrefix + titleOf(in.Text))
	r := q.s.editor.Ask(ctx, in)
	switch {
	case ctx.Err() != nil:
		return tools.Outcome{State: tools.Cancelled, Text: cancelledText}
	case r.Dismissed && r.Why != "":
		return tools.Outcome{State: tools.Completed, Text: "there is no answer: " + r.Why + "; decide yourself, or end your turn with the question"}
	case r.Dismissed:
		return tools.Outcome{State: tools.Completed, Text: "the person dismissed the question: decide yourself, or end your turn with the question"}
	}
	return tools.Outcome{State: tools.Completed, Text: "the person answers: " + r.Text}
}
