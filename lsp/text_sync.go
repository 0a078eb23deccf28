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
	x := s.docs.opened(p.URI, p.Version, p.Text)
	s.compare(x)
	if s.findings.some() {
		s.spawn("look at an opened file", func() { s.respell(x) })
	}
	return nil
}

// compare looks at the file of a buffer that is in step with it: it was opened or
// saved just now. That is done at once, while nothing that the agent does can have
// come between.
func (s *Server) compare(x *document) {
	s.onFile(x, func(w *workspace, name string, x *document) {
		if disk, err := w.readDisk(name); err == nil {
			s.docs.inStep(x, disk, holds(disk, x.doc.String()))
		}
	})
}

// didChange handles textDocument/didChange.
func (s *Server) didChange(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidChange(params)
	if err != nil {
		s.docs.lose(tree(params).text("textDocument", "uri"))
		return fmt.Errorf("didChange: %w", err)
	}
	was := s.docs.named(p.URI)
	if err := s.docs.changed(p.URI, p.Version, p.Changes, s.client.encoding); err != nil {
		return err
	}
	if was.held {
		// The first change of a buffer without unsaved ones may be the editor's, which
		// read the file again. Then the two are in step.
		s.onFile(s.docs.named(p.URI), func(w *workspace, name string, x *document) { w.diskHolds(name, x) })
	}
	return nil
}

// onFile does something with the file of a buffer, if it is in a workspace folder.
func (s *Server) onFile(x *document, do func(w *workspace, name string, x *document)) {
	f, name := s.folders.holding(x.path)
	if f == nil {
		return
	}
	if w, err := f.workspace(s); err == nil {
		do(w, name, x)
	}
}

// didSave handles textDocument/didSave.
func (s *Server) didSave(_ context.Context, params jsontext.Value) error {
	p, err := wire.DecodeDidSave(params)
	if err != nil {
		return fmt.Errorf("didSave: %w", err)
	}
	if x := s.docs.saved(p.URI); x != nil {
		s.compare(x)
	}
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
