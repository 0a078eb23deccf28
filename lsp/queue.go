package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/session"
	"github.com/google/uuid"
)

// steer says something into the turn that runs: {session?, root?, text}.
func (s commands) steer(ctx context.Context, a *arguments) (any, error) {
	text, id := a.text("text"), a.session(false)
	engine, root, err := s.sessionOf(ctx, a, id)
	if err != nil {
		return nil, err
	}
	session, turn, err := engine.Steer(ctx, id, root, text)
	if err != nil {
		return nil, err
	}
	return promptResult{Session: session, Turn: turn}, nil
}

// queue shows the prompts that wait, and changes one of them: {session?, root?,
// entry?, text?, remove?, next?}.
func (s commands) queue(ctx context.Context, a *arguments) (any, error) {
	id, entry := a.session(false), a.index("entry")
	c := session.QueueChange{Remove: a.flag("remove"), Next: a.flag("next")}
	if text, ok := a.optionalText("text"); ok {
		c.Text = &text
	}
	switch {
	case entry != nil:
		c.Entry = *entry
		if c.Text == nil && !c.Remove && !c.Next {
			a.fail("entry", "needs text, remove or next beside it")
		}
	case c != session.QueueChange{}:
		a.fail("entry", "is missing: it must be the id of a prompt that waits")
	}
	engine, root, err := s.sessionOf(ctx, a, id)
	if err != nil {
		return nil, err
	}
	session, entries, err := engine.Queue(ctx, id, root, c)
	if err != nil {
		return nil, err
	}
	return queueResult{session, entries}, nil
}

type queueResult struct {
	Session uuid.UUID            `json:"session"`
	Entries []session.QueueEntry `json:"entries"`
}

// sessionOf returns the engine and the folder of the session that a command is
// about: the one that it names, else the member root, else the only folder.
func (s commands) sessionOf(ctx context.Context, a *arguments, id *uuid.UUID) (engine Engine, root string, err error) {
	folder := s.rootArgument(a)
	if engine, err = s.on(ctx, a); err != nil {
		return nil, "", err
	}
	if id != nil {
		if err := s.own(ctx, engine, *id); err != nil {
			return nil, "", err
		}
		root, _ = s.roots.of(*id)
	}
	if root == "" {
		if folder == nil {
			if folder, err = s.defaultRoot(); err != nil {
				return nil, "", err
			}
		}
		root = folder.Dir()
	}
	return engine, root, nil
}
