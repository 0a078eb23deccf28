package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/go-json-experiment/json/jsontext"
)

func valueOf(c *Config) reflect.Value { return reflect.ValueOf(c).Elem() }

func TestDurationsAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 90 * time.Second: "90s", 2 * time.Minute: "2m", time.Hour: "1h",
		90 * time.Minute: "1h30m0s", 1500 * time.Millisecond: "1.5s", 24 * time.Hour: "24h",
	} {
		got := Duration(d).String()
		if back, err := time.ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("got %s, want %s (%v)", got, want, err)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"profile", "profiles", "max_rounds", "api_key_env"}
	for in, want := range map[string]string{
		"profil": "profile", "Profile": "profile", "profile_s": "profiles", "maxRounds": "max_rounds", "apikeyenf": "api_key_env", "x": "", "": "", "rounds": "",
	} {
		if got := nearest(in, names); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestThePreludeIsShortAndSaysWhatAFailedCheckMeans(t *testing.T) {
	if len(Prelude) > 1500 {
		t.Errorf("%d bytes, which every request pays for", len(Prelude))
	}
	failed := checker.Result{Outcome: checker.Failed, Text: "no go"}.ForModel()
	if mark, _, ok := strings.Cut(failed, "]"); !ok || !strings.Contains(Prelude, `"`+mark+`]"`) {
		t.Errorf("nothing in it explains %q", failed)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("exec: {timeout: 1s}\nprofiles: {a: {provider: script}}", `{"profile":{"provider":"script"}}`, "[a]")
	f.Add("rules: {deny: [exec: [rm], {git: a}]}", `{"rules":{"allow":[{"exec":[]}]}}`, "{a: b}")
	f.Fuzz(func(t *testing.T, file, message, value string) {
		if n, err := parseYAML([]byte(file)); err == nil {
			r := Result{Config: Default(), origins: map[string]Origin{}}
			wish := Config{}
			d := &decoder{layer: Workspace, origins: map[string]Origin{}, warn: r.warn}
			d.apply(n, &wish)
			r.narrow(&wish, d.origins)
			c := r.Config
			if c.Approvals != "ask" || c.Rules.Allow != nil || len(c.Profiles) != 1 || c.Checker.Commands != nil || c.Store != "" {
				t.Fatalf("a workspace armed the agent: %+v", c)
			}
		}
		r := Load(Sources{
			Client: jsontext.Value(message), Init: jsontext.Value(message),
			Env: []string{"AGENT_LSP_CHECKER_OFF=" + value, "AGENT_LSP_PROFILE=" + value},
		})
		if r.Config.Selected().Provider == "" {
			t.Fatalf("no profile: %+v", r.Config)
		}
		r.Settings()
	})
}
