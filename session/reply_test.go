package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
)

// answers is a model that returns its replies in order.
type answers struct {
	replies  []model.Response
	requests []model.Request
}

func (m *answers) Respond(_ context.Context, req model.Request, _ func(model.Delta)) (model.Response, error) {
	m.requests = append(m.requests, req)
	return m.replies[len(m.requests)-1], nil
}

func TestACallThatWasCutByTheOutputLimitIsNotRun(t *testing.T) {
	for name, arguments := range map[string]string{
		"in the middle":      `{"path":"a.txt","text":"half`,
		"where it parses":    `{"path":"a.txt","text":"half"}`,
		"without arguments":  ``,
		"after another call": `{"path":"b.txt","text":"whole"}`,
	} {
		for finish, why := range map[string]string{"length": "limit", "max_tokens": "limit", "max_output_tokens": "limit", "content_filter": "filter", "refusal": "filter"} {
			t.Run(name+", "+finish, func(t *testing.T) {
				r := start(t, map[string]string{"a.txt": "before\n"}, "version: 1\nentries: [{text: unused}]\n")
				m := &answers{replies: []model.Response{
					{Calls: []model.FunctionCall{{ID: "1", Name: "write", Arguments: arguments}}, Finish: finish},
					{Text: new("Shorter, then."), Finish: "stop"},
				}}
				withModel(r, m, 0)
				if _, res := r.run("go"); res.Text != "Shorter, then." {
					t.Errorf("turn ended %+v", res)
				}
				if got := r.read("a.txt"); got != "before\n" {
					t.Errorf("a.txt is %q", got)
				}
				if _, err := os.Stat(filepath.Join(r.dir, "b.txt")); err == nil {
					t.Error("b.txt was written")
				}
				if last := m.requests[1].Messages[len(m.requests[1].Messages)-1]; !strings.Contains(string(last), "cut by the ") || !strings.Contains(string(last), why) {
					t.Errorf("the model was told %s", last)
				}
			})
		}
	}
}

func TestCallsWithOneIDStayApart(t *testing.T) {
	appending := func(text string) model.FunctionCall {
		return model.FunctionCall{ID: "dup1", Name: "exec", Arguments: `{"argv":["sh","-c","echo ` + text + ` >> f; echo did ` + text + `"]}`}
	}
	for name, c := range map[string]struct {
		calls []model.FunctionCall
		want  string
	}{
		"identical": {[]model.FunctionCall{appending("x"), appending("x")}, "x\n"},
		"different": {[]model.FunctionCall{appending("x"), appending("y")}, "x\ny\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
			m := &answers{replies: []model.Response{{Calls: c.calls, Finish: "tool_calls"}, {Text: new("done"), Finish: "stop"}}}
			withModel(r, m, 0)
			r.run("go")
			if got := r.read("f"); got != c.want {
				t.Errorf("the effects are %q, want %q", got, c.want)
			}
			ids, wants := map[string]int{}, []string{}
			for _, p := range r.events {
				if call, ok := p.(*event.Call); ok {
					ids[call.ProviderID]++
					text, _, _ := strings.Cut(strings.TrimPrefix(call.Call.Exec.Argv[2], "echo "), " ")
					wants = append(wants, `{"role":"tool","tool_call_id":"`+call.ProviderID+`","content":"exit code 0\ndid `+text+`"`)
				}
			}
			for id, n := range ids {
				if n != 1 {
					t.Errorf("%d calls have the id %s", n, id)
				}
			}
			// Each call of the next request has its own result, and nothing else has one.
			var results []string
			for _, msg := range m.requests[1].Messages {
				if strings.HasPrefix(string(msg), `{"role":"tool"`) {
					results = append(results, string(msg))
				}
			}
			if len(results) != strings.Count(c.want, "\n") || len(wants) != len(results) {
				t.Fatalf("%d calls of the transcript, and the model is told %s", len(wants), results)
			}
			for i, want := range wants {
				if !strings.HasPrefix(results[i], want) {
					t.Errorf("result %d is %s, want %s", i, results[i], want)
				}
			}
		})
	}
}
