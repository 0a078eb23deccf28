package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
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

func TestASummarizedConversationIsResumed(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	m := &small{limit: 6000}
	withModel(r, m, 0)
	id, turns := uuid.Nil, 12
	for i := range turns {
		id, _ = r.run(fmt.Sprintf("request number %d", i))
	}
	if len(summaries(r)) == 0 {
		t.Fatal("nothing was summarized")
	}
	before := folds(t, r.store, id)
	r.Shutdown()
	cfg := r.cfg
	cfg.Store = func(context.Context) (store.Store, error) {
		return &faultyStore{Store: r.store, snapshots: func([]store.Snapshot) []store.Snapshot { return nil }}, nil
	}
	r.Manager = NewManager(cfg, r)
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	m.requests = nil
	res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "and now?"})))
	if res.Outcome != "complete" || len(m.requests) == 0 {
		t.Fatalf("the turn after the resume ended %+v", res)
	}
	var all strings.Builder
	for _, msg := range m.requests[len(m.requests)-1].Messages {
		all.Write(msg)
	}
	if !strings.Contains(all.String(), "They talked.") || !strings.Contains(all.String(), "request number 0") || !strings.Contains(all.String(), "and now?") {
		t.Errorf("the model was sent %s", all.String())
	}
	if d := cmp.Diff(before.Messages, folds(t, r.store, id).Messages[:len(before.Messages)]); d != "" {
		t.Errorf("the history changed:\n%s", d)
	}
}
