package lsp

import (
	"context"
	"slices"

	"github.com/agent-lsp/agent-lsp/session"
	"github.com/google/uuid"
)

// sessionNew creates a session: {root?, profile?, title?}.
func (s commands) sessionNew(ctx context.Context, a *arguments) (any, error) {
	root := s.rootArgument(a)
	profile, _ := a.optionalText("profile")
	title, _ := a.optionalText("title")
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	if root == nil {
		if root, err = s.defaultRoot(); err != nil {
			return nil, err
		}
	}
	id, err := engine.New(ctx, session.NewSession{Root: root.Dir(), Profile: profile, Title: title})
	if err != nil {
		return nil, err
	}
	s.roots.learn(id, root.Dir())
	return struct {
		Session uuid.UUID `json:"session"`
	}{id}, nil
}

// undecodable is a session record that cannot be read.
type undecodable struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// sessionList lists the sessions of the client's folders: {}.
func (s commands) sessionList(ctx context.Context, a *arguments) (any, error) {
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	l, err := engine.List(ctx)
	if err != nil {
		return nil, err
	}
	result := struct {
		Sessions    []session.Info `json:"sessions"`
		Undecodable []undecodable  `json:"undecodable"`
	}{s.visible(l.Sessions), []undecodable{}}
	for _, u := range l.Undecodable {
		result.Undecodable = append(result.Undecodable, undecodable{ID: u.ID, Error: u.Error})
	}
	return result, nil
}

// visible returns the sessions of the client's own folders.
func (s commands) visible(all []session.Info) []session.Info {
	return slices.DeleteFunc(append([]session.Info{}, all...), func(i session.Info) bool {
		return i.Root != "" && s.editor.Folders.Named(i.Root) == nil
	})
}

// onSession reads a command's {session} and returns the engine for it.
func (s commands) onSession(ctx context.Context, a *arguments) (Engine, uuid.UUID, error) {
	id := a.session(true)
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, uuid.Nil, err
	}
	return engine, *id, s.own(ctx, engine, *id)
}

// sessionResume loads a stored session: {session}.
func (s commands) sessionResume(ctx context.Context, a *arguments) (any, error) {
	engine, id, err := s.onSession(ctx, a)
	if err != nil {
		return nil, err
	}
	r, err := engine.Resume(ctx, id)
	if err != nil {
		return nil, err
	}
	return struct {
		Session     uuid.UUID `json:"session"`
		Head        uint64    `json:"head"`
		State       string    `json:"state"`
		Interrupted []string  `json:"interrupted"`
	}{id, r.Head, r.State, append([]string{}, r.Interrupted...)}, nil
}

// sessionClose releases a session and keeps its record: {session}.
func (s commands) sessionClose(ctx context.Context, a *arguments) (any, error) {
	engine, id, err := s.onSession(ctx, a)
	if err != nil {
		return nil, err
	}
	return empty{}, engine.Close(ctx, id)
}

// sessionDelete removes a session and its transcript: {session}.
func (s commands) sessionDelete(ctx context.Context, a *arguments) (any, error) {
	engine, id, err := s.onSession(ctx, a)
	if err != nil {
		return nil, err
	}
	return empty{}, engine.Delete(ctx, id)
}
