package session

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
)

// trial is a tool that exists in this file alone.
type trial struct{ ran *[]string }

type trialArgs struct {
	Words []string `json:"words" about:"to join"`
	Path  string   `json:"path,omitzero" about:"where"`
	Times int      `json:"times,omitzero" about:"how often"`
}

func (trial) Definition() tools.Definition {
	return tools.Define[trialArgs]("trial", "Join words.", tools.Run)
}

func (trial) Decide(_ context.Context, c tools.Call) tools.Decision {
	args := tools.Arguments[trialArgs](c)
	return tools.Decision{Title: "Join " + strings.Join(args.Words, "+"), Detail: c.Arguments, Effect: tools.Run, Path: args.Path}
}

func (x trial) Run(_ context.Context, c tools.Call) tools.Outcome {
	args := tools.Arguments[trialArgs](c)
	*x.ran = append(*x.ran, c.Arguments)
	return tools.Outcome{State: tools.Completed, Text: strings.Repeat(strings.Join(args.Words, "+"), max(args.Times, 1))}
}

// withTrial gives a rig's sessions the tool, under a policy.
func withTrial(t *testing.T, entries string, p tools.Policy) (*rig, *[]string) {
	r := start(t, nil, "version: 1\nentries:\n"+entries)
	ran := new([]string)
	r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
		return tools.New(tools.Config{Workspace: ws, Policy: p, Tools: []tools.Tool{trial{ran}}})
	}
	r.Shutdown()
	r.Manager = NewManager(r.cfg, r)
	return r, ran
}

const trialEntries = "  - calls: [{trial: {words: [a, b], times: 2}}]\n  - {text: done}\n"

func TestAToolNeedsNoOtherFile(t *testing.T) {
	r, ran := withTrial(t, trialEntries, tools.Policy{})
	_, res := r.run("join")
	if res.Text != "done" || len(*ran) != 1 || (*ran)[0] != `{"words":["a","b"],"times":2}` {
		t.Fatalf("%+v, ran %q", res, *ran)
	}
	if len(r.asked) != 1 || r.asked[0].Title != "Join a+b" {
		t.Errorf("asked %+v", r.asked)
	}
	var call *event.Call
	var result *event.Result
	for _, p := range r.events {
		switch p := p.(type) {
		case *event.Call:
			call = p
		case *event.Result:
			result = p
		}
	}
	if call == nil || call.Title != "Join a+b" || call.Effect != "run" || call.Heading() != "Join a+b" || call.Call.Tool == nil || call.Call.Tool.Name != "trial" {
		t.Errorf("journaled as %+v", call)
	}
	if result == nil || result.Text != "a+ba+b" || result.State != event.Completed {
		t.Errorf("the result is %+v", result)
	}
}

func TestAToolIsRuledByItsName(t *testing.T) {
	outside := "  - calls: [{trial: {words: [a], path: ../x}}]\n  - {text: done}\n"
	inside := "  - calls: [{trial: {words: [a], path: lib/x}}]\n  - {text: done}\n"
	rule := func(match ...string) []tools.Rule { return []tools.Rule{{Family: "trial", Match: match}} }
	for name, tt := range map[string]struct {
		entries string
		policy  tools.Policy
		ran     int
		asked   int
		result  string
	}{
		"asked":           {trialEntries, tools.Policy{}, 1, 1, "a+ba+b"},
		"edits":           {trialEntries, tools.Policy{Mode: tools.ModeEdits}, 1, 1, "a+ba+b"},
		"all":             {trialEntries, tools.Policy{Mode: tools.ModeAll}, 1, 0, "a+ba+b"},
		"read-only":       {trialEntries, tools.Policy{Mode: tools.ModeReadOnly}, 0, 0, "rejected: the session is read-only: in the mode plan nothing is written or run; look on, or give your plan with the tool plan"},
		"untrusted":       {trialEntries, tools.Policy{Mode: tools.ModeAll, Untrusted: true}, 0, 0, "rejected: the workspace is not trusted"},
		"allowed":         {trialEntries, tools.Policy{Allow: rule()}, 1, 0, "a+ba+b"},
		"denied":          {trialEntries, tools.Policy{Mode: tools.ModeAll, Deny: rule()}, 0, 0, "rejected: a rule of the configuration denies it (trial: [])"},
		"allowed there":   {inside, tools.Policy{Allow: rule("lib")}, 1, 0, "a"},
		"allowed not":     {inside, tools.Policy{Allow: rule("src")}, 1, 1, "a"},
		"denied there":    {inside, tools.Policy{Mode: tools.ModeAll, Deny: rule("lib")}, 0, 0, "rejected: a rule of the configuration denies it (trial: [lib])"},
		"outside":         {outside, tools.Policy{Mode: tools.ModeAll}, 0, 0, "refused: ../x is not inside the workspace"},
		"outside, though": {outside, tools.Policy{Allow: rule()}, 0, 0, "refused: ../x is not inside the workspace"},
	} {
		t.Run(name, func(t *testing.T) {
			r, ran := withTrial(t, tt.entries, tt.policy)
			r.run("join")
			var text string
			for _, p := range r.events {
				if res, ok := p.(*event.Result); ok {
					text = res.Text
				}
			}
			if len(*ran) != tt.ran || len(r.asked) != tt.asked || !strings.HasPrefix(text, tt.result) {
				t.Errorf("ran %d, asked %d, %q; want %d, %d, %q", len(*ran), len(r.asked), text, tt.ran, tt.asked, tt.result)
			}
		})
	}
}
