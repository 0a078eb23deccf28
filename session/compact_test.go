package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
)

// small is a model whose context holds so many bytes, and which answers the same.
type small struct {
	limit    int
	requests []model.Request
}

func (m *small) Respond(_ context.Context, req model.Request, _ func(model.Delta)) (model.Response, error) {
	m.requests = append(m.requests, req)
	if n := size(req.Messages); n > m.limit {
		return model.Response{}, &model.Error{Kind: model.ContextOverflow, Message: fmt.Sprintf("%d bytes are too many", n)}
	}
	if strings.Contains(string(req.Messages[len(req.Messages)-1]), "Summarize the conversation") {
		return model.Response{Text: new("They talked."), Finish: "stop"}, nil
	}
	return model.Response{Text: new(strings.Repeat("blah ", 200)), Finish: "stop"}, nil
}

func withModel(r *rig, m model.Model, window int) {
	r.Shutdown()
	r.cfg.Provider = func(context.Context, model.Profile, ProviderEnv) (model.Model, error) { return m, nil }
	r.cfg.Settings.Prelude = "Be brief."
	r.cfg.Settings.Profiles = map[string]model.Profile{"demo": {Provider: "test", Context: window, MaxOutput: 100}}
	r.Manager = NewManager(r.cfg, r)
}

func summaries(r *rig) []*event.Summary {
	var out []*event.Summary
	for _, p := range r.events {
		if s, ok := p.(*event.Summary); ok {
			out = append(out, s)
		}
	}
	return out
}

func TestAConversationThatOverflowsIsCompactedOnceAndGoesOn(t *testing.T) {
	for name, window := range map[string]int{"the model says so": 0, "the profile says so": 1600} {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
			m := &small{limit: 6000}
			withModel(r, m, window)
			for i := range 20 {
				if _, res := r.run(fmt.Sprintf("request number %d", i)); res.Outcome != "complete" {
					t.Fatalf("turn %d ended %+v", i, res)
				}
			}
			got := summaries(r)
			if len(got) < 2 {
				t.Fatalf("%d summaries were written, want several", len(got))
			}
			last := got[len(got)-1].Text
			if !strings.Contains(last, "- request number 0\n") || !strings.HasSuffix(last, "They talked.") {
				t.Errorf("the last summary is %q", last)
			}
			if strings.Contains(last, "Summarize the conversation") || strings.Count(last, "They talked.") != 1 {
				t.Errorf("a summary was taken for a request, or nested: %q", last)
			}
		})
	}
}

func TestATurnThatAloneOverflowsFailsWithTheReason(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	withModel(r, &small{limit: 3000}, 0)
	_, res := r.run(strings.Repeat("long ", 1000))
	if res.Outcome != "cancelled" || !strings.Contains(res.Text, "nothing before this turn") {
		t.Errorf("turn ended %+v", res)
	}
}
