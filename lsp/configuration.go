package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// didChangeConfiguration handles workspace/didChangeConfiguration. A client that
// answers workspace/configuration is asked; any other sent its settings along.
func (s *Server) didChangeConfiguration(_ context.Context, params jsontext.Value) error {
	number := s.told.Add(1)
	if s.client.configuration {
		s.inLine("pull configuration", func(at *ticket) { s.pullConfiguration(number, s.patience(at)) })
		return nil
	}
	p, err := wire.Decode[struct {
		Settings map[string]jsontext.Value `json:"settings"`
	}](params)
	if err != nil {
		return err
	}
	if settings, ok := p.Settings[s.config.Section]; ok {
		s.inLine("configure", func(*ticket) { s.configure(number, settings) })
	}
	return nil
}

// patience lets the commands go on that wait for what the client is asked, if it
// does not answer soon.
func (s *Server) patience(at *ticket) (stop func() bool) {
	return at.leaveAfter(s.config.Limits.Landing, func() {
		s.log.Warn("the editor has not told its settings yet; commands run without them")
	})
}

// pullConfiguration asks the client for its settings, and ends the patience with it
// when it has answered.
func (s *Server) pullConfiguration(number uint64, answered func() bool) {
	defer answered()
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
	answered()
	if err != nil {
		if s.ctx.Err() == nil {
			s.log.Warn("the editor did not tell its settings", "err", err)
		}
		return
	}
	if len(answer) > 0 && answer[0].Kind() != 'n' {
		s.configure(number, answer[0])
	}
}

// configure hands the client's settings on, after the engine's start, one call at
// a time. Number says which they are: an answer that comes late must not take the
// place of newer ones.
func (s *Server) configure(number uint64, settings jsontext.Value) {
	if s.config.Configure == nil {
		return
	}
	if _, err := s.agent(s.ctx); err != nil {
		return // there is nothing to configure
	}
	s.configuring.Lock()
	defer s.configuring.Unlock()
	if number < s.settings {
		return
	}
	s.settings = number
	s.warn(s.config.Configure(settings))
}

func (s *Server) warn(warnings []string) {
	for _, w := range warnings {
		s.log.Warn(w)
	}
}
