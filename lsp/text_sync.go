package lsp

import (
	"context"
	"fmt"

	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// didOpen handles textDocument/didOpen.
func (s *Server) didOpen(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidOpen(params)
	if err != nil {
		return fmt.Errorf("didOpen: %w", err)
	}
	x := s.editor.Opened(p.URI, p.Version, p.Text)
	if s.findings.some() {
		s.spawn("look at an opened file", func() { s.findings.respell(x) })
	}
	return nil
}

// didChange handles textDocument/didChange.
func (s *Server) didChange(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidChange(params)
	if err != nil {
		s.editor.Lost(tree(params).text("textDocument", "uri"))
		return fmt.Errorf("didChange: %w", err)
	}
	return s.editor.Changed(p.URI, p.Version, p.Changes)
}

// didSave handles textDocument/didSave.
func (s *Server) didSave(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidSave(params)
	if err != nil {
		return fmt.Errorf("didSave: %w", err)
	}
	s.editor.Saved(p.URI)
	return nil
}

// didClose handles textDocument/didClose.
func (s *Server) didClose(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidClose(params)
	if err != nil {
		return fmt.Errorf("didClose: %w", err)
	}
	return s.editor.Closed(p.URI)
}
