package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
)

// ask starts the model call that the core wants, or ends the turn that has had
// its share of them. Loop only.
func (s *Session) ask(a *ask) {
	limit := a.turn.settings.MaxRounds
	if limit <= 0 {
		limit = DefaultMaxRounds
	}
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
		msg, reply, err := s.askModel(a)
		described := s.describe(a.turn, reply.Calls)
		s.mail.post(func() {
			switch {
			case a.turn.finished || s.broken != nil:
			case err != nil:
				s.fail(a.turn, err)
			default:
				a.turn.described = described
				s.step(core.Event{Model: &core.Answer{ID: a.id, Reply: reply}}, msg)
			}
		})
	})
}

// described is what the transcript says of a call beside the call itself.
type described struct{ title, effect string }

// describe says what calls are about, before they are journaled.
func (s *Session) describe(t *turn, calls []core.Call) []described {
	out := make([]described, len(calls))
	for i, c := range calls {
		d := s.tools.Decide(t.ctx, c)
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

// askModel asks until the model's calls fit their schemas, at most maxRefusals
// times more. A reply with a call that does not fit gets a result in the transcript
// and never reaches the core.
func (s *Session) askModel(a *ask) (*event.Message, core.Reply, error) {
	wrote := false // a call as text
	for attempt := a.event.Attempt; ; attempt++ {
		resp, profile, err := s.respond(a)
		if err != nil {
			return nil, core.Reply{}, err
		}
		event.Valid(&resp)
		tooLong := cutReply(&resp, bound(a.turn.settings.Profiles[profile]))
		msg := &event.Message{
			Turn: a.turn.id, Ask: a.id, Text: resp.Text, Reasoning: resp.Reasoning, Calls: model.NormalizeStep(stepOf(a.turn.id, a.round), resp.Calls),
			Usage: resp.Usage, Finish: resp.Finish, ProviderID: resp.ProviderID, Profile: profile, Sealed: resp.Sealed,
		}
		typed, faults := s.typedCalls(msg, tooLong)
		if err := s.noteCut(a.turn, profile, &resp); err != nil {
			return nil, core.Reply{}, err
		}
		if tool := s.calledInText(msg); tool != "" {
			if err := s.refuseText(a, msg, tool, attempt, &wrote); err != nil {
				return nil, core.Reply{}, err
			}
			continue
		}
		if faults == nil {
			return msg, core.Reply{Text: resp.Text, Calls: typed}, nil
		}
		if err := s.refuse(a, msg, faults, attempt); err != nil {
			return nil, core.Reply{}, err
		}
	}
}

// refuse records a reply whose calls do not fit, with a result for each, and the
// next attempt of the ask.
func (s *Session) refuse(a *ask, msg *event.Message, faults []string, attempt int) error {
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
	if attempt <= maxRefusals {
		again := *a.event
		again.Attempt = attempt + 1
		payloads = append(payloads, &again)
	}
	if _, err := s.journal.recordAt(a.turn.ctx, func(first uint64) {
		for _, r := range results {
			r.Call += first
		}
	}, payloads...); err != nil {
		return err
	}
	if attempt > maxRefusals {
		return &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf(
			"the model sent calls that fit no tool %d times in a row; the last fault: %s", attempt, faults[0])}
	}
	return nil
}

// typedCalls returns the reply's calls for the core, or a text for each call when
// one of them does not fit; tooLong is one for all of them.
func (s *Session) typedCalls(msg *event.Message, tooLong string) ([]core.Call, []string) {
	calls := make([]core.Call, len(msg.Calls))
	faults := make([]string, len(msg.Calls))
	bad := false
	for i, fc := range msg.Calls {
		var err error
		if calls[i], err = s.tools.Typed(fc.Name, fc.Arguments); err != nil {
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
func (s *Session) noteCut(t *turn, profile string, resp *model.Response) error {
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
	_, err := s.journal.record(t.ctx, &event.Note{Turn: t.id, Text: why})
	return err
}

// respond asks the turn's profile once and, when that one is out of reach, each
// of its fallbacks in order.
func (s *Session) respond(a *ask) (model.Response, string, error) {
	names := append([]string{s.profileOf(a.turn)}, a.turn.settings.Profiles[s.profileOf(a.turn)].Fallback...)
	var first error
	for i, name := range names {
		resp, err := s.respondWith(a, name)
		if err == nil {
			s.count(resp.Usage)
			return resp, name, nil
		}
		if first == nil {
			first = err
		}
		if a.turn.ctx.Err() != nil || !mayFallBack(err) || i == len(names)-1 {
			return model.Response{}, "", first
		}
		if _, err := s.journal.record(a.turn.ctx, &event.Note{Turn: a.turn.id, Text: fmt.Sprintf(
			"profile %s: %v; trying profile %s", name, err, names[i+1])}); err != nil {
			return model.Response{}, "", err
		}
	}
	panic("unreachable")
}

func (s *Session) respondWith(a *ask, name string) (model.Response, error) {
	profile, ok := a.turn.settings.Profiles[name]
	if !ok {
		return model.Response{}, &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf(
			"no profile is named %q; the configuration has %s", name, profileNames(a.turn.settings.Profiles))}
	}
	profile.Name = name
	m, err := s.modelOf(a.turn.ctx, profile)
	if err != nil {
		return model.Response{}, err
	}
	if _, counts := m.(model.Resumer); counts && a.before != nil {
		// The ask of a cancelled turn may not have come back yet, and its place in
		// the script is before this one's.
		<-a.before
	}
	return s.exchange(a, profile, m)
}

// exchange asks a model. A conversation that does not fit its context, or nearly
// so, is compacted once; pictures that the provider does not take are left out.
func (s *Session) exchange(a *ask, p model.Profile, m model.Model) (model.Response, error) {
	var refused *withheld
	for compacted := false; ; {
		req, err := s.project(a.turn, p, model.CapabilitiesOf(m, p))
		if err != nil {
			return model.Response{}, fmt.Errorf("prepare the model's messages: %w", err)
		}
		if !compacted && s.full(p, req.size()) {
			compacted = true
			if err := s.compact(a, p, m); err == nil {
				continue
			} else if err := s.tellUncompacted(a, err); err != nil {
				return model.Response{}, err
			}
		}
		said := false
		resp, err := s.request(a.turn, m, model.Request{
			Profile: p, Messages: req.messages, Conversation: req.conversation, Tools: s.definitions(), Step: stepOf(a.turn.id, a.round),
		}, func(d model.Delta) {
			said = said || d.Text != ""
			s.stream(a.turn, d)
		})
		if err == nil {
			s.measured(req.size(), resp.Usage)
			return resp, s.noteWithheld(a.turn, p.Name, refused)
		}
		if refused == nil {
			refused = s.withhold(a.turn, p.Name, req, err)
		} else if !overflows(err) {
			return resp, fmt.Errorf("%w; it was asked without pictures, after: %w", err, refused.err)
		}
		switch {
		case len(req.shown) > 0 && refused != nil:
		case compacted || !overflows(err):
			return resp, err
		default:
			compacted = true
			if why := s.compact(a, p, m); why != nil {
				return resp, fmt.Errorf("%w; and the conversation could not be compacted: %w", err, why)
			}
		}
		if said {
			s.stream(a.turn, model.Delta{Restarted: true})
		}
	}
}

// definitions are the session's tools as models are shown them.
func (s *Session) definitions() []jsontext.Value {
	defs := s.tools.Definitions()
	out := make([]jsontext.Value, len(defs))
	for i, d := range defs {
		out[i] = model.Definition(d.Name, d.Description, d.Parameters)
	}
	return out
}

// request asks a model within the time that a request may take.
func (s *Session) request(t *turn, m model.Model, req model.Request, delta func(model.Delta)) (model.Response, error) {
	limit := t.settings.RequestTimeout
	if limit <= 0 {
		return m.Respond(t.ctx, req, delta)
	}
	ctx, cancel := s.clock.WithTimeout(t.ctx, limit)
	defer cancel()
	resp, err := m.Respond(ctx, req, delta)
	if err != nil && t.ctx.Err() == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = &model.Error{Kind: model.Timeout, Message: fmt.Sprintf(
			"profile %s did not finish its reply within %s, the timeout of a request (%v)", req.Profile.Name, limit, err)}
	}
	return resp, err
}

// tellUncompacted says that a summary was due and is not there; the request goes
// out as it is.
func (s *Session) tellUncompacted(a *ask, err error) error {
	if errors.Is(err, errNothingToCompact) {
		return nil
	}
	_, err = s.journal.record(a.turn.ctx, &event.Note{Turn: a.turn.id, Text: "the conversation was not compacted: " + err.Error()})
	return err
}

// stream shows a piece of a reply as it comes.
func (s *Session) stream(t *turn, d model.Delta) {
	if d.Restarted {
		s.editor.Delta(s.id, t.id, "\n[the reply was cut off; here it is anew]\n")
	}
	if d.Text != "" {
		s.editor.Delta(s.id, t.id, d.Text)
	}
}

// opened is a profile's model, and what of the profile it is bound to: the rest comes
// with each request, as settings change while a session runs.
type opened struct {
	model.Model
	provider, script string
}

// modelOf returns the session's one model for a profile.
func (s *Session) modelOf(ctx context.Context, p model.Profile) (model.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.models[p.Name]; ok && m.provider == p.Provider && m.script == p.Script {
		return m.Model, nil
	}
	m, err := s.cfg.Provider(ctx, p, ProviderEnv{Session: s.id, Clock: s.clock, Resumed: s.resumed})
	if err != nil {
		return nil, fmt.Errorf("open profile %s: %w", p.Name, err)
	}
	if r, ok := m.(model.Resumer); ok {
		for _, a := range s.earlier {
			if a.profile == p.Name {
				r.Answered(a.step, a.providerID)
			}
		}
	}
	s.models[p.Name] = opened{m, p.Provider, p.Script}
	return m, nil
}

// count adds a reply's usage to the session's.
func (s *Session) count(u model.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage.Input += u.Input
	s.usage.CachedInput += u.CachedInput
	s.usage.Output += u.Output
	s.usage.Reasoning += u.Reasoning
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
