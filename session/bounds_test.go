package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/script"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/google/go-cmp/cmp"
)

func TestATurnEndsAfterFiftyRoundsAndThePersonCanGoOn(t *testing.T) {
	var entries strings.Builder
	for i := range DefaultMaxRounds + 5 {
		fmt.Fprintf(&entries, "  - calls: [{read: {path: f%d}}]\n", i)
	}
	r := start(t, nil, "version: 1\nentries:\n"+entries.String()+"  - {when: \"2/1\", text: Going on.}\n")
	_, res := r.run("dig")
	if res.Outcome != "cancelled" || !strings.Contains(res.Text, "50 model rounds") || !strings.Contains(res.Text, "prompt again to go on") {
		t.Errorf("turn ended %+v", res)
	}
	if n := strings.Count(r.kinds(), "\nmessage "); n != 50 {
		t.Errorf("the model answered %d times, want 50", n)
	}
	if !strings.Contains(r.kinds(), "\nnote stopped after 50 model rounds") {
		t.Errorf("no note says why:\n%s", r.kinds())
	}
	if _, res := r.run("go on"); res.Text != "Going on." {
		t.Errorf("the next prompt ended %+v", res)
	}
}

func TestRepeatsAreCountedWithinATurn(t *testing.T) {
	read := "  - calls: [{read: {path: go.mod}}]\n  - text: Read it.\n"
	r := start(t, broken, "version: 1\nentries:\n"+strings.Repeat(read, 5))
	for i := range 5 {
		if _, res := r.run("read it again"); res.Text != "Read it." {
			t.Errorf("turn %d ended %+v", i+1, res)
		}
	}
}

func TestEveryAttemptOfAnAskIsInTheTranscript(t *testing.T) {
	r := start(t, broken, "version: 1\nentries:\n"+
		strings.Repeat("  - calls: [{raw: {id: a, name: nope, arguments: \"{}\"}}]\n", 4)+"  - text: Back again.\n")
	r.run("go")
	var got []string
	for line := range strings.Lines(r.kinds()) {
		if strings.HasPrefix(line, "ask ") || strings.HasPrefix(line, "result ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if len(got) != 8 {
		t.Fatalf("asks and results are %q", got)
	}
	for i, line := range got {
		want := fmt.Sprintf("ask 1.%d", i/2+1)
		if i%2 == 1 {
			want = "result 0 failed: "
		}
		if !strings.HasPrefix(line, want) {
			t.Errorf("line %d is %q, want %q", i, line, want)
		}
	}
	if _, res := r.run("again"); res.Text != "Back again." {
		t.Errorf("the next prompt ended %+v", res)
	}
}

// TestARequestIsBoundedOnTheSessionsClock tells the outcomes of a script apart:
// an error, a time-out that the provider reports, and a hang or a latency that
// only the session's own limit ends. None of it takes real time.
func TestARequestIsBoundedOnTheSessionsClock(t *testing.T) {
	r := start(t, nil, `
version: 1
entries:
  - {latency: 30s, text: In time.}
  - {fail: {kind: error, error: rate, message: slow down}, latency: 10s}
  - {fail: {kind: timeout, message: gave up}, latency: 20s}
  - {fail: {kind: hang}}
  - {latency: 2m, text: Too late.}
  - {latency: 60s, text: At the limit itself.}
  - text: Still here.
`)
	settings := r.cfg.Settings
	settings.RequestTimeout = time.Minute
	r.Configure(settings)
	begun := r.sessionClock(t)
	for _, c := range []struct {
		outcome, text, source string
		at                    time.Duration // of the session's clock, after the turn
	}{
		{"complete", "In time.", "", 30 * time.Second},
		{"failed", "slow down", "rate", 40 * time.Second},
		{"failed", "gave up", "timeout", 60 * time.Second},
		{"failed", "within 1m0s", "timeout", 120 * time.Second},
		{"failed", "within 1m0s", "timeout", 180 * time.Second},
		{"failed", "within 1m0s", "timeout", 240 * time.Second},
		{"complete", "Still here.", "", 240 * time.Second},
	} {
		_, res := r.run("hello")
		if res.Outcome != c.outcome || !strings.Contains(res.Text, c.text) {
			t.Errorf("turn ended %+v, want %s with %q", res, c.outcome, c.text)
		}
		if got := begun().Sub(script.Epoch); got != c.at {
			t.Errorf("after %q the clock stands at %s, want %s", res.Text, got, c.at)
		}
		if failed := r.lastError(); c.source != "" && (failed == nil || failed.Source != c.source) {
			t.Errorf("the transcript's error is %+v, want one of %s", failed, c.source)
		}
	}
}

// sessionClock makes the rig's sessions share one clock and returns its time.
func (r *rig) sessionClock(t *testing.T) func() time.Time {
	t.Helper()
	r.Shutdown()
	v := clock.NewVirtual(script.Epoch)
	settings := r.settings
	r.cfg.Clock = func(model.Profile) (clock.Clock, error) { return v, nil }
	r.cfg.Settings = settings
	r.Manager = NewManager(r.cfg, r)
	return v.Now
}

func (r *rig) lastError() *event.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var last *event.Error
	for _, p := range r.events {
		if e, ok := p.(*event.Error); ok {
			last = e
		}
	}
	return last
}

// perProfile gives each profile a script of its own.
func perProfile(t *testing.T, profiles map[string]model.Profile, scripts map[string]string) *rig {
	t.Helper()
	r := start(t, broken, "version: 1\nentries: []\n")
	r.Shutdown()
	r.cfg.Settings.Profile = "first"
	r.cfg.Settings.Profiles = profiles
	r.cfg.Provider = providers(t, scripts)
	r.Manager = NewManager(r.cfg, r)
	return r
}

func TestFallbacksAreTriedInOrder(t *testing.T) {
	fail := func(kind string) string {
		return "{fail: {kind: error, error: " + kind + ", message: " + kind + " it is}}"
	}
	profiles := map[string]model.Profile{
		"first":  {Provider: "script", Fallback: []string{"second", "third"}},
		"second": {Provider: "script", Fallback: []string{"never"}},
		"third":  {Provider: "script"},
		"never":  {Provider: "script"},
	}
	for name, c := range map[string]struct {
		first, second string
		text          string
		asked         []string
	}{
		"none fails":         {"{text: one}", "{text: two}", "one", []string{"first"}},
		"overloaded":         {fail("overloaded"), "{text: two}", "two", []string{"first", "second"}},
		"auth, then network": {fail("auth"), fail("network"), "three", []string{"first", "second", "third"}},
		"a bad request":      {fail("bad_request"), "{text: two}", "bad_request it is", []string{"first"}},
		"rate":               {fail("rate"), "{text: two}", "rate it is", []string{"first"}},
		"timeout":            {"{fail: {kind: timeout, message: late}}", "{text: two}", "late", []string{"first"}},
		"the last says why":  {fail("overloaded"), fail("bad_request"), "overloaded it is", []string{"first", "second"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := perProfile(t, profiles, map[string]string{"first": c.first, "second": c.second, "third": "{text: three}", "never": "{text: no}"})
			_, res := r.run("hello")
			if !strings.Contains(res.Text, c.text) {
				t.Errorf("turn ended %+v, want %q", res, c.text)
			}
			asked, answered := []string{"first"}, ""
			for _, p := range r.events {
				switch e := p.(type) {
				case *event.Note:
					_, next, _ := strings.Cut(e.Text, "; trying profile ")
					asked = append(asked, next)
				case *event.Message:
					answered = e.Profile
				}
			}
			if d := cmp.Diff(c.asked, asked); d != "" {
				t.Errorf("asked (-want +got):\n%s", d)
			}
			if res.Outcome == "complete" && answered != asked[len(asked)-1] {
				t.Errorf("the message is of %q, the last asked is %q", answered, asked[len(asked)-1])
			}
		})
	}
}

// TestACoreThatDoesNotComeBackIsGivenUp holds that a step without an end costs its
// own session only, with the reason told, and that the session is taken up again
// where it stood.
func TestACoreThatDoesNotComeBackIsGivenUp(t *testing.T) {
	r := start(t, broken, "version: 1\nentries:\n  - text: Here.\n  - text: Here.\n")
	r.Shutdown()
	slow := r.cfg
	slow.stepTime = 1 // a nanosecond
	m := NewManager(slow, r)
	id, turn, err := m.Prompt(t.Context(), Prompt{Root: r.dir, Text: "spin"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Wait(t.Context(), id, turn)
	if err != nil || res.Outcome != "failed" || !strings.Contains(res.Text, "step the agent's core") || !strings.Contains(res.Text, "deadline") {
		t.Errorf("the turn ended %+v, %v", res, err)
	}
	turn = must(m.Prompt(t.Context(), Prompt{Session: &id, Text: "again"}))
	if res, err := m.Wait(t.Context(), id, turn); err != nil || !strings.Contains(res.Text, "deadline") {
		t.Errorf("the next turn ended %+v, %v", res, err)
	}
	if _, _, err := m.Prompt(t.Context(), Prompt{Session: &id, Text: "again"}); err == nil {
		t.Error("a session whose core was given up took another prompt")
	}
	if n := strings.Count(r.kinds(), "done failed"); n != 2 {
		t.Errorf("%d of 2 turns ended:\n%s", n, r.kinds())
	}
	m.Shutdown()
	r.Manager = NewManager(r.cfg, r)
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	again := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "again"}))
	if res := r.result(id, again); res.Text != "Here." {
		t.Errorf("after the resume the turn ended %+v", res)
	}
}

// givesUp lets no step of the core end any more once a call has run.
type givesUp struct {
	Tools
	manager *Manager
}

func (x givesUp) Run(ctx context.Context, op tools.Op, label string) tools.Outcome {
	defer func() { x.manager.cfg.stepTime = 1 }()
	return x.Tools.Run(ctx, op, label)
}

// TestWhatRanWhenTheCoreWasGivenUpIsNotRunAgain gives the core up on a command's
// result: the turn ends, and the model reads that the command may have run.
func TestWhatRanWhenTheCoreWasGivenUpIsNotRunAgain(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
  - {when: "1/1", calls: [{exec: {argv: [sh, -c, "echo once >> ran"]}}]}
  - {when: "may have taken effect", text: Careful.}
`)
	inner := r.cfg.Tools
	r.Shutdown()
	m := NewManager(r.cfg, r)
	m.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
		x, err := inner(ws)
		return givesUp{x, m}, err
	}
	id, turn, err := m.Prompt(t.Context(), Prompt{Root: r.dir, Text: "run it"})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := m.Wait(t.Context(), id, turn); err != nil || !strings.Contains(res.Text, "deadline") {
		t.Fatalf("the turn ended %+v, %v", res, err)
	}
	m.Shutdown()
	r.Manager = NewManager(r.cfg, r)
	got, err := r.Resume(t.Context(), id)
	if err != nil || got.State != "idle" || len(got.Interrupted) != 0 {
		t.Fatalf("resumed %+v, %v", got, err)
	}
	if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "go on"}))); res.Text != "Careful." {
		t.Errorf("the turn ended %+v", res)
	}
	if ran := r.read("ran"); ran != "once\n" {
		t.Errorf("the command ran again: %q", ran)
	}
}
