package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
)

// The result of a call that the session's end cut off: one that may have taken
// effect, and one that cannot have, because it waited for a call before it or for
// the person. Neither is run again by itself.
const (
	interruptedText = "interrupted: the session stopped while this call ran; it may have taken effect and was not run again"
	notBegunText    = "interrupted: the session stopped before this call ran; it was not run"
)

// interrupted says of each interrupted call what it was.
func (l *log) interrupted(ctx context.Context, s *Session) []string {
	out := []string{}
	for _, c := range l.calls {
		if effectOf(ctx, s.tools, c) == tools.Run.String() {
			out = append(out, fmt.Sprintf("%s %s: %s", c.name, c.args, l.cutOff(ctx, s, c)))
		}
	}
	return out
}

// cutOff is the text of the result of a call that had none: calls that
// change something run one after the other, so behind the first of them without
// one none was begun.
func (l *log) cutOff(ctx context.Context, s *Session, c *call) string {
	for _, before := range l.calls {
		if before == c {
			break
		}
		if !repeatable(effectOf(ctx, s.tools, before)) {
			return notBegunText
		}
	}
	if l.asked[c.id] {
		return notBegunText
	}
	return interruptedText
}

// continueTurns continues what was under way when the journal ended. Loop only.
func (l *log) continueTurns(s *Session) {
	for _, t := range s.queue {
		s.mu.Lock()
		t.settings, t.profile = s.settings, s.profile
		s.mu.Unlock()
		t.ctx, t.cancel = context.WithCancel(s.ctx)
	}
	t := s.queue[0]
	switch {
	case len(l.calls) > 0:
		s.wg.Go(func() { l.continueCalls(t, s) })
	case l.ask != nil:
		s.ask(l.ask)
	}
}

// continueCalls ends the calls that have no result yet, in order: what only reads
// is read again, an edit is completed or made when the file shows which, anything
// else is reported as interrupted.
func (l *log) continueCalls(t *turn, s *Session) {
	var outcomes map[uint64]tools.Outcome
	for _, c := range l.calls {
		if out, known := l.knownOutcome(s, c); known {
			if outcomes == nil {
				outcomes = map[uint64]tools.Outcome{}
			}
			outcomes[c.id] = out
		}
	}
	performer{s}.performExcept(t, l.calls, outcomes)
}

// knownOutcome returns what became of a call, as the file shows; false when the
// call is to be performed.
func (l *log) knownOutcome(s *Session, c *call) (tools.Outcome, bool) {
	effect := effectOf(s.ctx, s.tools, c)
	if repeatable(effect) {
		return tools.Outcome{}, false
	}
	if effect != tools.Write.String() {
		return tools.Outcome{State: tools.State(event.Interrupted), Text: l.cutOff(s.ctx, s, c)}, true
	}
	intents := l.intents[c.id]
	if len(intents) == 0 {
		return tools.Outcome{}, false // no edit was begun
	}
	landed, open, known := s.work.landed(intents)
	switch {
	case !known:
		return tools.Outcome{State: tools.State(event.Interrupted), Text: interruptedText}, true
	case len(landed) == 0:
		return tools.Outcome{}, false
	case open > 0: // all or none: those that were made are taken back, and all are made again
		if err := s.work.takeBack(s.ctx, landed, intents); err != nil {
			s.log.Warn("take back edits that were made without the others of their call", "call", c.id, "err", err)
			return tools.Outcome{State: tools.State(event.Interrupted), Text: interruptedText}, true
		}
		return tools.Outcome{}, false
	}
	out := tools.Outcome{State: tools.Completed, Text: intents[0].Text}
	for i, change := range landed {
		s.tools.Remember(map[string]string{change.Path: intents[i].Edit.After})
		if err := restoreBefore(change, intents[i].Edit); err != nil {
			s.log.Warn("the text before an edit is not kept; it cannot be undone", "path", change.Path, "err", err)
			continue
		}
		if out.Edit == nil {
			out.Edit = change
		} else {
			out.More = append(out.More, change)
		}
	}
	return out, true
}

// landed returns the edits that the files show as made, without their texts before, and
// how many are not made. Known is false when a file has neither text.
func (w *workspace) landed(intents []*event.Intent) (made []*tools.Change, open int, known bool) {
	for _, intent := range intents {
		e := intent.Edit
		switch now, text := w.hashNow(e.Path); now {
		case e.After:
			made = append(made, &tools.Change{Path: e.Path, Created: e.Before == "", Deleted: e.After == "", After: text})
		case e.Before:
			open++
		default:
			return nil, 0, false
		}
	}
	return made, open, true
}

// restoreBefore sets a change's text before from what its intent keeps.
func restoreBefore(c *tools.Change, e *event.Edit) (err error) {
	if !c.Created {
		c.Before, err = inflate(e.Base)
	}
	return err
}

// takeBack reverts edits that landed.
func (w *workspace) takeBack(ctx context.Context, landed []*tools.Change, intents []*event.Intent) error {
	var back []tools.Edit
	for _, c := range landed {
		i := slices.IndexFunc(intents, func(i *event.Intent) bool { return i.Edit.Path == c.Path })
		if err := restoreBefore(c, intents[i].Edit); err != nil {
			return err
		}
		_, open := w.Buffer(c.Path)
		back = append(back, tools.Edit{Path: c.Path, Create: c.Deleted, Delete: c.Created, Before: c.After, After: c.Before, Open: open})
	}
	return tools.ApplyAll(ctx, w.Workspace, back)
}

// hashNow is the hash of a file's text and the text, the buffer's first; both
// are empty when there is no such file.
func (w *workspace) hashNow(path string) (hash, text string) {
	if doc, ok := w.Buffer(path); ok {
		return hashOf(doc.Text), doc.Text
	}
	text, err := tools.ReadText(w.Root(), path)
	if err != nil {
		return "", ""
	}
	return hashOf(text), text
}

// repeatable reports the effects of calls that may run twice: they change nothing.
func repeatable(effect string) bool {
	return effect == tools.None.String() || effect == tools.Read.String()
}

// effectOf is a call's effect as it was journaled, also when there is no such tool
// any more. A call of an older transcript has none there; its tool says.
func effectOf(ctx context.Context, t Tools, c *call) string {
	if c.effect != "" {
		return c.effect
	}
	return t.Decide(ctx, c.op).Effect.String()
}
