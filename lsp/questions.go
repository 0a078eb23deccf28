package lsp

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/session"
	"go.lsp.dev/protocol"
)

// methodQuestion is the request to a client that declares experimental.agent.questions.
// Its params are a session.Inquiry; the reply is {answer}, or null for a question that
// the person dismissed.
const methodQuestion = "agent/question"

// actionDismiss is the last action of a question in window/showMessageRequest.
const actionDismiss = "Dismiss"

// Ask implements session.Editor.
func (s agentSide) Ask(ctx context.Context, q session.Inquiry) session.Reply {
	asking, stop := context.WithTimeout(ctx, s.config.Limits.Approval)
	defer stop()
	ask := s.askInMessage
	if s.client.questions {
		ask = s.askInFull
	}
	r, err := ask(asking, q)
	dismissed := func(why string) session.Reply { return session.Reply{Dismissed: true, Why: why} }
	switch {
	case err == nil:
		return r
	case errors.Is(err, editor.ErrGone):
		_ = s.awaitEnd(ctx)
		return dismissed("the editor is gone")
	case ctx.Err() != nil:
		return dismissed("the turn was cancelled")
	case errors.Is(err, context.DeadlineExceeded):
		return dismissed(fmt.Sprintf("nobody answered within %v", s.config.Limits.Approval))
	}
	s.log.Warn("a question of the model could not be asked", "err", err)
	return dismissed("the editor could not ask: " + err.Error())
}

func (s agentSide) askInFull(ctx context.Context, q session.Inquiry) (session.Reply, error) {
	var result *struct {
		Answer string `json:"answer"`
	}
	if err := s.call(ctx, methodQuestion, q, &result); err != nil {
		return session.Reply{}, err
	}
	if result == nil {
		return session.Reply{Dismissed: true}, nil
	}
	return session.Reply{Text: result.Answer}, nil
}

// askInMessage asks by a message with the options as its actions. No free answer can be
// given there but by the next prompt.
func (s agentSide) askInMessage(ctx context.Context, q session.Inquiry) (session.Reply, error) {
	text := q.Text
	var actions []protocol.MessageActionItem
	for _, o := range q.Options {
		actions = append(actions, protocol.MessageActionItem{Title: o})
	}
	if len(q.Options) == 0 {
		text += "\n\nAnswer with your next prompt."
	}
	var picked *protocol.MessageActionItem
	err := s.call(ctx, protocol.MethodWindowShowMessageRequest, &protocol.ShowMessageRequestParams{
		Type: protocol.MessageTypeInfo, Message: text, Actions: append(actions, protocol.MessageActionItem{Title: actionDismiss}),
	}, &picked)
	switch {
	case err != nil:
		return session.Reply{}, err
	case len(q.Options) == 0:
		return session.Reply{Dismissed: true, Why: "this editor takes no free answer; the person answers with the next prompt"}, nil
	case picked == nil || picked.Title == actionDismiss:
		return session.Reply{Dismissed: true}, nil
	}
	return session.Reply{Text: picked.Title}, nil
}
