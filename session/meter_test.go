package session

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// billed is a model that fails or replies by turns and says what each reply used.
type billed struct {
	name string
	sum  *model.Usage // of all replies
	n    int
}

func (m *billed) Respond(_ context.Context, req model.Request, _ func(model.Delta)) (model.Response, error) {
	m.n++
	if m.name == "first" && m.n%3 == 0 {
		return model.Response{}, &model.Error{Kind: model.Overloaded, Message: "busy"}
	}
	u := model.Usage{Input: uint64(100 + m.n), CachedInput: uint64(m.n), Output: uint64(7 * m.n), Reasoning: 3}
	m.sum.Add(u)
	resp := model.Response{Text: new("ok"), Usage: u, Finish: "stop"}
	if m.n%5 == 0 { // a call that fits no tool: the reply is refused and the model asked again
		resp = model.Response{Calls: []model.FunctionCall{{ID: "1", Name: "nosuch", Arguments: "{}"}}, Usage: u, Finish: "tool_calls"}
	}
	return resp, nil
}

// withPrices has two profiles, the first falling back to the second, each played by
// the model that open makes.
func withPrices(r *rig, open func(name string) model.Model) map[string]model.Profile {
	r.Shutdown()
	r.cfg.Provider = func(_ context.Context, p model.Profile, _ ProviderEnv) (model.Model, error) { return open(p.Name), nil }
	r.cfg.Settings.Profile = "first"
	r.cfg.Settings.Profiles = map[string]model.Profile{
		"first":  {Provider: "test", Context: 9000, Fallback: []string{"second"}, Price: model.Price{Input: 3, Cached: 0.3, Output: 15}},
		"second": {Provider: "test", Context: 500, Price: model.Price{Input: 1, Cached: 1, Output: 2}},
	}
	r.Manager = NewManager(r.cfg, r)
	return r.cfg.Settings.Profiles
}

func TestTheMeterAgreesWithTheProvidersToTheToken(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	var first, second model.Usage
	models := map[string]model.Model{"first": &billed{name: "first", sum: &first}, "second": &billed{name: "second", sum: &second}}
	profiles := withPrices(r, func(name string) model.Model { return models[name] })
	var id uuid.UUID
	for range 100 {
		var res TurnResult
		if id, res = r.run("go"); res.Outcome != "complete" {
			t.Fatalf("turn ended %+v", res)
		}
	}
	cost := profiles["first"].Price.Of(first) + profiles["second"].Price.Of(second)
	all := first
	all.Add(second)
	check := func(m Meter) {
		t.Helper()
		got := model.Usage{Input: m.Total.Input, CachedInput: m.Total.CachedInput, Output: m.Total.Output, Reasoning: m.Total.Reasoning}
		if d := cmp.Diff(all, got); d != "" || m.Total.Estimated {
			t.Errorf("the meter is off (-providers +meter):\n%s", d)
		}
		if math.Abs(m.Total.Cost-cost) > 1e-6 {
			t.Errorf("it cost %f, the meter says %f", cost, m.Total.Cost)
		}
	}
	last := r.meters[len(r.meters)-1]
	check(last)
	if last.Turn != 100 || last.Usage.Input == 0 || last.Usage.Input >= last.Total.Input || last.Context.Used == 0 || last.Context.Size == 0 {
		t.Errorf("the last meter is %+v", last)
	}
	if st := r.Status(); st.Usage != last.Total || st.Sessions[0].Meter.Total != last.Total {
		t.Errorf("the status has %+v", st.Usage)
	}
	r.Shutdown()
	next := over(t, r.dir, r.store, "version: 1\nentries: [{text: unused}]\n")
	withPrices(next, func(string) model.Model { return nil })
	if _, err := next.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	check(*next.Status().Sessions[0].Meter)
}

func TestUsageThatAProviderDoesNotGiveIsEstimatedAndMarked(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	withModel(r, &answers{replies: []model.Response{says(strings.Repeat("word ", 100))}}, 0)
	r.run("go")
	if m := r.meters[0]; !m.Total.Estimated || m.Total.Input == 0 || m.Total.Output < 50 {
		t.Errorf("the meter is %+v", m)
	}
}

func TestALimitOnCostAsksBeforeTheRequestThatWouldPassIt(t *testing.T) {
	for name, tt := range map[string]struct {
		turn, session float64
		allow         int // so many questions are allowed
		want          int // requests
		outcome       string
	}{
		"no limit":             {0, 0, 0, 4, "complete"},
		"not reached":          {1, 1, 0, 4, "complete"},
		"the turn's":           {0.001, 0, 0, 1, "cancelled"},
		"the turn's, allowed":  {0.001, 0, 9, 4, "complete"},
		"the session's":        {0, 0.002, 0, 2, "cancelled"},
		"the session's, twice": {0, 0.002, 1, 4, "complete"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, map[string]string{"a.txt": "a\n"}, "version: 1\nentries: [{text: unused}]\n")
			u := model.Usage{Input: 300} // $0.0009
			look := callsTool("read", `{"path":"a.txt"}`)
			look.Usage = u
			m := &answers{replies: []model.Response{look, look, look, {Text: new("Done."), Usage: u, Finish: "stop"}}}
			m.replies[1].Calls = callsTool("read", `{"path":"b.txt"}`).Calls
			withPrices(r, func(string) model.Model { return m })
			r.cfg.Settings.TurnCost, r.cfg.Settings.SessionCost = tt.turn, tt.session
			r.Configure(r.cfg.Settings)
			r.answer = func(_ context.Context, q Question) Answer {
				if len(r.asked) > tt.allow {
					return Answer{Decision: Deny}
				}
				return Answer{Decision: AllowOnce}
			}
			_, res := r.run("go")
			if res.Outcome != tt.outcome || len(m.requests) != tt.want {
				t.Errorf("ended %+v after %d requests; asked %+v", res, len(m.requests), r.asked)
			}
			if tt.outcome == "cancelled" && !strings.Contains(res.Text, "has cost $") {
				t.Errorf("it says %q", res.Text)
			}
		})
	}
}
