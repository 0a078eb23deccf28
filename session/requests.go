package session

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/projection"
	"github.com/go-json-experiment/json/jsontext"
)

// requester makes the requests of one session to models: it chooses profiles, opens
// their models, projects the conversation, compacts it and counts what was used.
type requester struct {
	s *Session

	mu            sync.Mutex // guards what follows
	models        map[string]opened
	leftOut       string           // what was said last of AGENTS.md that is not read
	earlier       []earlierRequest // by processes before this one
	bytesPerToken float64          // of the last reply's request; 0 before

	granted float64 // beyond the session's limit on cost; guarded by mu

	projecting sync.Mutex // guards what follows: the request of a canceled turn may still be under way when the next one begins
	projector  projection.Projector
	pictures   pictures
	digests    digests
}

// respond asks the turn's profile once and, when that one is out of reach, each
// of its fallbacks in order.
func (q *requester) respond(a *ask) (model.Response, string, error) {
	name := q.s.profileOf(a.turn)
	profile, _ := a.turn.settings.profile(name)
	names := append([]string{name}, profile.Fallback...)
	var first error
	for i, name := range names {
		resp, err := q.respondWith(a, name)
		if err == nil {
			return resp, name, nil
		}
		if first == nil {
			first = err
		}
		if a.turn.ctx.Err() != nil || !mayFallBack(err) || i == len(names)-1 {
			return model.Response{}, "", first
		}
		if _, err := q.s.journal.record(a.turn.ctx, &event.Note{Turn: a.turn.id, Text: fmt.Sprintf(
			"profile %s: %v; trying profile %s", name, err, names[i+1])}); err != nil {
			return model.Response{}, "", err
		}
	}
	panic("unreachable")
}

func (q *requester) respondWith(a *ask, name string) (model.Response, error) {
	profile, ok := a.turn.settings.profile(name)
	if !ok {
		return model.Response{}, &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf(
			"no profile is named %q; the configuration has %s", name, profileNames(a.turn.settings.Profiles))}
	}
	m, err := q.modelOf(a.turn.ctx, profile)
	if err != nil {
		return model.Response{}, err
	}
	if _, counts := m.(model.Resumer); counts && a.before != nil {
		// The ask of a cancelled turn may not have come back yet, and its place in
		// the script is before this one's.
		<-a.before
	}
	return q.exchange(a, profile, m)
}

// exchange asks a model. A conversation that does not fit its context, or nearly
// so, is compacted once; pictures that the provider does not take are left out.
func (q *requester) exchange(a *ask, p model.Profile, m model.Model) (model.Response, error) {
	var refused *withheld
	for compacted := false; ; {
		req, err := q.project(a.turn, p, model.CapabilitiesOf(m, p))
		if err != nil {
			return model.Response{}, fmt.Errorf("prepare the model's messages: %w", err)
		}
		if !compacted && q.full(p, req.size()) {
			compacted = true
			if err := q.compact(a, p, m); err == nil {
				continue
			} else if err := q.tellUncompacted(a, err); err != nil {
				return model.Response{}, err
			}
		}
		if err := q.afford(a.turn, p, req.size()); err != nil {
			return model.Response{}, err
		}
		said := false
		resp, err := q.request(a.turn, m, model.Request{
			Profile: p, Messages: req.messages, Conversation: req.conversation, Tools: q.definitions(p), Step: stepOf(a.turn.id, a.round),
		}, func(d model.Delta) {
			said = said || d.Text != ""
			q.stream(a.turn, d)
		})
		if err == nil {
			q.measured(req.size(), resp.Usage)
			if _, scripted := m.(model.Resumer); !scripted && resp.Usage == (model.Usage{}) {
				resp.Usage = q.estimate(req.size(), &resp)
			}
			return resp, q.noteWithheld(a.turn, p.Name, refused)
		}
		if refused == nil {
			refused = q.withhold(a.turn, p.Name, req, err)
		} else if !overflows(err) {
			return resp, fmt.Errorf("%w; it was asked without pictures, after: %w", err, refused.err)
		}
		switch {
		case len(req.shown) > 0 && refused != nil:
		case compacted || !overflows(err):
			return resp, err
		default:
			compacted = true
			if why := q.compact(a, p, m); why != nil {
				return resp, fmt.Errorf("%w; and the conversation could not be compacted: %w", err, why)
			}
		}
		if said {
			q.stream(a.turn, model.Delta{Restarted: true})
		}
	}
}

// definitions are the session's tools as a profile's model is shown them: of the two
// that edit, the one that the profile is set to.
func (q *requester) definitions(p model.Profile) []jsontext.Value {
	other := "patch"
	if p.Edits == "patch" {
		other = "edit"
	}
	var out []jsontext.Value
	for _, d := range q.s.tools.Definitions() {
		if d.Name != other {
			out = append(out, model.Definition(d.Name, d.Description, d.Parameters))
		}
	}
	return out
}

// request asks a model within the time that a request may take.
func (q *requester) request(t *turn, m model.Model, req model.Request, delta func(model.Delta)) (model.Response, error) {
	limit := t.settings.RequestTimeout
	if limit <= 0 {
		return m.Respond(t.ctx, req, delta)
	}
	ctx, cancel := q.s.clock.WithTimeout(t.ctx, limit)
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
func (q *requester) tellUncompacted(a *ask, err error) error {
	if errors.Is(err, errNothingToCompact) {
		return nil
	}
	_, err = q.s.journal.record(a.turn.ctx, &event.Note{Turn: a.turn.id, Text: "the conversation was not compacted: " + err.Error()})
	return err
}

// stream shows a piece of a reply as it comes.
func (q *requester) stream(t *turn, d model.Delta) {
	if d.Restarted {
		q.s.editor.Delta(q.s.id, t.id, "\n[the reply was cut off; here it is anew]\n")
	}
	if d.Text != "" {
		q.s.editor.Delta(q.s.id, t.id, d.Text)
	}
}

// opened is a profile's model, and what of the profile it is bound to: the rest comes
// with each request, as settings change while a session runs.
type opened struct {
	model.Model
	provider, script string
}

// modelOf returns the session's one model for a profile.
func (q *requester) modelOf(ctx context.Context, p model.Profile) (model.Model, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if m, ok := q.models[p.Name]; ok && m.provider == p.Provider && m.script == p.Script {
		return m.Model, nil
	}
	m, err := q.s.cfg.Provider(ctx, p, ProviderEnv{Session: q.s.id, Clock: q.s.clock, Resumed: q.s.resumed})
	if err != nil {
		return nil, fmt.Errorf("open profile %s: %w", p.Name, err)
	}
	if r, ok := m.(model.Resumer); ok {
		for _, a := range q.earlier {
			if a.profile == p.Name {
				r.Answered(a.step, a.providerID)
			}
		}
	}
	q.models[p.Name] = opened{m, p.Provider, p.Script}
	return m, nil
}
