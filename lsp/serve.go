package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Serve serves the client at the other end of in and out, both of which it
// closes, until it exits, closes its end or dies, or until ctx ends. The result is
// the process's exit code: 0 after a shutdown, else 1. When Serve returns, the
// server's own goroutines have ended; whoever made the engine closes it. It may
// be called once.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) int {
	code, _ := wire.Serve(ctx, in, out, wire.Config{
		Initialize:    s.initialize,
		Requests:      s.requests(),
		Notifications: s.notifications(),
		Connect:       func(c *wire.Client) { s.peer = connection{c} },
		Ordered:       map[string]wire.Arrival{protocol.MethodWorkspaceExecuteCommand: s.executeCommand},
		Log:           s.config.Log,
		ClientPID:     s.config.Process,
		CallTimeout:   s.config.Limits.Call,
	})
	s.end()
	for _, f := range s.editor.Folders.All() {
		f.Close()
	}
	s.shown.clear()
	return code
}

func (s *Server) requests() map[string]wire.Handler {
	return map[string]wire.Handler{
		protocol.MethodTextDocumentCodeAction:       s.codeAction,
		protocol.MethodWorkspaceTextDocumentContent: s.textDocumentContent,
	}
}

func (s *Server) notifications() map[string]wire.Notified {
	return map[string]wire.Notified{
		protocol.MethodInitialized:                        s.initialized,
		protocol.MethodTextDocumentDidOpen:                s.didOpen,
		protocol.MethodTextDocumentDidChange:              s.didChange,
		protocol.MethodTextDocumentDidSave:                s.didSave,
		protocol.MethodTextDocumentDidClose:               s.didClose,
		protocol.MethodWorkspaceDidChangeConfiguration:    s.didChangeConfiguration,
		protocol.MethodWorkspaceDidChangeWorkspaceFolders: s.didChangeWorkspaceFolders,
		protocol.MethodWorkspaceDidDeleteFiles:            s.didDeleteFiles,
		protocol.MethodWorkspaceDidRenameFiles:            s.didRenameFiles,
		protocol.MethodWorkspaceDidChangeWatchedFiles:     s.didChangeWatchedFiles,
		protocol.MethodWindowWorkDoneProgressCancel: func(_ context.Context, params jsontext.Value) error {
			s.turns.cancel(s, tree(params).text("token"))
			return nil
		},
	}
}

// connection is the client on the wire.
type connection struct{ *wire.Client }

// Call implements peer.
func (c connection) Call(ctx context.Context, method string, params, result any) error {
	raw, err := wire.Call[jsonrpc2.RawMessage](ctx, c.Client, method, params)
	if err != nil && c.ended(err) {
		return fmt.Errorf("%w: %w", editor.ErrGone, err)
	}
	if err != nil || result == nil {
		return err
	}
	return protocol.Unmarshal(raw, result)
}

// ended reports whether a call failed because the connection has ended. If the input
// ended first, the call fails before the connection's context is canceled.
func (c connection) ended(err error) bool {
	for _, end := range []error{jsonrpc2.ErrClientClosing, jsonrpc2.ErrServerClosing, io.EOF, io.ErrClosedPipe, os.ErrClosed} {
		if errors.Is(err, end) {
			return true
		}
	}
	return c.Context().Err() != nil
}
