package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
)

// ask starts the model call that the core wants, or ends the turn that has had
// its share of them. Loop only.
func (s *Session) ask(a *ask) {
	limit := a.turn.maxRounds()
	if a.turn.stopping != nil {
		s.end(a.turn, a.turn.stopping)
		return
	}
	if a.round > limit {
		s.end(a.turn, &event.Note{Turn: a.turn.id, Cancels: true, Model: true, Text: fmt.Sprintf(
			"stopped after %d model rounds, the limit of a turn; prompt again to go on", limit)})
		return
	}
	s.setDoing("asking the model")
	done := make(chan struct{})
	a.before, s.asking = s.asking, done
	s.wg.Go(func() {
		defer close(done)
		msg, reply, err := s.requests.askModel(a)
		described := describe(a.turn.ctx, s.tools, reply.Calls)
		s.mail.post(func() {
			var stopped *tooDear
			switch {
			case a.turn.finished || s.broken != nil:
			case errors.As(err, &stopped):
				s.end(a.turn, &event.Note{Turn: a.turn.id, Text: stopped.text, Cancels: true, Model: true})
			case err != nil:
				s.fail(a.turn, err)
			default:
				a.turn.described = described
				s.step(core.Event{Model: &core.Answer{ID: a.id, Reply: reply}}, msg)
			}
		})
	})
}

// maxRounds is how many model calls the turn may have.
func (t *turn) maxRounds() int {
	if t.settings.MaxRounds > 0 {
		return t.settings.MaxRounds
	}
	return DefaultMaxRounds
}

// described is what the transcript says of a call beside the call itself.
type described struct{ title, effect string }

// describe says what calls are about, before they are journaled.
func describe(ctx context.Context, t Tools, calls []core.Call) []described {
	out := make([]described, len(calls))
	for i, c := range calls {
		d := t.Decide(ctx, c)
		out[i] = described{d.Title, d.Effect.String()}
	}
	return out
}

// fail ends a turn whose model call failed for good. Loop only.
func (s *Session) fail(t *turn, err error) {
	ev := &event.Error{Turn: t.id, Source: "model", Message: err.Error(), Cancels: true}
	if me, ok := errors.AsType[*model.Error](err); ok {
		ev.Source = string(me.Kind)
	}
	s.end(t, ev)
}

// misfits counts replies of one ask whose calls fit no tool.
type misfits struct {
	last string // the faults of the last one
	n    int    // how many in a row had these
	all  int
}

// add counts a reply. It returns why the ask ends with it, and nothing when the model
// is to try again: it does as long as it errs in another way each time, at most as
// often as a turn may ask at all.
func (m *misfits) add(faults []string, limit int) error {
	if text := strings.Join(faults, "\n"); text != m.last {
		m.last, m.n = text, 0
	}
	m.n++
	m.all++
	switch {
	case m.n > maxRefusals:
		return &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf(
			"the model sent calls that fit no tool %d times in a row in the same way: %s", m.n, faults[0])}
	case m.all >= limit:
		return &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf(
			"the model sent calls that fit no tool %d times, as often as a turn may ask it; the last fault: %s", m.all, faults[0])}
	}
	return nil
}

// askModel asks until the model's calls fit their schemas, or until misfits ends it.
// A reply with a call that does not fit gets a result in the transcript and never
// reaches the core.
func (q *requester) askModel(a *ask) (*event.Message, core.Reply, error) {
	wrote := false // a call as text
	var bad misfits
	for attempt := a.event.Attempt; ; attempt++ {
		resp, profile, err := q.respond(a)
		if err != nil {
			return nil, core.Reply{}, err
		}
		event.Valid(&resp)
		by, _ := a.turn.settings.profile(profile)
		tooLong := cutReply(&resp, bound(by))
		msg := &event.Message{
			Turn: a.turn.id, Ask: a.id, Text: resp.Text, Reasoning: resp.Reasoning, Calls: model.NormalizeStep(stepOf(a.turn.id, a.round), resp.Calls),
			Usage: resp.Usage, Finish: resp.Finish, ProviderID: resp.ProviderID, Profile: profile, Sealed: resp.Sealed,
		}
		typed, faults := q.typedCalls(msg, tooLong)
		if err := q.noteCut(a.turn, profile, &resp); err != nil {
			return nil, core.Reply{}, err
		}
		if tool := q.calledInText(msg); tool != "" {
			if err := q.refuseText(a, msg, tool, attempt, &wrote); err != nil {
				return nil, core.Reply{}, err
			}
			continue
		}
		if faults == nil {
			return msg, core.Reply{Text: resp.Text, Calls: typed}, nil
		}
		why := bad.add(faults, a.turn.maxRounds())
		if err := errors.Join(q.refuse(a, msg, faults, attempt, why == nil), why); err != nil {
			return nil, core.Reply{}, err
		}
	}
}

// refuse records a reply whose calls do not fit, with a result for each, and the
// next attempt of the ask if there is to be one.
func (q *requester) refuse(a *ask, msg *event.Message, faults []string, attempt int, more bool) error {
	msg.Refused = true
	payloads := []event.Payload{msg}
	for _, fc := range msg.Calls {
		payloads = append(payloads, &event.Call{
			Turn: a.turn.id, ProviderID: fc.ID, Name: fc.Name, Arguments: fc.Arguments,
		})
	}
	var results []*event.Result
	for i, text := range faults {
		r := &event.Result{Turn: a.turn.id, Call: 1 + uint64(i), State: event.Failed, Text: text}
		results = append(results, r)
		payloads = append(payloads, r)
	}
	if more {
		again := *a.event
		again.Attempt = attempt + 1
		payloads = append(payloads, &again)
	}
	_, err := q.s.journal.recordAt(a.turn.ctx, func(first uint64) {
		for _, r := range results {
			r.Call += first
		}
	}, payloads...)
	return err
}

// typedCalls returns the reply's calls for the core, or a text for each call when
// one of them does not fit; tooLong is one for all of them.
func (q *requester) typedCalls(msg *event.Message, tooLong string) ([]core.Call, []string) {
	calls := make([]core.Call, len(msg.Calls))
	faults := make([]string, len(msg.Calls))
	bad := false
	for i, fc := range msg.Calls {
		var err error
		if calls[i], err = q.s.tools.Typed(fc.Name, fc.Arguments); err != nil {
			faults[i], bad = err.Error(), true
		}
	}
	if why := cutBy(msg.Finish); why != "" && len(msg.Calls) > 0 {
		// A call may have lost its end even where its arguments happen to parse.
		bad = true
		for i := range faults {
			faults[i] = "not run: the reply was cut by " + why + "; " + instead(msg.Finish)
		}
	}
	if tooLong != "" {
		bad = true
		for i := range faults {
			faults[i] = tooLong
		}
	}
	if !bad {
		return calls, nil
	}
	for i := range faults {
		if faults[i] == "" {
			faults[i] = "not run: another call of the same reply does not fit its tool; send this call again"
		}
	}
	return nil, faults
}

// cutBy returns what took the end of a reply that finished for this reason, or
// nothing.
func cutBy(finish string) string {
	switch finish {
	case "length", "max_tokens", "max_output_tokens":
		return "the output limit"
	case "content_filter", "refusal":
		return "the provider's filter"
	}
	return ""
}

// instead is what the model can do after such an end.
func instead(finish string) string {
	if strings.Contains(cutBy(finish), "filter") {
		return "do something else"
	}
	return "send a shorter call"
}

// noteCut says that a text without calls, which ends the turn, has lost its end.
func (q *requester) noteCut(t *turn, profile string, resp *model.Response) error {
	why := cutBy(resp.Finish)
	switch {
	case why == "" || len(resp.Calls) > 0:
		return nil
	case resp.Finish == "refusal":
		why = "the model refused to go on"
	case resp.Finish == "content_filter":
		why = "the reply was cut by " + why
	default:
		why = "the reply was cut by " + why + "; prompt to go on, or raise max_output of profile " + profile
	}
	_, err := q.s.journal.record(t.ctx, &event.Note{Turn: t.id, Text: why})
	return err
}

// earlierRequest is one that was finished before this process took the session up.
type earlierRequest struct{ profile, step, providerID string }

// stepOf names a model round as scripts key it.
func stepOf(turn uint64, round int) string { return fmt.Sprintf("%d/%d", turn, round) }

// mayFallBack reports the failures that another profile may not have.
func mayFallBack(err error) bool {
	me, ok := errors.AsType[*model.Error](err)
	return ok && (me.Kind == model.Overloaded || me.Kind == model.Auth || me.Kind == model.Network)
}
