package session

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/google/uuid"
)

// mode is what a session knows of its modes beside the one in force, which its tools
// keep and enforce.
type mode struct {
	switching sync.Mutex // one switch at a time; taken before mu

	mu       sync.Mutex // guards what follows
	switched bool       // the mode was switched in this session
	before   tools.Mode // the one before the mode plan; "" when the session began in it
	plan     string     // the last plan that nobody accepted
}

// Mode switches the mode of a session if the request names one, and returns the
// session and the mode that is in force. A switch holds from the next call on.
func (m *Manager) Mode(ctx context.Context, r ModeRequest) (uuid.UUID, string, error) {
	s, err := m.target(ctx, Prompt{Session: r.Session, Root: r.Root})
	if err != nil {
		return uuid.Nil, "", err
	}
	if r.Mode != "" {
		if err := s.setMode(ctx, r.Mode); err != nil {
			return uuid.Nil, "", err
		}
	}
	return s.id, string(s.tools.Mode()), nil
}

// setMode switches the mode and records that. What waits for the store meanwhile,
// every call included, waits for the switch, too.
func (s *Session) setMode(ctx context.Context, name string) error {
	if err := s.ended(); err != nil {
		return err
	}
	want, err := tools.ParseMode(name)
	if err != nil {
		return &ArgumentError{"mode", err.Error()}
	}
	s.mode.switching.Lock()
	defer s.mode.switching.Unlock()
	before := s.tools.Mode()
	if err := s.tools.SetMode(want); err != nil {
		return &ArgumentError{"mode", err.Error()}
	}
	if want == before {
		return nil
	}
	if _, err := s.journal.record(ctx, &event.Mode{Mode: string(want), Before: string(before)}); err != nil {
		if back := s.tools.SetMode(before); back != nil {
			s.log.Error("restore the mode", "session", s.id, "mode", before, "err", back)
		}
		return fmt.Errorf("record the mode %s: %w", want, err)
	}
	s.mode.switchTo(want, before)
	return nil
}

// switchTo keeps what a switch of modes leaves to know.
func (m *mode) switchTo(now, before tools.Mode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.switched = true
	if now == tools.ModePlan {
		m.before = before
	}
}

// reminder is what a request says of the mode, at its end: nothing in the default
// mode of a session that never had another.
func (m *mode) reminder(now tools.Mode) *string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now == tools.ModeAsk && !m.switched {
		return nil
	}
	return new(now.Told())
}

// takePlan records a plan that a call gave, if it gave one. Loop only.
func (s *Session) takePlan(t *turn, text string) error {
	if text == "" {
		return nil
	}
	p := &event.Plan{Turn: t.id, Text: text}
	if _, err := s.journal.record(s.ctx, p); err != nil {
		return err
	}
	s.mode.mu.Lock()
	s.mode.plan = p.Text
	s.mode.mu.Unlock()
	return nil
}

// AcceptPlan starts a turn that carries out a session's plan, in the mode that the
// request names or else in the one before the mode plan.
func (m *Manager) AcceptPlan(ctx context.Context, r AcceptRequest) (uuid.UUID, uint64, error) {
	s, err := m.target(ctx, Prompt{Session: r.Session, Root: r.Root})
	if err != nil {
		return uuid.Nil, 0, err
	}
	text, name := s.mode.accepted(r, s.tools.Mode())
	switch {
	case strings.TrimSpace(text) == "":
		return uuid.Nil, 0, &ArgumentError{"session", fmt.Sprintf("%s has no plan that waits: prompt in the mode plan first, or give its text", s.id)}
	case len(text) > MaxPrompt:
		return uuid.Nil, 0, &ArgumentError{"text", fmt.Sprintf("the plan is %d bytes; at most %d are taken", len(text), MaxPrompt)}
	}
	if mode, err := tools.ParseMode(name); err == nil && mode == tools.ModePlan {
		return uuid.Nil, 0, &ArgumentError{"mode", "the mode plan changes nothing: name the mode in which the plan is carried out"}
	}
	if err := s.setMode(ctx, name); err != nil {
		return uuid.Nil, 0, err
	}
	id, turn, err := m.Prompt(ctx, Prompt{Session: &s.id, Text: "Carry out this plan:\n\n" + text})
	if err == nil {
		s.mode.mu.Lock()
		s.mode.plan = ""
		s.mode.mu.Unlock()
	}
	return id, turn, err
}

// accepted returns the text of an accepted plan and the mode for its work: a switch
// away from the mode plan counts as the person's choice.
func (m *mode) accepted(r AcceptRequest, now tools.Mode) (text, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, name = r.Text, r.Mode
	if text == "" {
		text = m.plan
	}
	switch {
	case name != "":
	case now != tools.ModePlan:
		name = string(now)
	default:
		name = string(m.before)
	}
	return text, name
}

// restoreMode sets the mode that the session was left in, with its plan. A mode that
// is not offered any more becomes ask, which the transcript says.
func (l *log) restoreMode(ctx context.Context, s *Session) error {
	var last *event.Mode
	for _, e := range l.events {
		switch p := e.payload.(type) {
		case *event.Mode:
			last = p
			s.mode.switchTo(tools.Mode(p.Mode), tools.Mode(p.Before))
			if p.Mode != string(tools.ModePlan) {
				s.mode.plan = ""
			}
		case *event.Plan:
			s.mode.plan = p.Text
		}
	}
	if last == nil {
		return nil
	}
	refused := s.tools.SetMode(tools.Mode(last.Mode))
	if refused == nil {
		return nil
	}
	if err := s.tools.SetMode(tools.ModeAsk); err != nil {
		return err
	}
	_, err := s.journal.record(ctx, &event.Mode{Mode: string(tools.ModeAsk), Before: last.Mode, Why: refused.Error()})
	return err
}
