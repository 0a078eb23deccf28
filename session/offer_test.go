package session

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/google/go-cmp/cmp"
)

// withOffers has two profiles that the person never spoke of, beside the demonstration.
func withOffers(r *rig) {
	r.Shutdown()
	r.cfg.Provider = func(_ context.Context, p model.Profile, _ ProviderEnv) (model.Model, error) {
		return &answers{replies: []model.Response{says(p.Name + " " + p.Model), says(p.Name + " " + p.Model)}}, nil
	}
	r.cfg.Settings.Profile = "demo"
	r.cfg.Settings.Offered = []string{"one", "two"}
	r.cfg.Settings.Profiles = map[string]model.Profile{
		"demo": {Provider: "script"},
		"one":  {Provider: "one", Model: "m1", APIKeyEnv: "ONE_KEY"},
		"two":  {Provider: "test", BaseURL: "https://two.example/v1", Model: "m2", APIKeyEnv: "TWO_KEY"},
	}
	r.Manager = NewManager(r.cfg, r)
}

func TestAProfileOfTheEnvironmentIsUsedOnlyAfterTheOneQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		replies []Answer
		want    string   // who replies
		titles  []string // what was asked
		again   string   // who replies in the next process
		asked   int      // questions there
	}{
		"used":          {[]Answer{{Decision: AllowOnce}}, "one m1", []string{"ONE_KEY is set: use m1 by api.one.com?"}, "one m1", 0},
		"another one":   {[]Answer{{Decision: AllowSession}, {Decision: AllowOnce}}, "two m2", []string{"ONE_KEY is set: use m1 by api.one.com?", "TWO_KEY is set: use m2 by two.example?"}, "two m2", 0},
		"demonstration": {[]Answer{{Decision: Deny}}, "demo ", []string{"ONE_KEY is set: use m1 by api.one.com?"}, "demo ", 0},
		"dismissed":     {[]Answer{{Decision: Deny, Reason: "dismissed"}}, "demo ", []string{"ONE_KEY is set: use m1 by api.one.com?"}, "one m1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
			withOffers(r)
			r.answer = func(context.Context, Question) Answer { return tt.replies[len(r.asked)-1] }
			_, res := r.run("go")
			var titles []string
			for _, q := range r.asked {
				titles = append(titles, q.Title)
			}
			if d := cmp.Diff(tt.titles, titles); d != "" || res.Text != tt.want {
				t.Errorf("%+v; asked (-want +got):\n%s", res, d)
			}
			if _, err := r.New(t.Context(), NewSession{Root: r.dir}); err != nil || len(r.asked) != len(tt.titles) {
				t.Errorf("a second session asks again: %+v, %v", r.asked, err)
			}
			r.Shutdown()
			next := over(t, r.dir, r.store, "version: 1\nentries: [{text: unused}]\n")
			withOffers(next)
			if _, res := next.run("go"); res.Text != tt.again || len(next.asked) != tt.asked {
				t.Errorf("the next process: %+v after %d questions", res, len(next.asked))
			}
		})
	}
}

func TestWhatIsConfiguredAfterTheDemonstrationWasChosenHolds(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	withOffers(r)
	r.answer = func(context.Context, Question) Answer { return Answer{Decision: Deny} }
	if _, res := r.run("go"); res.Text != "demo " {
		t.Fatalf("%+v", res)
	}
	r.Shutdown()
	next := over(t, r.dir, r.store, "version: 1\nentries: [{text: unused}]\n")
	withOffers(next)
	settings := next.cfg.Settings
	settings.Profile, settings.Offered = "two", nil
	next.Configure(settings)
	if _, res := next.run("go"); res.Text != "two m2" || len(next.asked) > 0 {
		t.Errorf("%+v after %d questions", res, len(next.asked))
	}
}

func TestAChoiceOfAModelHoldsFromTheNextTurnOn(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	withOffers(r)
	r.answer = func(context.Context, Question) Answer { return Answer{Decision: AllowOnce} }
	id, first := r.run("go")
	if err := r.SelectProfile(t.Context(), Selection{Profile: "two", Model: "big", Session: &id}); err != nil {
		t.Fatal(err)
	}
	_, second := r.run("again")
	if first.Text != "one m1" || second.Text != "two/big big" {
		t.Errorf("the turns were replied to by %q and %q", first.Text, second.Text)
	}
	var asks []string
	for _, p := range r.events {
		if a, ok := p.(*event.Ask); ok {
			asks = append(asks, a.Profile)
		}
	}
	if d := cmp.Diff([]string{"one", "two/big"}, asks); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
	for _, p := range r.Profiles() {
		if p.Selected != (p.Name == "two") || p.Selected && p.Model != "big" {
			t.Errorf("the picker shows %+v", p)
		}
	}
	for _, wrong := range []Selection{{Profile: "three"}, {Profile: "demo", Model: "m"}} {
		if err := r.SelectProfile(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "profile") {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	r.Shutdown()
	next := over(t, r.dir, r.store, "version: 1\nentries: [{text: unused}]\n")
	withOffers(next)
	if _, err := next.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if res := next.result(id, mustTurn(t, next, id, "third")); res.Text != "two/big big" {
		t.Errorf("after the resume %+v", res)
	}
}
