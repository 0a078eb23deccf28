package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// scheme is the URI scheme of the server's virtual documents.
const scheme = "agent"

// transcript returns a session's events: {session, after?}.
func (s commands) transcript(ctx context.Context, a *arguments) (any, error) {
	after := a.index("after")
	engine, id, err := s.onSession(ctx, a)
	if err != nil {
		return nil, err
	}
	entries, head, err := engine.Transcript(ctx, id, after)
	if err != nil {
		return nil, err
	}
	return struct {
		Events []session.Entry `json:"events"`
		Head   uint64          `json:"head"`
	}{append([]session.Entry{}, entries...), head}, nil
}

// transcriptOpen shows a session's transcript as Markdown: {session?}. Without a
// session the most recent one of the client's folders is shown.
func (s commands) transcriptOpen(ctx context.Context, a *arguments) (any, error) {
	id := a.session(false)
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	if id == nil {
		if id, err = s.latest(ctx, engine); err != nil {
			return nil, err
		}
	}
	if err := s.own(ctx, engine, *id); err != nil {
		return nil, err
	}
	a.ticket.leave() // the rest is up to the editor
	if !s.client.showDocument {
		return nil, fmt.Errorf("the editor shows no documents for a server (window.showDocument): read %s instead", transcriptURI(*id))
	}
	name := transcriptURI(*id)
	if !s.client.content {
		if name, err = s.writeTranscript(ctx, engine, *id); err != nil {
			return nil, err
		}
	}
	if err := s.openDocument(ctx, name, true); err != nil {
		return nil, err
	}
	return struct {
		URI string `json:"uri"`
	}{name}, nil
}

// latest returns the session of the client's folders that changed last.
func (s commands) latest(ctx context.Context, engine Engine) (*uuid.UUID, error) {
	l, err := engine.List(ctx)
	if err != nil {
		return nil, err
	}
	var last *session.Info
	for _, i := range s.visible(l.Sessions) {
		s.roots.learn(i.ID, i.Root)
		if last == nil || !i.UpdatedAt.Before(last.UpdatedAt) {
			last = &i
		}
	}
	if last == nil {
		return nil, &session.ArgumentError{Member: "session", Text: "there is no session yet"}
	}
	return &last.ID, nil
}

func transcriptURI(id uuid.UUID) string { return scheme + "://session/" + id.String() + ".md" }

// textDocumentContent handles workspace/textDocumentContent.
func (s *Server) textDocumentContent(ctx context.Context, params jsontext.Value) (any, error) {
	p, err := wire.Decode[struct {
		URI string `json:"uri"`
	}](params)
	if err != nil {
		return nil, err
	}
	// The key has one spelling of the scheme and of escaped characters.
	name, ok := strings.CutPrefix(text.Key(p.URI), scheme+"://session/")
	name, md := strings.CutSuffix(name, ".md")
	name, plan := strings.CutSuffix(name, "/plan")
	id, err := uuid.Parse(name)
	if !ok || !md || err != nil {
		return nil, wire.InvalidParams("uri: %q is no document of this server: its are %s://session/<id>.md and %[2]s://session/<id>/plan.md", p.URI, scheme)
	}
	engine, err := s.agent(ctx)
	if err != nil {
		return nil, err
	}
	c := commands{s}
	if err := c.own(ctx, engine, id); err != nil {
		return nil, commandError("uri", err)
	}
	read := c.planText
	if !plan {
		s.shown.add(id, p.URI)
		read = c.markdown
	}
	out, err := read(ctx, engine, id)
	if err != nil {
		return nil, commandError("uri", err)
	}
	return struct {
		Text string `json:"text"`
	}{out}, nil
}

func (s commands) markdown(ctx context.Context, engine Engine, id uuid.UUID) (string, error) {
	entries, _, err := engine.Transcript(ctx, id, nil)
	if err != nil {
		return "", err
	}
	return Markdown(id, entries), nil
}

// shown are the transcripts that the client has, and the directory of copies for
// clients without textDocumentContent.
type shown struct {
	mu   sync.Mutex // guards what follows
	uris map[uuid.UUID]string
	// plans are the files of sessions' plans, in which people edit them.
	plans map[uuid.UUID]string
	dir   string // made on first use, removed at the end
}

// makeDir makes the directory of copies. The caller has locked mu.
func (x *shown) makeDir() (err error) {
	if x.dir == "" {
		x.dir, err = os.MkdirTemp("", "agent-lsp-")
	}
	return err
}

func (x *shown) add(id uuid.UUID, name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.uris == nil {
		x.uris = map[uuid.UUID]string{}
	}
	x.uris[id] = strings.Clone(name)
}

// refresh requests that a client which shows a session's transcript reads it again.
func (s *Server) refresh(id uuid.UUID) {
	s.shown.mu.Lock()
	name, ok := s.shown.uris[id]
	s.shown.mu.Unlock()
	if !ok || !s.client.content {
		return
	}
	s.spawn("refresh transcript", func() {
		ctx, stop := context.WithTimeout(s.ctx, s.config.Limits.Call)
		defer stop()
		params := &protocol.TextDocumentContentRefreshParams{URI: uri.URI(name)}
		if err := s.call(ctx, protocol.MethodWorkspaceTextDocumentContentRefresh, params, nil); err != nil && s.ctx.Err() == nil {
			s.config.Log.Debug("transcript was not refreshed", "uri", name, "err", err)
		}
	})
}

// writeTranscript writes a transcript to a file, for a client that cannot show the
// server's own documents, and returns its URI.
func (s commands) writeTranscript(ctx context.Context, engine Engine, id uuid.UUID) (string, error) {
	out, err := s.markdown(ctx, engine, id)
	if err != nil {
		return "", err
	}
	s.shown.mu.Lock()
	defer s.shown.mu.Unlock()
	if err := s.shown.makeDir(); err != nil {
		return "", fmt.Errorf("write transcript: %w", err)
	}
	name := filepath.Join(s.shown.dir, id.String()+".md")
	if err := os.WriteFile(name, []byte(out), 0o600); err != nil {
		return "", fmt.Errorf("write transcript: %w", err)
	}
	return text.URI(name), nil
}

// clear removes the copies.
func (x *shown) clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.dir != "" {
		_ = os.RemoveAll(x.dir) // the system clears what is left
		x.dir = ""
	}
}
