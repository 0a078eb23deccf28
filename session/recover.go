package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/event"
)

// recoverCore makes the core anew from the journal after a step that failed, and ends
// the turn that the step was of: what caused it was too much for the core. When
// that fails too the session is given up. Loop only.
func (s *Session) recoverCore(err error, cause event.Payload) {
	s.log.Error("the agent's core failed", "session", s.id, "err", err)
	if s.recovered {
		s.lose(err, cause)
		return
	}
	s.recovered = true
	if again := s.restore(s.ctx); again != nil {
		if s.ctx.Err() == nil {
			s.lose(fmt.Errorf("%w; and it could not be made anew: %w", err, again), cause)
		}
		return
	}
	if errors.Is(err, core.ErrPanic) || errors.Is(err, core.ErrNull) {
		err = fmt.Errorf("the conversation is full: it holds at most 16 MiB, and what came now does not fit: begin a new session, or ask for less at once: %w", err)
	}
	t := s.takeBack(cause)
	why := &event.Error{Turn: t.id, Source: "core", Message: err.Error(), Cancels: true}
	if u, ok := cause.(*event.User); ok {
		s.dismiss(t, why, u) // the core never had it
		return
	}
	s.end(t, why)
}

// takeBack returns the turn that a step was of. A result that caused it does not
// stand: the core did not get it. Its call is cut off, what it did stays known, so
// that it can be undone, and the model reads of it.
func (s *Session) takeBack(cause event.Payload) *turn {
	t := s.queue[0] // only a prompt or a cancel is of another one
	switch p := cause.(type) {
	case *event.User:
		t = s.queue[len(s.queue)-1]
	case *event.Note:
		t = s.queued(p.Turn)
	case *event.Error:
		t = s.queued(p.Turn)
	case *event.Result:
		t.calls[p.ID] = &call{id: p.ID, index: p.Call, lost: p}
		note := &event.Note{Turn: t.id, Model: true, Text: "the result of a call is lost, as the conversation could not take it; the call may have taken effect and was not run again"}
		if _, err := s.journal.record(s.ctx, note); err != nil && s.ctx.Err() == nil {
			s.log.Error("record a lost result", "session", s.id, "err", err)
		}
	}
	return t
}

// queued is a turn under way, the one that runs when there is no such turn.
func (s *Session) queued(id uint64) *turn {
	if i := slices.IndexFunc(s.queue, func(t *turn) bool { return t.id == id }); i >= 0 {
		return s.queue[i]
	}
	return s.queue[0]
}

// restore makes the core what the journal says that it was.
func (s *Session) restore(ctx context.Context) error {
	if s.core != nil {
		s.core.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it is of no use any more
		s.core = nil
	}
	l := &log{}
	for e, err := range s.journal.events(ctx, nil) {
		if err != nil {
			return fmt.Errorf("read the transcript: %w", err)
		}
		p, err := event.Decode(e.Payload.Data)
		if err != nil {
			return fmt.Errorf("transcript event %d: %w", e.Index, err)
		}
		l.events = append(l.events, logged{e, p})
	}
	return l.replay(ctx, s)
}

// dismiss ends turns that the core does not end, in the transcript alone. Replayed,
// a core that has them cancels them. The newest comes first, so that none of them
// begins. A prompt that was not taken up is kept for the person.
func (s *Session) dismiss(t *turn, why *event.Error, prompt *event.User, others ...*turn) {
	var payloads []event.Payload
	if prompt != nil {
		payloads = append(payloads, &event.Note{Turn: prompt.Turn, Text: "this prompt was not taken up: " + prompt.Text})
	}
	lost := slices.Concat(others, []*turn{t})
	for _, t := range slices.Backward(lost) {
		own := *why
		own.Turn = t.id
		payloads = append(payloads, &own)
		payloads = append(payloads, t.cutOff()...)
		payloads = append(payloads, &event.Done{Turn: t.id, Outcome: "failed"})
		s.ending(t)
	}
	if _, err := s.journal.record(s.ctx, payloads...); err != nil && s.ctx.Err() == nil {
		s.log.Error("record the failure", "session", s.id, "err", err)
	}
	for _, t := range lost {
		t.result.Text = why.Message
		s.finish(t, "failed")
	}
	s.backlog.next()
}

// lose gives the session up in this process because its core cannot go on from
// what caused its step: every turn ends, and a resume makes it anew. Loop only.
func (s *Session) lose(err error, cause event.Payload) {
	s.broken = err
	s.mu.Lock()
	s.endedBy = err
	s.mu.Unlock()
	s.log.Error("session cannot go on", "session", s.id, "err", err)
	if len(s.queue) == 0 {
		return
	}
	s.takeBack(cause)
	prompt, _ := cause.(*event.User)
	last := len(s.queue) - 1
	s.dismiss(s.queue[last], &event.Error{Source: "core", Message: err.Error(), Cancels: true}, prompt, s.queue[:last]...)
}
