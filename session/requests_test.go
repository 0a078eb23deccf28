package session

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
)

// restless is an editor whose state is another one each time it is looked at.
type restless struct {
	*rig
	looks int
}

func (r *restless) State(string) string {
	r.looks++
	return fmt.Sprint("Looked at ", r.looks, " times.")
}

// listening keeps every request and replies by a script.
type listening struct {
	model.Model
	requests []model.Request
}

func (l *listening) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	l.requests = append(l.requests, req)
	return l.Model.Respond(ctx, req, delta)
}

// TestWithinATurnEachRequestBeginsWithTheOneBefore keeps a provider's prompt cache
// hitting: nothing before the new messages changes, whatever the editor says
// meanwhile, with broken calls and long results among them.
func TestWithinATurnEachRequestBeginsWithTheOneBefore(t *testing.T) {
	round := "{calls: [{read: {path: long.txt}}, {read: {path: ../out}}], usage: {input: 100, cached_input: 60, output: 7, reasoning: 2}}, "
	answers := round + "{calls: [{raw: {id: x, name: nope, arguments: \"{\"}}]}, {calls: [{read: {path: a.txt}}, {exec: {argv: [cat, a.txt]}}]}, {text: Done.}, "
	r := start(t, map[string]string{"AGENTS.md": "Be kind.\n", "a.txt": "a\n", "long.txt": strings.Repeat("0123456789abcde\n", 4000)}, "version: 1\nentries: []\n")
	r.Shutdown()
	inner := providers(t, map[string]string{"demo": answers + answers + answers})
	var heard *listening
	r.cfg.Provider = func(ctx context.Context, p model.Profile, env ProviderEnv) (model.Model, error) {
		m, err := inner(ctx, p, env)
		heard = &listening{Model: m}
		return heard, err
	}
	r.Manager = NewManager(r.cfg, &restless{rig: r})
	for range 3 {
		if _, res := r.run("go"); res.Text != "Done." {
			t.Fatalf("turn ended %+v:\n%s", res, r.kinds())
		}
	}
	grown := 0
	for i, req := range heard.requests {
		if i == 0 || turnOf(req.Step) != turnOf(heard.requests[i-1].Step) {
			continue
		}
		before := heard.requests[i-1].Messages
		if len(req.Messages) <= len(before) {
			t.Errorf("request %d (step %s) has %d messages, the one before %d", i, req.Step, len(req.Messages), len(before))
			continue
		}
		grown++
		// The editor's state is the last message of both, as it was at the turn's start.
		tail := len(before) - 1
		if last := req.Messages[len(req.Messages)-1]; !bytes.Contains(last, []byte("Looked at "+turnOf(req.Step)+" times")) || !bytes.Equal(last, before[tail]) {
			t.Errorf("request %d (step %s) ends with %s, the one before with %s", i, req.Step, last, before[tail])
		}
		for j := range before[:tail] {
			if !bytes.Equal(before[j], req.Messages[j]) {
				t.Errorf("request %d (step %s): message %d changed from\n%.300s to\n%.300s", i, req.Step, j, before[j], req.Messages[j])
			}
		}
		if !equalTools(req.Tools, heard.requests[0].Tools) {
			t.Errorf("request %d has other tools", i)
		}
	}
	if grown != 9 {
		t.Errorf("%d requests followed another one of their turn, want 9", grown)
	}
	var stated model.Usage
	for _, p := range r.events {
		if m, ok := p.(*event.Message); ok && !m.Usage.Estimated {
			stated.Add(m.Usage)
		}
	}
	if want := (model.Usage{Input: 300, CachedInput: 180, Output: 21, Reasoning: 6}); stated != want {
		t.Errorf("the replies' own figures are %+v, want %+v", stated, want)
	}
	if got := r.Status().Usage; !got.Estimated || got.Input <= stated.Input || got.CachedInput != stated.CachedInput {
		t.Errorf("the status counts %+v", got)
	}
}

func TestThePreludeIsTheBaseOfARequest(t *testing.T) {
	for prelude, want := range map[string][]string{
		"Answer in verse.": {`"system","content":"Answer in verse."`, `"user","content":"go"`},
		"":                 {`"user","content":"go"`},
	} {
		r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
		m := &answers{replies: []model.Response{{Text: new("Done."), Finish: "stop"}}}
		withModel(r, m, 0)
		settings := r.cfg.Settings
		settings.Prelude = prelude
		r.Configure(settings)
		r.run("go")
		got := m.requests[0].Messages
		if len(got) != len(want) {
			t.Fatalf("with the prelude %q the model is sent %s", prelude, got)
		}
		for i := range want {
			if !bytes.Contains(got[i], []byte(want[i])) {
				t.Errorf("with the prelude %q message %d is %s", prelude, i, got[i])
			}
		}
	}
}

func turnOf(step string) string {
	turn, _, _ := strings.Cut(step, "/")
	return turn
}

func equalTools(a, b []jsontext.Value) bool {
	return bytes.Equal(bytes.Join(bytesOf(a), nil), bytes.Join(bytesOf(b), nil))
}

func bytesOf(vs []jsontext.Value) [][]byte {
	out := make([][]byte, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}
