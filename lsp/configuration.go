package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// didChangeConfiguration handles workspace/didChangeConfiguration. From a
// client that supports workspace/configuration the settings are requested; any other
// sends them in the params.
func (s *Server) didChangeConfiguration(_ context.Context, params jsontext.Value) error {
	number := s.settingsChanges.Add(1)
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

// patience lets the commands that wait for the client's settings run without them if
// the client does not reply soon; stop cancels that.
func (s *Server) patience(at *ticket) (stop func() bool) {
	return at.leaveAfter(s.config.Limits.Landing, func() {
		s.log.Warn("the editor has not sent its settings yet; commands run without them")
	})
}

// pullConfiguration requests the client's settings and applies them. It calls replied
// when the reply is there.
func (s *Server) pullConfiguration(number uint64, replied func() bool) {
	defer replied()
	if !s.client.configuration {
		return
	}
	ctx, stop := context.WithTimeout(s.ctx, s.config.Limits.Call)
	defer stop()
	params, err := json.Marshal(map[string]any{"items": []any{map[string]any{"section": s.config.Section}}})
	var settings []jsontext.Value
	if err == nil {
		err = s.call(ctx, protocol.MethodWorkspaceConfiguration, jsontext.Value(params), &settings)
	}
	replied()
	if err != nil {
		if s.ctx.Err() == nil {
			s.log.Warn("the editor did not send its settings", "err", err)
		}
		return
	}
	if len(settings) > 0 && settings[0].Kind() != 'n' {
		s.configure(number, settings[0])
	}
}

// configure hands the client's settings to the host, after the engine's start. Number
// orders the settings: a late reply must not replace newer ones.
func (s *Server) configure(number uint64, settings jsontext.Value) {
	if _, err := s.agent(s.ctx); err != nil {
		return // there is nothing to configure
	}
	s.config.Host.Configure(number, settings)
}
