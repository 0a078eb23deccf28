package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/session"
)

// undo reverts a turn's edits, or one of them: {session?, turn?, edit?}.
func (s commands) undo(ctx context.Context, a *arguments) (any, error) {
	r := session.UndoRequest{Session: a.session(false), Turn: a.index("turn"), Edit: a.index("edit")}
	engine, root, err := s.sessionOf(ctx, a, r.Session)
	if err != nil {
		return nil, err
	}
	r.Root = root
	defer a.ticket.leaveAfter(s.config.Limits.Landing, func() {})()
	done, err := engine.Undo(ctx, r)
	if err != nil {
		return nil, err
	}
	return done, nil
}
