package main

import (
	"fmt"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// arrivals sends pairs of commands in one write each, to the real server.
type arrivals struct {
	*lsptest.Editor
	t *testing.T
}

// pair sends two commands together and returns what became of them.
func (a arrivals) pair(first string, x map[string]any, second string, y map[string]any) (one, two reply) {
	var p, q *lsptest.Pending
	a.Together(func() { p, q = a.GoCommand(first, x), a.GoCommand(second, y) })
	return a.reply(p), a.reply(q)
}

// reply is a command's result, of whichever command.
type reply struct {
	Session   string
	Turn      int
	Cancelled bool
	Sessions  []struct{ Session, Profile string }
	Events    []struct{ Event jsontext.Value }
	refused   bool
}

func (a arrivals) reply(p *lsptest.Pending) reply {
	result, err := p.Wait()
	if err != nil {
		return reply{refused: true}
	}
	var r reply
	if err := json.Unmarshal(result, &r, json.MatchCaseInsensitiveNames(true)); err != nil {
		a.t.Fatalf("%s: %v", result, err)
	}
	return r
}

func (a arrivals) do(name string, x map[string]any) reply { return a.reply(a.GoCommand(name, x)) }

func (a arrivals) fresh() string { return a.do("agent.session.new", map[string]any{}).Session }

func (a arrivals) end(session string) {
	a.do("agent.session.delete", map[string]any{"session": session})
}

// arrivalPairs are pairs of commands of which the second depends on the first; each
// reports what was wrong with one round, "" for nothing.
var arrivalPairs = map[string]func(a arrivals, round int) string{
	"a prompt is cancelled by the cancel behind it": func(a arrivals, _ int) string {
		s := a.fresh()
		defer a.end(s)
		prompt, cancel := a.pair("agent.prompt", map[string]any{"session": s, "text": "wait"}, "agent.cancel", map[string]any{"session": s})
		return unless(prompt.Turn == 1 && cancel.Cancelled, prompt, cancel)
	},
	"two prompts are turns in their order": func(a arrivals, _ int) string {
		s := a.fresh()
		defer a.end(s)
		one, two := a.pair("agent.prompt", map[string]any{"session": s, "text": "wait"}, "agent.prompt", map[string]any{"session": s, "text": "too"})
		return unless(one.Turn == 1 && two.Turn == 2, one, two)
	},
	"two first prompts are of one session": func(a arrivals, _ int) string {
		one, two := a.pair("agent.prompt", map[string]any{"text": "wait"}, "agent.prompt", map[string]any{"text": "too"})
		a.end(one.Session)
		if one.Session != two.Session {
			a.end(two.Session)
		}
		return unless(one.Session == two.Session && one.Turn == 1 && two.Turn == 2, one, two)
	},
	"a prompt runs by the profile that was selected before": func(a arrivals, round int) string {
		want := []string{"left", "right"}[round%2]
		_, prompt := a.pair("agent.profile.select", map[string]any{"profile": want}, "agent.prompt", map[string]any{"text": "wait"})
		defer a.end(prompt.Session)
		list := a.do("agent.session.list", map[string]any{})
		return unless(len(list.Sessions) == 1 && list.Sessions[0].Profile == want, want, list)
	},
	"a prompt before a close is kept": func(a arrivals, _ int) string {
		s := a.fresh()
		defer a.end(s)
		prompt, closed := a.pair("agent.prompt", map[string]any{"session": s, "text": "wait"}, "agent.session.close", map[string]any{"session": s})
		kept := a.do("agent.transcript", map[string]any{"session": s})
		return unless(prompt.Turn == 1 && !closed.refused && len(kept.Events) > 0, prompt, closed, kept)
	},
	"a prompt behind a close is refused": func(a arrivals, _ int) string {
		s := a.fresh()
		defer a.end(s)
		closed, prompt := a.pair("agent.session.close", map[string]any{"session": s}, "agent.prompt", map[string]any{"session": s, "text": "wait"})
		return unless(!closed.refused && prompt.refused, closed, prompt)
	},
	"a resumed session takes the prompt behind": func(a arrivals, _ int) string {
		s := a.fresh()
		defer a.end(s)
		a.do("agent.session.close", map[string]any{"session": s})
		_, prompt := a.pair("agent.session.resume", map[string]any{"session": s}, "agent.prompt", map[string]any{"session": s, "text": "wait"})
		return unless(prompt.Turn == 1, prompt)
	},
	"a new session is the one of the prompt behind": func(a arrivals, _ int) string {
		made, prompt := a.pair("agent.session.new", map[string]any{}, "agent.prompt", map[string]any{"text": "wait"})
		defer a.end(made.Session)
		return unless(made.Session == prompt.Session, made, prompt)
	},
	"a deleted session is not listed": func(a arrivals, _ int) string {
		s := a.fresh()
		_, list := a.pair("agent.session.delete", map[string]any{"session": s}, "agent.session.list", map[string]any{})
		return unless(len(list.Sessions) == 0 && !list.refused, list)
	},
	"a listing has the session of the prompt before": func(a arrivals, _ int) string {
		prompt, list := a.pair("agent.prompt", map[string]any{"text": "wait"}, "agent.session.list", map[string]any{})
		defer a.end(prompt.Session)
		return unless(len(list.Sessions) == 1, prompt, list)
	},
}

func unless(ok bool, seen ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf("%+v", seen)
}

// TestCommandsTakeEffectInTheOrderOfArrival sends 1,000 pairs of commands.
func TestCommandsTakeEffectInTheOrderOfArrival(t *testing.T) {
	waits := scriptFile(t, "  - {when: \"1/1\", text: done, latency: 1h}\n  - {when: \"2/1\", text: done, latency: 1h}\n")
	profile := map[string]any{"provider": "script", "script": waits}
	a := arrivals{lsptest.Start(t, program(t), lsptest.Options{
		Folders: []string{t.TempDir()},
		InitializationOptions: encoded(t, map[string]any{
			"store": "memory:", "profile": "left", "profiles": map[string]any{"left": profile, "right": profile},
		}),
	}), t}
	a.Initialize()
	for name, round := range arrivalPairs {
		wrong, last := 0, ""
		for i := range 1000 / len(arrivalPairs) {
			if seen := round(a, i); seen != "" {
				wrong++
				last = seen
			}
		}
		if wrong > 0 {
			t.Errorf("%s: not so in %d of %d pairs, the last time %s", name, wrong, 1000/len(arrivalPairs), last)
		}
	}
	if code := a.Shutdown(); code != 0 {
		t.Errorf("the server ended with code %d\n%s", code, a.Stderr())
	}
}
