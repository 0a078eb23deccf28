package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/google/uuid"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// mode switches a session's mode, or tells it: {session?, root?, mode?}.
func (s commands) mode(ctx context.Context, a *arguments) (any, error) {
	r := session.ModeRequest{Session: a.session(false)}
	r.Mode, _ = a.optionalText("mode")
	engine, root, err := s.sessionOf(ctx, a, r.Session)
	if err != nil {
		return nil, err
	}
	r.Root = root
	id, mode, err := engine.Mode(ctx, r)
	if err != nil {
		return nil, err
	}
	s.roots.learn(id, r.Root)
	return struct {
		Session uuid.UUID `json:"session"`
		Mode    string    `json:"mode"`
	}{id, mode}, nil
}

// planAccept starts the work of a session's plan, with the text that its document has
// now unless the argument has one: {session?, root?, mode?, text?}.
func (s commands) planAccept(ctx context.Context, a *arguments) (any, error) {
	r := session.AcceptRequest{Session: a.session(false)}
	r.Mode, _ = a.optionalText("mode")
	given, ok := a.optionalText("text")
	if ok && strings.TrimSpace(given) == "" {
		a.fail("text", "must not be empty: leave it out for the plan as it is")
	}
	r.Text = given
	engine, root, err := s.sessionOf(ctx, a, r.Session)
	if err != nil {
		return nil, err
	}
	r.Root = root
	if r.Session == nil {
		id, _, err := engine.Mode(ctx, session.ModeRequest{Root: r.Root})
		if err != nil {
			return nil, err
		}
		r.Session = &id
	}
	if !ok {
		if r.Text, err = s.editedPlan(a, *r.Session); err != nil {
			return nil, err
		}
	}
	id, turn, err := engine.AcceptPlan(ctx, r)
	if err != nil {
		return nil, err
	}
	s.roots.learn(id, r.Root)
	s.shown.forgetPlan(id)
	return promptResult{Session: id, Turn: turn}, nil
}

// editedPlan returns the text of the document of a session's plan, the open buffer
// first, "" when there is none.
func (s commands) editedPlan(a *arguments, id uuid.UUID) (string, error) {
	name, ok := s.shown.plan(id)
	if !ok {
		return "", nil
	}
	edited := ""
	if d := a.docs.File(name); d != nil {
		edited = d.Text.String()
	} else {
		disk, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read the plan: %w", err)
		}
		edited = string(disk)
	}
	if strings.TrimSpace(edited) == "" {
		return "", &session.ArgumentError{Member: "text", Text: fmt.Sprintf("the plan %s is empty: write what is to be done, or prompt again", name)}
	}
	return edited, nil
}

// plan returns the file of a session's plan.
func (x *shown) plan(id uuid.UUID) (string, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	name, ok := x.plans[id]
	return name, ok
}

// forgetPlan forgets the file of a session's plan, which was accepted.
func (x *shown) forgetPlan(id uuid.UUID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.plans, id)
}

// writePlan writes a plan to a file that the person can edit.
func (x *shown) writePlan(id uuid.UUID, plan string) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.makeDir(); err != nil {
		return "", fmt.Errorf("write the plan: %w", err)
	}
	dir := filepath.Join(x.dir, id.String())
	name := filepath.Join(dir, "plan.md")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(name, []byte(plan+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("write the plan: %w", err)
	}
	if x.plans == nil {
		x.plans = map[uuid.UUID]string{}
	}
	x.plans[id] = name
	return name, nil
}

// showPlan writes a plan to a document and has the editor show it.
func (s *Server) showPlan(id uuid.UUID, p *event.Plan) {
	name, err := s.shown.writePlan(id, p.Text)
	if err != nil {
		s.log.Error("the plan cannot be edited as a document; agent.plan.accept takes its text", "err", err)
		return
	}
	s.spawn("show plan", func() {
		if s.client.showDocument && s.openDocument(s.ctx, text.URI(name), false) == nil {
			return
		}
		s.notify(protocol.MethodWindowShowMessage, &protocol.ShowMessageParams{
			Type: protocol.MessageTypeInfo, Message: "agent: a plan waits in " + name + ": edit it, and run agent.plan.accept",
		})
	})
}

// openDocument has the editor show a document.
func (s *Server) openDocument(ctx context.Context, name string, focus bool) error {
	ctx, stop := context.WithTimeout(ctx, s.config.Limits.Call)
	defer stop()
	var shown struct {
		Success bool `json:"success"`
	}
	params := &protocol.ShowDocumentParams{URI: uri.URI(name), TakeFocus: &focus}
	if err := s.call(ctx, protocol.MethodWindowShowDocument, params, &shown); err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	if !shown.Success {
		return fmt.Errorf("the editor did not show %s", name)
	}
	return nil
}

// planText returns the last plan of a session for the document
// agent://session/<id>/plan.md.
func (s commands) planText(ctx context.Context, engine Engine, id uuid.UUID) (string, error) {
	entries, _, err := engine.Transcript(ctx, id, nil)
	if err != nil {
		return "", err
	}
	for i := len(entries) - 1; i >= 0; i-- {
		p, err := event.Decode(entries[i].Event)
		if err != nil {
			continue // the transcript's own document says so
		}
		if plan, ok := p.(*event.Plan); ok {
			return plan.Text + "\n", nil
		}
	}
	return "", &session.ArgumentError{Member: "uri", Text: fmt.Sprintf("session %s has no plan", id)}
}
