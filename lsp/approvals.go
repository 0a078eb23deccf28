package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/google/uuid"
	"go.lsp.dev/protocol"
)

// methodApprove is the request to a client that declares experimental.agent.approvals.
const methodApprove = "agent/approve"

// approveParams are the params of agent/approve. The reply is {decision, reason?}
// with one of the decisions named here.
type approveParams struct {
	Session   uuid.UUID          `json:"session"`
	Turn      uint64             `json:"turn"`
	ID        uint64             `json:"id"`
	Title     string             `json:"title"`
	Detail    string             `json:"detail"`
	Decisions []session.Decision `json:"decisions"`
	// Labels are what each of Decisions is called here; absent when that is the usual.
	Labels []string `json:"labels,omitempty"`
}

// The actions of window/showMessageRequest.
const (
	actionOnce    = "Allow once"
	actionSession = "Allow for this session"
	actionAlways  = "Always allow"
	actionDeny    = "Deny"

	actionUnsaved = "Go on unsaved" // for a session that cannot be saved
	actionWait    = "Wait"
)

// Approve implements session.Editor. Everything but an explicit permission is a
// Deny.
func (s agentSide) Approve(ctx context.Context, q session.Question) session.Answer {
	asking, stop := context.WithTimeout(ctx, s.config.Limits.Approval)
	defer stop()
	q.Title, q.Detail = workspace.Visible(q.Title), workspace.Visible(q.Detail)
	var a session.Answer
	var err error
	if s.client.approvals && !q.Plain {
		a, err = s.askApproval(asking, q)
	} else {
		a, err = s.askMessage(asking, q)
	}
	switch {
	case err == nil:
		return a
	case errors.Is(err, editor.ErrGone):
		_ = s.awaitEnd(ctx)
		return session.Answer{Decision: session.Deny, Reason: "the editor is gone"}
	case ctx.Err() != nil:
		return session.Answer{Decision: session.Deny, Reason: "the turn was cancelled"}
	case errors.Is(err, context.DeadlineExceeded):
		return session.Answer{Decision: session.Deny, Reason: fmt.Sprintf("nobody answered within %v", s.config.Limits.Approval)}
	}
	s.log.Warn("the question could not be asked", "title", q.Title, "err", err)
	return session.Answer{Decision: session.Deny, Reason: "the editor could not ask: " + err.Error()}
}

func (s agentSide) askApproval(ctx context.Context, q session.Question) (session.Answer, error) {
	var result *struct {
		Decision session.Decision `json:"decision"`
		Reason   string           `json:"reason"`
	}
	var labels []string
	for _, c := range q.Choices {
		labels = append(labels, c.Label)
	}
	err := s.call(ctx, methodApprove, approveParams{
		Session: q.Session, Turn: q.Turn, ID: q.ID, Title: q.Title, Detail: q.Detail, Decisions: q.Decisions, Labels: labels,
	}, &result)
	if err != nil {
		return session.Answer{}, err
	}
	if result == nil {
		return session.Answer{Decision: session.Deny, Reason: "dismissed"}, nil
	}
	if slices.Contains(q.Decisions, result.Decision) {
		return session.Answer{Decision: result.Decision, Reason: result.Reason}, nil
	}
	return session.Answer{}, fmt.Errorf("unknown decision %q", result.Decision)
}

func (s agentSide) askMessage(ctx context.Context, q session.Question) (session.Answer, error) {
	text := q.Title
	if q.Detail != "" {
		text += "\n\n" + q.Detail
	}
	titles := map[session.Decision]string{
		session.AllowOnce: actionOnce, session.AllowSession: actionSession, session.AllowAlways: actionAlways, session.Deny: actionDeny,
	}
	if q.ID == 0 && q.Choices == nil {
		titles = map[session.Decision]string{session.AllowOnce: actionUnsaved, session.Deny: actionWait}
	}
	for _, c := range q.Choices {
		titles[c.Decision] = c.Label
	}
	var actions []protocol.MessageActionItem
	for _, d := range q.Decisions {
		actions = append(actions, protocol.MessageActionItem{Title: titles[d]})
	}
	var picked *protocol.MessageActionItem
	err := s.call(ctx, protocol.MethodWindowShowMessageRequest, &protocol.ShowMessageRequestParams{
		Type: protocol.MessageTypeInfo, Message: text,
		Actions: actions,
	}, &picked)
	if err != nil {
		return session.Answer{}, err
	}
	if picked == nil {
		return session.Answer{Decision: session.Deny, Reason: "dismissed"}, nil
	}
	for _, d := range q.Decisions {
		if titles[d] == picked.Title {
			return session.Answer{Decision: d}, nil
		}
	}
	return session.Answer{Decision: session.Deny}, nil
}
