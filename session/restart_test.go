package session

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/anthropic"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/openai"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// watching is an editor that keeps what it was shown while a model streamed.
type watching struct {
	*rig
	mu    sync.Mutex // guards shown
	shown strings.Builder
}

func (w *watching) Delta(_ uuid.UUID, _ uint64, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown.WriteString(text)
}

// halves are replies that lack their end: a text and a call that is whole.
var halves = map[string][]string{
	"chat": {
		`{"choices":[{"index":0,"delta":{"content":"Ans"}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"exec","arguments":"{\"argv\":[\"touch\",\"f\"]}"}}]}}]}`,
	},
	"responses": {
		`{"type":"response.output_text.delta","output_index":0,"delta":"Ans"}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"exec","arguments":"{\"argv\":[\"touch\",\"f\"]}"}}`,
	},
	"anthropic": {
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Ans"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"exec","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"argv\":[\"touch\",\"f\"]}"}}`,
		`{"type":"content_block_stop","index":1}`,
	},
}

// TestHalfAReplyIsWithdrawn has a server break off a reply after a text and a
// call: nothing of it is kept or run, and who watched is told.
func TestHalfAReplyIsWithdrawn(t *testing.T) {
	const anew = "\n[the reply was cut off; here it is anew]\n"
	for wire, w := range wires {
		half := "data: " + strings.Join(halves[wire], "\n\ndata: ") + "\n\n"
		for name, c := range map[string]struct {
			answers []string
			text    string // of the turn's result
			shown   string
			kinds   []event.Kind
		}{
			"once":     {[]string{half, w.text}, "Fine.", "Ans" + anew + "Fine.", []event.Kind{event.KindUser, event.KindAsk, event.KindMessage, event.KindEmit, event.KindDone}},
			"for good": {[]string{half, half}, "before the answer was complete", "Ans" + anew + "Ans", []event.Kind{event.KindUser, event.KindAsk, event.KindError, event.KindDone}},
		} {
			t.Run(wire+", "+name, func(t *testing.T) {
				var mu sync.Mutex // guards n
				n := 0
				srv := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
					mu.Lock()
					defer mu.Unlock()
					out.Header().Set("Content-Type", "text/event-stream")
					io.WriteString(out, c.answers[min(n, 1)])
					n++
				}))
				defer srv.Close()
				r := start(t, nil, "version: 1\nentries: []\n")
				r.Shutdown()
				r.cfg.Provider = func(_ context.Context, p model.Profile, env ProviderEnv) (model.Model, error) {
					cfg := httpmodel.Config{Clock: env.Clock, Retries: 1}
					if p.Provider == "anthropic" {
						return anthropic.New(p, cfg), nil
					}
					return openai.New(p, cfg), nil
				}
				r.cfg.Settings.Profiles = map[string]model.Profile{"demo": {Provider: w.provider, API: w.api, BaseURL: srv.URL}}
				editor := &watching{rig: r}
				r.Manager = NewManager(r.cfg, editor)
				_, res := r.run("go")
				if !strings.Contains(res.Text, c.text) {
					t.Errorf("the turn ended %+v", res)
				}
				// The Responses stub says all at its end: nothing of the second reply streams.
				shown := c.shown
				if wire == "responses" && name == "once" {
					shown = "Ans" + anew
				}
				if d := cmp.Diff(shown, editor.shown.String()); d != "" {
					t.Errorf("shown (-want +got):\n%s", d)
				}
				var kinds []event.Kind
				for _, p := range r.events {
					kinds = append(kinds, p.Kind())
					if m, ok := p.(*event.Message); ok && (*m.Text != "Fine." || len(m.Calls) != 0) {
						t.Errorf("kept %q with the calls %v", *m.Text, m.Calls)
					}
				}
				if d := cmp.Diff(c.kinds, kinds); d != "" {
					t.Errorf("the transcript (-want +got):\n%s", d)
				}
				if _, err := os.Stat(filepath.Join(r.dir, "f")); err == nil {
					t.Error("a call of half an answer was run")
				}
			})
		}
	}
}

// babbling is a small model that streams before it notices that a request is too long.
type babbling struct {
	small
	says string
}

func (m *babbling) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	if delta != nil {
		delta(model.Delta{Text: m.says})
	}
	return m.small.Respond(ctx, req, delta)
}

// TestAReplyThatBeginsAnewAfterASummaryIsAnnounced has a model stream a text and
// then say that the conversation is too long: who watches is told what is repeated.
func TestAReplyThatBeginsAnewAfterASummaryIsAnnounced(t *testing.T) {
	const anew = "\n[the reply was cut off; here it is anew]\n"
	for says, want := range map[string]string{"Well": "Well" + anew + "Well", "": ""} {
		t.Run("says "+says, func(t *testing.T) {
			r := start(t, nil, "version: 1\nentries: [{text: unused}]\n")
			withModel(r, &babbling{small{limit: 6000}, says}, 0)
			r.Shutdown()
			editor := &watching{rig: r}
			r.Manager = NewManager(r.cfg, editor)
			for i := 0; len(summaries(r)) == 0; i++ {
				if i == 20 {
					t.Fatal("nothing was summarized")
				}
				editor.shown.Reset()
				if _, res := r.run(fmt.Sprintf("request number %d", i)); res.Outcome != "complete" {
					t.Fatalf("turn %d ended %+v", i, res)
				}
			}
			if d := cmp.Diff(want, editor.shown.String()); d != "" {
				t.Errorf("shown (-want +got):\n%s", d)
			}
		})
	}
}
