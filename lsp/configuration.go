package lsp

import (
	"context"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// didChangeConfiguration handles workspace/didChangeConfiguration. A client that
// answers workspace/configuration is asked; any other sent its settings along.
func (s *Server) didChangeConfiguration(_ context.Context, params jsontext.Value) error {
	if s.client.configuration {
		s.reconfigure("pull configuration", s.pullConfiguration)
		return nil
	}
	p, err := wire.Decode[struct {
		Settings map[string]jsontext.Value `json:"settings"`
	}](params)
	if err != nil {
		return err
	}
	if settings, ok := p.Settings[s.config.Section]; ok {
		s.reconfigure("configure", func() { s.configure(settings) })
	}
	return nil
}

// reconfigure runs a job that takes the client's settings, after those before it: an
// older answer must not come last. Commands wait for it, see settled.
func (s *Server) reconfigure(name string, job func()) {
	taken := make(chan struct{})
	before := s.asked.Swap(&taken)
	s.spawn(name, func() {
		defer close(taken)
		if before != nil {
			select {
			case <-*before:
			case <-s.ctx.Done():
				return
			}
		}
		job()
	})
}

// pullConfiguration asks the client for its settings.
func (s *Server) pullConfiguration() {
	if !s.client.configuration || s.config.Configure == nil {
		return
	}
	ctx, stop := context.WithTimeout(s.ctx, s.config.Limits.Call)
	defer stop()
	params, err := json.Marshal(map[string]any{"items": []any{map[string]any{"section": s.config.Section}}})
	var answer []jsontext.Value
	if err == nil {
		err = s.call(ctx, protocol.MethodWorkspaceConfiguration, jsontext.Value(params), &answer)
	}
	if err != nil {
		if s.ctx.Err() == nil {
			s.log.Warn("the editor did not tell its settings", "err", err)
		}
		return
	}
	if len(answer) > 0 && answer[0].Kind() != 'n' {
		s.configure(answer[0])
	}
}

// settled waits until the settings are taken that the client told, or was asked for
// at its start and when it said that they changed: a command sent right after it must
// not run with another profile or under other rules. A client that does not answer
// holds nothing up for long.
func (s *Server) settled(ctx context.Context) error {
	taken := s.asked.Load()
	if taken == nil {
		return nil
	}
	late := time.NewTimer(s.config.Limits.Landing)
	defer late.Stop()
	select {
	case <-*taken:
	case <-late.C:
		s.log.Warn("the editor has not told its settings yet; a command runs without them")
	case <-s.ctx.Done():
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// configure hands settings on, after the engine's start, one call at a time.
func (s *Server) configure(settings jsontext.Value) {
	if s.config.Configure == nil {
		return
	}
	if _, err := s.agent(s.ctx); err != nil {
		return // there is nothing to configure
	}
	s.configuring.Lock()
	defer s.configuring.Unlock()
	s.warn(s.config.Configure(settings))
}

func (s *Server) warn(warnings []string) {
	for _, w := range warnings {
		s.log.Warn(w)
	}
}
