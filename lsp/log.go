package lsp

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
)

// clientLog is a log handler that also writes what is Info or more to the
// client's log, as one line.
type clientLog struct {
	next   slog.Handler
	server *Server
	attrs  string // the attributes of With, formatted
	group  string
}

// Enabled implements slog.Handler.
func (h *clientLog) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || h.next.Enabled(ctx, l)
}

// Handle implements slog.Handler.
func (h *clientLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		var line strings.Builder
		line.WriteString(r.Message)
		line.WriteString(h.attrs)
		r.Attrs(func(a slog.Attr) bool {
			writeAttr(&line, h.group, a)
			return true
		})
		h.server.logLine(r.Level, line.String())
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *clientLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *h
	out.next = h.next.WithAttrs(attrs)
	var line strings.Builder
	for _, a := range attrs {
		writeAttr(&line, h.group, a)
	}
	out.attrs += line.String()
	return &out
}

// WithGroup implements slog.Handler.
func (h *clientLog) WithGroup(name string) slog.Handler {
	out := *h
	out.next = h.next.WithGroup(name)
	if name != "" {
		out.group += name + "."
	}
	return &out
}

func writeAttr(line *strings.Builder, group string, a slog.Attr) {
	if a.Key == "stack" || a.Equal(slog.Attr{}) {
		return // a stack is only for the server's own log
	}
	line.WriteString(" " + group + a.Key + "=" + a.Value.Resolve().String())
}

// logLine writes a line to the client's log, or stores it until the client is
// initialized.
func (s *Server) logLine(level slog.Level, line string) {
	params := &protocol.LogMessageParams{Type: messageType(level), Message: line}
	s.early.mu.Lock()
	if !s.early.ready {
		s.early.lines = append(s.early.lines, params)
		s.early.mu.Unlock()
		return
	}
	s.early.mu.Unlock()
	s.notify(protocol.MethodWindowLogMessage, params)
}

// early stores log lines until the client has sent initialized.
type early struct {
	mu    sync.Mutex // guards what follows
	ready bool
	lines []*protocol.LogMessageParams
}

// release sends the stored lines.
func (s *Server) release() {
	s.early.mu.Lock()
	lines := s.early.lines
	s.early.lines, s.early.ready = nil, true
	s.early.mu.Unlock()
	for _, l := range lines {
		s.notify(protocol.MethodWindowLogMessage, l)
	}
}

func messageType(level slog.Level) protocol.MessageType {
	switch {
	case level >= slog.LevelError:
		return protocol.MessageTypeError
	case level >= slog.LevelWarn:
		return protocol.MessageTypeWarning
	case level >= slog.LevelInfo:
		return protocol.MessageTypeInfo
	}
	return protocol.MessageTypeLog
}
