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

// profileSelect sets the profile of new sessions: {profile}.
func (s commands) profileSelect(ctx context.Context, a *arguments) (any, error) {
	name := a.text("profile")
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	return empty{}, engine.SelectProfile(ctx, name)
}
