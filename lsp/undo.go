package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/session"
)

// undo reverts a turn's edits, or one of them: {session?, turn?, edit?}.
func (s commands) undo(ctx context.Context, a *arguments) (any, error) {
	r := session.UndoRequest{Session: a.session(false), Turn: a.index("turn"), Edit: a.index("edit")}
	root := s.rootArgument(a)
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	if r.Session != nil {
		if err := s.own(ctx, engine, *r.Session); err != nil {
			return nil, err
		}
		r.Root, _ = s.roots.of(*r.Session)
	}
	if r.Root == "" {
		if root == nil {
			if root, err = s.defaultRoot(); err != nil {
				return nil, err
			}
		}
		r.Root = root.Dir()
	}
	defer a.ticket.leaveAfter(s.config.Limits.Landing, func() {})()
	done, err := engine.Undo(ctx, r)
	if err != nil {
		return nil, err
	}
	return done, nil
}
