package session

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
)

// interruptedText answers a call that may or may not have taken effect.
const interruptedText = "interrupted: the session stopped while this call ran; it may have taken effect and was not run again"

// interrupted says of each interrupted call what it was.
func (s *Session) interrupted(l *log) []string {
	out := []string{}
	for _, c := range l.calls {
		if !s.repeatable(c.op) && c.op.Write == nil && c.op.Patch == nil {
			out = append(out, fmt.Sprintf("%s %s: %s", c.name, c.args, interruptedText))
		}
	}
	return out
}

// goOn takes up what was under way when the journal ended. Loop only.
func (s *Session) goOn(l *log) {
	for _, t := range s.queue {
		s.mu.Lock()
		t.settings = s.settings
		s.mu.Unlock()
		t.ctx, t.cancel = context.WithCancel(s.ctx)
	}
	t := s.queue[0]
	switch {
	case len(l.calls) > 0:
		s.wg.Go(func() { s.takeUp(t, l) })
	case l.ask != nil:
		s.ask(l.ask)
	}
}

// takeUp answers the calls that have no result yet, in order: what only reads is
// read again, an edit is completed or made when the file tells which, anything
// else is reported as interrupted.
func (s *Session) takeUp(t *turn, l *log) {
	var again []*call
	for _, c := range l.calls {
		out, known := s.settle(c, l.intents[c.id])
		if !known {
			again = append(again, c)
			continue
		}
		// Results stand in the order of the calls: what runs again goes first.
		s.perform(t, again)
		again = nil
		if !s.mail.call(s.ctx, func() { s.answer(t, c, out) }) {
			return
		}
	}
	s.perform(t, again)
}

// settle tells from the file what became of a call; false when it is to be
// performed.
func (s *Session) settle(c *call, intent *event.Edit) (tools.Outcome, bool) {
	if s.repeatable(c.op) {
		return tools.Outcome{}, false
	}
	interrupted := tools.Outcome{State: tools.State(event.Interrupted), Text: interruptedText}
	if c.op.Write == nil && c.op.Patch == nil {
		return interrupted, true
	}
	if intent == nil {
		return tools.Outcome{}, false // the edit was not begun
	}
	switch s.hashNow(intent.Path) {
	case intent.After:
		return tools.Outcome{State: tools.Completed, Text: fmt.Sprintf(
			"%s has the new text: the edit was made before the session was interrupted", intent.Path)}, true
	case intent.Before:
		return tools.Outcome{}, false
	}
	return interrupted, true
}

// hashNow is the hash of a file's text, the buffer's first; empty when there is
// no such file.
func (s *Session) hashNow(path string) string {
	if doc, ok := s.work.Buffer(path); ok {
		return hashOf(doc.Text)
	}
	f, err := s.work.Root().Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return hashOf(string(text))
}

// repeatable tells the calls that may run twice: they change nothing.
func (s *Session) repeatable(op core.Call) bool {
	return op.Read != nil || op.Git != nil && !s.tools.Decide(s.ctx, op).Mutates
}
