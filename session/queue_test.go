package session

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// gated is a model that calls during before each reply.
type gated struct {
	answers
	during func(request int)
}

func (m *gated) Respond(ctx context.Context, req model.Request, d func(model.Delta)) (model.Response, error) {
	if m.during != nil {
		m.during(len(m.requests))
	}
	return m.answers.Respond(ctx, req, d)
}

func says(text string) model.Response { return model.Response{Text: &text, Finish: "stop"} }

func callsTool(name, arguments string) model.Response {
	return model.Response{Calls: []model.FunctionCall{{ID: "1", Name: name, Arguments: arguments}}, Finish: "tool_calls"}
}

// steer says text into the turn that runs, which must be want.
func (r *rig) steer(text string, want uint64) {
	r.t.Helper()
	if _, turn, err := r.Steer(r.t.Context(), nil, r.dir, text); err != nil || turn != want {
		r.t.Errorf("steer %q: turn %d, %v", text, turn, err)
	}
}

// change changes the queue and wants it to be what want says then.
func (r *rig) change(c QueueChange, want ...string) {
	r.t.Helper()
	_, entries, err := r.Queue(r.t.Context(), nil, r.dir, c)
	if err != nil {
		r.t.Fatalf("change the queue by %+v: %v", c, err)
	}
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Text)
	}
	if d := cmp.Diff(append([]string{}, want...), got); d != "" {
		r.t.Errorf("after %+v the queue is (-want +got):\n%s", c, d)
	}
}

// prompted are the prompts in the order in which their turns began.
func (r *rig) prompted() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.events {
		if u, ok := p.(*event.User); ok {
			out = append(out, u.Text)
		}
	}
	return out
}

func TestASteerIsInTheVeryNextRequestBehindAllResults(t *testing.T) {
	for name, steered := range map[string]bool{"while the model replies": true, "while a command waits for the person": false} {
		t.Run(name, func(t *testing.T) {
			r := start(t, map[string]string{"a.txt": "one\n"}, "version: 1\nentries: [{text: unused}]\n")
			m := &gated{answers: answers{replies: []model.Response{callsTool("exec", `{"argv":["cat","a.txt"]}`), says("Done.")}}}
			withModel(r, m, 0)
			steer := func() { r.steer("use tabs", 1); r.steer("and be quick", 1) }
			m.during = func(n int) {
				if steered && n == 0 {
					steer()
				}
			}
			r.answer = func(context.Context, Question) Answer {
				if !steered {
					steer()
				}
				return Answer{Decision: AllowOnce}
			}
			if _, res := r.run("go"); res.Text != "Done." {
				t.Fatalf("turn ended %+v", res)
			}
			before, after := texts(m.requests[0]), texts(m.requests[1])
			if d := cmp.Diff(before, after[:len(before)]); d != "" {
				t.Errorf("the request begins with another prefix (-before +after):\n%s", d)
			}
			end := after[len(after)-2:]
			for i, want := range []string{`"role":"tool"`, `"content":"use tabs\n\nand be quick"`} {
				if !strings.Contains(end[i], want) {
					t.Errorf("message %d from the end is %s, want %s", 2-i, end[i], want)
				}
			}
		})
	}
}

func texts(req model.Request) (out []string) {
	for _, m := range req.Messages {
		out = append(out, string(m))
	}
	return out
}

func TestASteerThatNoRequestTookIsTheNextPrompt(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	m := &gated{answers: answers{replies: []model.Response{says("One."), says("Steered."), says("Two."), says("Three.")}}}
	withModel(r, m, 0)
	m.during = func(n int) {
		if n == 0 {
			mustPrompt(t, r, "second")
			r.steer("and this", 1)
		}
	}
	id, _ := r.run("first")
	for turn, want := range map[uint64]string{2: "Two.", 3: "Steered."} {
		if res := r.result(id, turn); res.Text != want {
			t.Errorf("turn %d ended %+v, want %s", turn, res, want)
		}
	}
	if d := cmp.Diff([]string{"first", "and this", "second"}, r.prompted()); d != "" {
		t.Errorf("turns began in the order (-want +got):\n%s", d)
	}
	if _, _, err := r.Steer(t.Context(), &id, "", "too late"); err == nil || !strings.Contains(err.Error(), "no turn runs") {
		t.Errorf("a steer at rest: %v", err)
	}
	r.Shutdown()
	next := over(t, r.dir, r.store, "version: 1\nentries: [{when: 4/1, text: More.}]\n")
	if _, err := next.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if turn := mustTurn(t, next, id, "fourth"); turn != 4 || next.result(id, turn).Text != "More." {
		t.Errorf("after the resume turn %d ended %+v", turn, next.result(id, turn))
	}
}

func mustTurn(t *testing.T, r *rig, id uuid.UUID, text string) uint64 {
	t.Helper()
	_, turn, err := r.Prompt(t.Context(), Prompt{Session: &id, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestTheQueueIsChangedAndPausedByACancel(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	m := &gated{answers: answers{replies: []model.Response{says("One."), says("Fourth."), says("Third."), says("Second.")}}}
	withModel(r, m, 0)
	var id uuid.UUID
	m.during = func(n int) {
		if n > 0 {
			return
		}
		for _, text := range []string{"second", "third", "gone"} {
			mustPrompt(t, r, text)
		}
		r.change(QueueChange{}, "second", "third", "gone")
		r.change(QueueChange{Entry: 4, Remove: true}, "second", "third")
		r.change(QueueChange{Entry: 2, Text: new("the second")}, "the second", "third")
		r.change(QueueChange{Entry: 3, Next: true}, "third", "the second")
		for _, wrong := range []QueueChange{{Entry: 4}, {Entry: 1, Remove: true}, {Entry: 2, Text: new(" ")}} {
			if _, _, err := r.Queue(t.Context(), nil, r.dir, wrong); err == nil {
				t.Errorf("%+v was taken", wrong)
			}
		}
		if ok, err := r.Cancel(t.Context(), nil, nil); !ok || err != nil {
			t.Errorf("cancel: %v, %v", ok, err)
		}
	}
	id, res := r.run("first")
	if res.Outcome != "cancelled" {
		t.Errorf("the first turn ended %+v", res)
	}
	if got := r.result(id, 4); got != (TurnResult{"cancelled", "withdrawn by the user"}) {
		t.Errorf("the withdrawn prompt ended %+v", got)
	}
	r.change(QueueChange{}, "third", "the second")
	if st := r.Status(); st.Sessions[0].State != "idle" || len(st.Turns) != 2 || st.Turns[0].Doing != "queued" {
		t.Errorf("a paused session's status is %+v, %+v", st.Sessions, st.Turns)
	}
	mustPrompt(t, r, "fourth")
	for turn, want := range map[uint64]string{5: "Fourth.", 3: "Third.", 2: "Second."} {
		if res := r.result(id, turn); res.Text != want {
			t.Errorf("turn %d ended %+v, want %s", turn, res, want)
		}
	}
	if d := cmp.Diff([]string{"first", "fourth", "third", "the second"}, r.prompted()); d != "" {
		t.Errorf("turns began in the order (-want +got):\n%s", d)
	}
}

func TestAPausedQueueOutlivesTheServer(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
	m := &gated{answers: answers{replies: []model.Response{says("One.")}}}
	withModel(r, m, 0)
	m.during = func(int) {
		mustPrompt(t, r, "second")
		mustPrompt(t, r, "third")
		r.change(QueueChange{Entry: 3, Next: true, Text: new("the third")}, "the third", "second")
		if _, err := r.Cancel(t.Context(), nil, nil); err != nil {
			t.Error(err)
		}
	}
	id, _ := r.run("first")
	r.Shutdown()
	next := over(t, r.dir, r.store, "version: 1\nentries: [{when: 3/1, text: Third.}, {when: 2/1, text: Second.}]\n")
	if got, err := next.Resume(t.Context(), id); err != nil || got.State != "idle" {
		t.Fatalf("resumed %+v, %v", got, err)
	}
	next.change(QueueChange{}, "the third", "second")
	next.change(QueueChange{Entry: 3, Next: true}, "second")
	for turn, want := range map[uint64]string{3: "Third.", 2: "Second."} {
		if res := next.result(id, turn); res.Text != want {
			t.Errorf("turn %d ended %+v, want %s", turn, res, want)
		}
	}
}
