package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/session"
)

// profiles handles agent.profiles, {}: it returns the model profiles.
func (s commands) profiles(ctx context.Context, a *arguments) (any, error) {
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	return struct {
		Profiles []session.ProfileInfo `json:"profiles"`
	}{append([]session.ProfileInfo{}, engine.Profiles()...)}, nil
}

// profileSelect sets the profile of new sessions and of the one that runs: {profile,
// model?, session?}.
func (s commands) profileSelect(ctx context.Context, a *arguments) (any, error) {
	sel := session.Selection{Profile: a.text("profile"), Session: a.session(false)}
	sel.Model, _ = a.optionalText("model")
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	if sel.Session != nil {
		if err := s.own(ctx, engine, *sel.Session); err != nil {
			return nil, err
		}
	}
	return empty{}, engine.SelectProfile(ctx, sel)
}
