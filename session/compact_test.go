package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// small is a model whose context takes so many bytes, and which replies the same.
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

func TestWhenARequestIsTooLargeForTheWindow(t *testing.T) {
	for _, c := range []struct {
		name            string
		context, output int
		perToken        float64
		largest         int // bytes that still fit
	}{
		{"room for an answer as the profile says", 1600, 100, 0, 5700},
		{"a quarter of a small window", 1000, 0, 0, 2850},
		{"at most 8000 tokens of a large one", 100000, 0, 0, 349600},
		{"as many bytes a token as were measured", 1600, 100, 2, 2850},
	} {
		q := &requester{bytesPerToken: c.perToken}
		p := model.Profile{Context: c.context, MaxOutput: c.output}
		if q.full(p, c.largest) || !q.full(p, c.largest+1) {
			t.Errorf("%s: %d bytes are full: %t, one more: %t", c.name, c.largest, q.full(p, c.largest), q.full(p, c.largest+1))
		}
		if q.full(model.Profile{MaxOutput: c.output}, 1<<30) {
			t.Errorf("%s: full without a window", c.name)
		}
	}
	q := new(requester)
	for _, c := range []struct {
		bytes  int
		tokens uint64
		want   float64
	}{
		{300, 100, 4}, {2997, 999, 4}, {3000, 1000, 3}, {100, 5000, 1}, {100000, 1000, 8}, {300, 0, 8},
	} {
		if q.measured(c.bytes, model.Usage{Input: c.tokens}); q.perToken() != c.want {
			t.Errorf("after %d bytes in %d tokens: %v bytes a token, want %v", c.bytes, c.tokens, q.perToken(), c.want)
		}
	}
}

func TestTheWordsOfThePersonAreKept(t *testing.T) {
	said := func(texts ...string) history.History {
		var h history.History
		for i, text := range texts {
			h.Messages = append(h.Messages, history.Message{ID: uint64(3 * i), Role: history.User, Text: text},
				history.Message{ID: uint64(3*i + 1), Role: history.Assistant, Text: "an answer"}, history.Message{ID: uint64(3*i + 2), Role: history.Agent, Text: "a note"})
		}
		return h
	}
	long := strings.Repeat("ä", maxRequest)
	full := "- " + long + "\n"
	for name, c := range map[string]struct {
		texts []string
		want  string // after the heading
	}{
		"all of them":   {[]string{"one", "two"}, "- one\n- two\n\n"},
		"at the limit":  {[]string{long}, full + "\n"},
		"over it":       {[]string{long + "bc"}, "- " + long + " [… 2 more characters]\n\n"},
		"six of them":   {[]string{long, long, long, long, long, long}, strings.Repeat(full, 6) + "\n"},
		"one left out":  {[]string{"first", long, long, long, long, long, long}, "- first\n- (1 prompts left out)\n" + strings.Repeat(full, 5) + "\n"},
		"many left out": {[]string{long, "old", "older", long, long, long, long, "new", long}, full + "- (3 prompts left out)\n" + strings.Repeat(full, 3) + "- new\n" + full + "\n"},
	} {
		short := strings.NewReplacer(long, "<long>")
		if d := cmp.Diff(short.Replace("What the user asked for, in their own words:\n"+c.want), short.Replace(requests(said(c.texts...)))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	if got := requests(history.History{}); got != "" {
		t.Errorf("of nobody: %q", got)
	}
}

// stubborn refuses requests for a summary of more than so many messages.
type stubborn struct {
	fits  int
	kind  model.ErrorKind
	asked []model.Request
}

func (m *stubborn) Respond(_ context.Context, req model.Request, _ func(model.Delta)) (model.Response, error) {
	last := string(req.Messages[len(req.Messages)-1])
	switch {
	case !strings.Contains(last, "Summarize the conversation"):
		if len(m.asked) == 0 && len(req.Messages) > 20 {
			return model.Response{}, &model.Error{Kind: model.ContextOverflow, Message: "too long"}
		}
		return model.Response{Text: new("ok"), Finish: "stop", Usage: model.Usage{Output: 1}}, nil
	default:
		m.asked = append(m.asked, req)
		if len(req.Messages) > m.fits {
			return model.Response{}, &model.Error{Kind: m.kind, Message: "no summary of that"}
		}
		return model.Response{Text: new("They talked \xff."), ProviderID: "sum-1", Usage: model.Usage{Input: 7, Output: 2}, Finish: "stop"}, nil
	}
}

func TestASummaryIsMadeOfEverLessUntilItFits(t *testing.T) {
	for name, c := range map[string]struct {
		fits  int
		kind  model.ErrorKind
		asked []int // messages of each request for a summary
		ends  string
	}{
		"at once":               {99, model.ContextOverflow, []int{22}, "ok"},
		"the second time":       {11, model.ContextOverflow, []int{22, 10}, "ok"},
		"the fourth time":       {4, model.ContextOverflow, []int{22, 10, 6, 2}, "ok"},
		"never":                 {1, model.ContextOverflow, []int{22, 10, 6, 2, 2}, "could not be compacted"},
		"for another reason":    {1, model.BadRequest, []int{22}, "could not be compacted"},
		"while it is too busy":  {1, model.Overloaded, []int{22}, "could not be compacted"},
		"with nothing but room": {22, model.ContextOverflow, []int{22}, "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
			m := &stubborn{fits: c.fits, kind: c.kind}
			withModel(r, m, 0)
			var id uuid.UUID
			var res TurnResult
			for i := range 11 {
				id, res = r.run(fmt.Sprintf("request number %d", i))
			}
			if !strings.Contains(res.Text, c.ends) {
				t.Errorf("the turn ended %+v", res)
			}
			var asked []int
			for _, req := range m.asked {
				asked = append(asked, len(req.Messages))
				if req.Step != "11/0" || req.Tools != nil || !strings.Contains(string(req.Messages[0]), "Be brief.") {
					t.Errorf("the request for a summary has step %s, %d tools and begins with %s", req.Step, len(req.Tools), req.Messages[0])
				}
			}
			if d := cmp.Diff(c.asked, asked); d != "" {
				t.Errorf("messages of the requests for a summary (-want +got):\n%s", d)
			}
			if c.ends != "ok" {
				return
			}
			var told strings.Builder
			told.WriteString("What the user asked for, in their own words:\n")
			for i := range 10 {
				fmt.Fprintf(&told, "- request number %d\n", i)
			}
			want := []*event.Summary{{Turn: 11, Text: told.String() + "\nThey talked \ufffd.", CoveredUpTo: summaries(r)[0].CoveredUpTo, Usage: model.Usage{Input: 7, Output: 2}, Profile: "demo", ProviderID: "sum-1"}}
			if d := cmp.Diff(want, summaries(r)); d != "" {
				t.Errorf("the summary (-want +got):\n%s", d)
			}
			h := folds(t, r.store, id)
			if h.Messages[h.Covered()].Text != "request number 10" {
				t.Errorf("the summary covers %d messages", h.Covered())
			}
			if got, want := r.Status().Usage, (Usage{Input: 7, Output: 11 + 2}); got != want {
				t.Errorf("the status counts %+v, want %+v", got, want)
			}
		})
	}
}

// narrow takes requests for a summary, and the first of the others.
type narrow struct {
	stubborn
	steps []string
}

func (m *narrow) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	m.steps = append(m.steps, req.Step)
	if len(m.steps) > 1 && req.Tools != nil {
		return model.Response{}, &model.Error{Kind: model.ContextOverflow, Message: "too long"}
	}
	return m.stubborn.Respond(ctx, req, delta)
}

func TestARequestThatOverflowsAfterASummaryIsNotSentAgain(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	m := &narrow{stubborn: stubborn{fits: 99}}
	withModel(r, m, 0)
	r.run("one")
	if _, res := r.run("two"); res.Outcome != "failed" || !strings.HasSuffix(res.Text, "context_overflow: too long") {
		t.Errorf("the turn ended %+v", res)
	}
	if d := cmp.Diff([]string{"1/1", "2/1", "2/0", "2/1"}, m.steps); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

func TestAShortConversationIsNotSummarizedInParts(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	m := &narrow{stubborn: stubborn{fits: 1, kind: model.ContextOverflow}}
	withModel(r, m, 0)
	r.run("one")
	if _, res := r.run("two"); !strings.Contains(res.Text, "could not be compacted") || len(m.asked) != 1 {
		t.Errorf("the turn ended %+v after %d requests for a summary, want 1", res, len(m.asked))
	}
}

// blank replies to the request for a summary with white space.
type blank struct{ small }

func (m *blank) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	resp, err := m.small.Respond(ctx, req, delta)
	if err == nil && strings.Contains(string(req.Messages[len(req.Messages)-1]), "Summarize the conversation") {
		resp.Text = new(" \n")
	}
	return resp, err
}

// A window that the profile only guesses at does not stop a conversation that
// cannot be summarized, and it says so once a turn at most.
func TestAConversationThatCannotBeSummarizedGoesOnWhileItFits(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	withModel(r, &blank{small{limit: 1 << 20}}, 400)
	// The first turn is over the window already, and there is nothing to say of it.
	for i := range 4 {
		if _, res := r.run(fmt.Sprintf("request number %d", i) + strings.Repeat(".", 2000)); res.Outcome != "complete" {
			t.Fatalf("turn %d ended %+v", i, res)
		}
	}
	notes := strings.Count(r.kinds(), "note the conversation was not compacted: model answered bad_request: the reply to the request for a summary is empty")
	if all := strings.Count(r.kinds(), "note "); len(summaries(r)) != 0 || notes != 3 || all != 3 {
		t.Errorf("%d summaries, %d notes in 4 turns:\n%s", len(summaries(r)), notes, r.kinds())
	}
}

func TestATurnThatAloneOverflowsFailsWithTheReason(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	withModel(r, &small{limit: 3000}, 0)
	_, res := r.run(strings.Repeat("long ", 1000))
	if res.Outcome != "failed" || !strings.Contains(res.Text, "nothing before this turn") {
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

// halved replies to the request for a summary with a text that is no whole text.
type halved struct {
	small
	resp model.Response
}

func (m *halved) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	resp, err := m.small.Respond(ctx, req, delta)
	if err == nil && strings.Contains(string(req.Messages[len(req.Messages)-1]), "Summarize the conversation") {
		return m.resp, nil
	}
	return resp, err
}

func TestASummaryThatIsNotWholeIsNotTaken(t *testing.T) {
	call := []model.FunctionCall{{ID: "1", Name: "read", Arguments: `{"path":"a"}`}}
	for want, resp := range map[string]model.Response{
		"cut by the output limit":          {Finish: "length"},
		"was cut by the output limit":      {Finish: "max_tokens"},
		"summary was cut by the output":    {Finish: "max_output_tokens"},
		"cut by the provider's filter":     {Finish: "content_filter"},
		"was cut by the provider's filter": {Finish: "refusal"},
		"request for a summary is a call":  {Finish: "tool_calls", Calls: call},
	} {
		r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
		resp.Text = new("They tal")
		withModel(r, &halved{small{limit: 1 << 20}, resp}, 400)
		for i := range 2 {
			if _, res := r.run(fmt.Sprintf("request number %d", i) + strings.Repeat(".", 2000)); res.Outcome != "complete" {
				t.Fatalf("%s: turn %d ended %+v", want, i, res)
			}
		}
		if len(summaries(r)) != 0 || !strings.Contains(r.kinds(), want) {
			t.Errorf("%d summaries, and no note says %q:\n%s", len(summaries(r)), want, r.kinds())
		}
	}
}

func TestAReplyThatLostItsEndIsNoted(t *testing.T) {
	for finish, want := range map[string]string{
		"length": "the reply was cut by the output limit; prompt to go on, or raise max_output of profile demo", "max_tokens": "the reply was cut by the output limit",
		"max_output_tokens": "the reply was cut by the output limit", "content_filter": "the reply was cut by the provider's filter", "refusal": "the model refused to go on", "stop": "",
	} {
		r := start(t, nil, "version: 1\nentries: [{text: Half an, finish: "+finish+"}]\n")
		_, res := r.run("go")
		if told := strings.Contains(r.kinds(), "note "+want); res.Text != "Half an" || told != (want != "") && want != "" || want == "" && strings.Contains(r.kinds(), "note") {
			t.Errorf("%s: %+v, want a note %q:\n%s", finish, res, want, r.kinds())
		}
	}
}
