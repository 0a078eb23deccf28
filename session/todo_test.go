package session

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// TestEachRequestCarriesWhatIsToDo sets a list, goes on in another turn and after a
// resume, and ends the list: the last message of each request has it.
func TestEachRequestCarriesWhatIsToDo(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: []\n")
	set := func(state string) model.Response {
		return model.Response{Calls: []model.FunctionCall{{ID: "a", Name: "todo", Arguments: `{"items":[{"text":"paint","state":"` + state + `"}]}`}}, Finish: "tool_calls"}
	}
	bad := model.Response{Calls: []model.FunctionCall{{ID: "b", Name: "todo", Arguments: `{"items":[{"text":"other","state":"never"}]}`}}, Finish: "tool_calls"}
	said := model.Response{Text: new("ok"), Finish: "stop"}
	m := &answers{replies: []model.Response{set("active"), bad, said, said, set("done"), said, said}}
	withModel(r, m, 0)
	id, _ := r.run("go")
	say := func() {
		t.Helper()
		if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "more"}))); res.Outcome != "complete" {
			t.Fatalf("ended %+v", res)
		}
	}
	r.Shutdown()
	r.Manager = NewManager(r.cfg, r)
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	say()
	say()
	const carried = `[\u003e] paint`
	for i, has := range []bool{false, true, true, true, true, false} {
		all := m.requests[i].Messages
		last := strings.ReplaceAll(string(all[len(all)-1]), `>`, `\u003e`)
		if got := strings.Contains(last, "Your list of things to do:") && strings.Contains(last, carried); got != has {
			t.Errorf("request %d ends in %s", i+1, last)
		}
	}
}

// TestAQuestionIsAnswered answers, dismisses and cancels questions of the model.
func TestAQuestionIsAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		args  string
		reply Reply
		want  string
	}{
		"a choice":         {`{text: "Which?", options: [a, b]}`, Reply{Text: "a"}, "completed: the person answers: a"},
		"dismissed":        {`{text: "Which?"}`, Reply{Dismissed: true}, "completed: the person dismissed the question"},
		"nobody is there":  {`{text: "Which?"}`, Reply{Dismissed: true, Why: "the editor is gone"}, "completed: there is no answer: the editor is gone;"},
		"no text":          {`{text: " "}`, Reply{Text: "a"}, "failed: the question has no text"},
		"an empty option":  {`{text: "x", options: [a, ""]}`, Reply{Text: "a"}, "failed: option 2 has no text"},
		"too many options": {`{text: "x", options: [a, a, a, a, a, a, a, a, a, a, a]}`, Reply{Text: "a"}, "failed: the question has 11 options"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil, "version: 1\nentries:\n  - calls: [{question: "+c.args+"}]\n  - text: Done.\n")
			r.reply = func(context.Context, Inquiry) Reply { return c.reply }
			if _, res := r.run("go"); res.Text != "Done." || !strings.Contains(r.kinds(), c.want) {
				t.Errorf("turn ended %+v:\n%s", res, r.kinds())
			}
		})
	}
	r := start(t, nil, "version: 1\nentries:\n  - calls: [{question: {text: Which?}}]\n")
	asked := make(chan struct{})
	r.reply = func(ctx context.Context, _ Inquiry) Reply {
		close(asked)
		<-ctx.Done()
		return Reply{Text: "late"}
	}
	id, err := r.New(t.Context(), NewSession{Root: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	turn := must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "go"}))
	<-asked
	if _, err := r.Cancel(t.Context(), &id, nil); err != nil {
		t.Fatal(err)
	}
	if res := r.result(id, turn); res.Outcome != "cancelled" || strings.Contains(r.kinds(), "late") {
		t.Errorf("turn ended %+v:\n%s", res, r.kinds())
	}
}
