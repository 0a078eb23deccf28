package session

import (
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// TestTheLastPickIsRememberedPerPerson picks in one process and starts others.
func TestTheLastPickIsRememberedPerPerson(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: []\n")
	r.cfg.Settings.Profiles = map[string]model.Profile{"demo": {Provider: "script"}, "fast": {Provider: "script"}, "big": {Provider: "script"}}
	another := func(change func(*Settings)) {
		r.Shutdown()
		cfg := r.cfg
		change(&cfg.Settings)
		r.Manager = NewManager(cfg, r)
	}
	made := func(want string) {
		t.Helper()
		id, err := r.New(t.Context(), NewSession{Root: r.dir})
		if err != nil {
			t.Fatal(err)
		}
		if rec, _, err := r.store.Get(t.Context(), id); err != nil || rec.Harness != want {
			t.Errorf("a new session has the profile %q, want %q (%v)", rec.Harness, want, err)
		}
		for _, p := range r.Profiles() {
			if p.Selected != (p.Name == want) {
				t.Errorf("profile %s is selected: %v; want %s to be", p.Name, p.Selected, want)
			}
		}
	}
	another(func(*Settings) {})
	made("demo")
	for _, name := range []string{"big", "fast"} {
		if err := r.SelectProfile(t.Context(), Selection{Profile: name}); err != nil {
			t.Fatal(err)
		}
		made(name)
	}
	another(func(*Settings) {})
	made("fast")
	another(func(s *Settings) { s.Subject = "somebody else" })
	made("demo")
	another(func(s *Settings) { s.Profile, s.ProfileGiven = "big", true })
	made("big")
	another(func(s *Settings) { s.Profiles = map[string]model.Profile{"demo": {Provider: "script"}} })
	made("demo")
	if err := r.SelectProfile(t.Context(), Selection{Profile: "fast"}); err == nil {
		t.Error("a profile that is not configured was picked")
	}
}
