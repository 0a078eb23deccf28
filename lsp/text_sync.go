package lsp

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// didOpen handles textDocument/didOpen.
func (s *Server) didOpen(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidOpen(params)
	if err != nil {
		return fmt.Errorf("didOpen: %w", err)
	}
	x := s.docs.opened(p.URI, p.Version, p.Text)
	s.spawn("look at an opened file", func() {
		s.compare(x)
		if s.findings.some() {
			s.respell(x)
		}
	})
	return nil
}

// compare notes whether the file of a buffer holds its text.
func (s *Server) compare(x *document) {
	f, rel := s.folders.holding(x.path)
	if f == nil {
		return
	}
	w, err := f.workspace(s)
	if err != nil {
		return
	}
	// Reading another kind of file might never end.
	info, err := w.root.Stat(filepath.FromSlash(rel))
	if err == nil && info.Mode().IsRegular() && w.diskHolds(rel, x.doc.String()) {
		s.docs.hold(x)
	}
}

// didChange handles textDocument/didChange.
func (s *Server) didChange(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidChange(params)
	if err != nil {
		s.docs.lose(tree(params).text("textDocument", "uri"))
		return fmt.Errorf("didChange: %w", err)
	}
	return s.docs.changed(p.URI, p.Version, p.Changes, s.client.encoding)
}

// didSave handles textDocument/didSave.
func (s *Server) didSave(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidSave(params)
	if err != nil {
		return fmt.Errorf("didSave: %w", err)
	}
	s.docs.saved(p.URI)
	return nil
}

// didClose handles textDocument/didClose.
func (s *Server) didClose(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidClose(params)
	if err != nil {
		return fmt.Errorf("didClose: %w", err)
	}
	err = s.docs.closed(p.URI)
	return err
}
