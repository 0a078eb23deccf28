package session

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/anthropic"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/openai"
	"github.com/google/go-cmp/cmp"
)

// stub is a server of one of the three wire interfaces that takes no pictures.
type stub struct {
	*httptest.Server
	refuse string // the body of the 400
	status int

	mu   sync.Mutex // guards seen
	seen []string
}

// wires are the interfaces: what marks a picture in a request, and a reply that
// calls read or says something.
var wires = map[string]struct {
	provider, api, mark string
	call, text          string
}{
	"chat": {
		"openai", "", `"image_url"`,
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"path\":\"t.txt\"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
		`data: {"choices":[{"index":0,"delta":{"content":"Fine."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
	},
	"responses": {
		"openai", "responses", `"input_image"`,
		`data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"t.txt\"}"}]}}` + "\n\n",
		`data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Fine."}]}]}}` + "\n\n",
	},
	"anthropic": {
		"anthropic", "", `"type":"image"`,
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"read","input":{"path":"t.txt"}}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Fine."}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
	},
}

// blindServer makes the rig ask such a server. Each turn reads a file first.
func blindServer(t *testing.T, r *rig, wire string, status int, refuse string) *stub {
	t.Helper()
	w := wires[wire]
	st := &stub{refuse: refuse, status: status}
	st.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		st.mu.Lock()
		st.seen = append(st.seen, string(body))
		st.mu.Unlock()
		last := strings.Count(string(body), "t.txt") > 0 && strings.LastIndex(string(body), "file text") > strings.LastIndex(string(body), "turn ")
		switch {
		case bytes.Contains(body, []byte(w.mark)):
			out.WriteHeader(st.status)
			io.WriteString(out, st.refuse)
		case last:
			out.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(out, w.text)
		default:
			out.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(out, w.call)
		}
	}))
	t.Cleanup(st.Close)
	r.cfg.Provider = func(_ context.Context, p model.Profile, _ ProviderEnv) (model.Model, error) {
		if p.Provider == "anthropic" {
			return anthropic.New(p, httpmodel.Config{}), nil
		}
		return openai.New(p, httpmodel.Config{}), nil
	}
	r.cfg.Settings.Profiles = map[string]model.Profile{"demo": {Provider: w.provider, API: w.api, BaseURL: st.URL, Model: "m", Vision: true}}
	r.Shutdown()
	r.Manager = NewManager(r.cfg, r)
	return st
}

// pictured tells of each request since the last call whether it had a picture.
func (s *stub) pictured(mark string) []bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []bool
	for _, body := range s.seen {
		out = append(out, strings.Contains(body, mark))
	}
	s.seen = nil
	return out
}

func TestAPictureThatTheProviderRefusesIsNotSentAgain(t *testing.T) {
	first, second := drawn(9, 9, 80, false), drawn(7, 7, 90, false)
	for wire, w := range wires {
		t.Run(wire, func(t *testing.T) {
			r := start(t, map[string]string{"a.png": first, "t.txt": "file text\n"}, "version: 1\nentries: []\n")
			srv := blindServer(t, r, wire, 400, `{"error":{"type":"invalid_request_error","message":"messages.1.content.1: Could not process image"}}`)
			expect := func(what string, res TurnResult, want ...bool) {
				t.Helper()
				if res.Outcome != "complete" || res.Text != "Fine." {
					t.Fatalf("%s: turn ended %+v:\n%s", what, res, r.kinds())
				}
				srv.mu.Lock()
				last := srv.seen[len(srv.seen)-1]
				srv.mu.Unlock()
				if told := strings.Contains(last, "[a.png is not shown: the model's provider refused it]"); told != (len(want) > 0 && what != "text only") {
					t.Errorf("%s: the model is told of the picture: %t, in %s", what, told, last)
				}
				if got := srv.pictured(w.mark); !slices.Equal(got, want) {
					t.Errorf("%s: requests with a picture: %v, want %v", what, got, want)
				}
			}
			_, res := r.show("turn 1", "a.png")
			expect("the first time", res, true, false, false)
			var note *event.Note
			for _, p := range r.events {
				if n, ok := p.(*event.Note); ok && n.Refused != nil {
					note = n
				}
			}
			const said = "profile demo: model answered bad_request (status 400): messages.1.content.1: Could not process image; asked again without a.png, which this session does not send to it any more"
			want := &event.Note{Turn: 1, Text: said, Refused: &event.Refused{Profile: "demo", Files: []string{hashOf(first)}}}
			if d := cmp.Diff(want, note); d != "" {
				t.Errorf("the person is told (-want +got):\n%s", d)
			}
			_, res = r.run("turn 2")
			expect("text only", res, false, false)
			id, res := r.show("turn 3", "a.png")
			expect("the same picture", res, false, false)
			r.Shutdown()
			r.Manager = NewManager(r.cfg, r)
			if _, err := r.Resume(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			_, res = r.show("turn 4", "a.png")
			expect("after a resume", res, false, false)
			if err := os.WriteFile(filepath.Join(r.dir, "a.png"), []byte(second), 0o644); err != nil {
				t.Fatal(err)
			}
			_, res = r.show("turn 5", "a.png")
			expect("another picture", res, true, false, false)
		})
	}
}

func TestAFailureAboutSomethingElseKeepsThePicture(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"another fault":    {400, `{"error":{"message":"unknown field \"x\""}}`, "unknown field"},
		"the key":          {401, `{"error":{"message":"this key may not send images"}}`, "this key"},
		"too many":         {429, `{"error":{"message":"too many images per minute"}}`, "per minute"},
		"trouble":          {500, `{"error":{"message":"image pipeline is down"}}`, "pipeline"},
		"no such endpoint": {404, `404 page not found`, "page not found"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, map[string]string{"a.png": drawn(9, 9, 80, false), "t.txt": "file text\n"}, "version: 1\nentries: []\n")
			srv := blindServer(t, r, "chat", c.status, c.body)
			if _, res := r.show("turn 1", "a.png"); res.Outcome != "failed" || !strings.Contains(res.Text, c.want) {
				t.Errorf("turn ended %+v", res)
			}
			if got := srv.pictured(`"image_url"`); !slices.Equal(got, []bool{true}) {
				t.Errorf("requests with a picture: %v", got)
			}
			if strings.Contains(r.kinds(), "note ") {
				t.Errorf("a note of a refusal:\n%s", r.kinds())
			}
			if _, res := r.run("turn 2"); res.Text != "Fine." {
				t.Errorf("a turn of text only ended %+v", res)
			}
		})
	}
}

// A refusal that was not about the pictures after all keeps none of them back.
func TestARefusalThatStaysIsReportedAndForgotten(t *testing.T) {
	first := drawn(9, 9, 80, false)
	r := start(t, map[string]string{"a.png": first, "t.txt": "file text\n"}, "version: 1\nentries: []\n")
	heard := seeing(t, r, true, `{fail: {kind: error, error: bad_request, message: "model my-image-model is not known"}}, {fail: {kind: error, error: bad_request, message: no such model}}, {text: Seen.}`)
	if _, res := r.show("look", "a.png"); res.Outcome != "failed" || !strings.Contains(res.Text, "no such model; it was asked without pictures, after: ") || !strings.Contains(res.Text, "my-image-model") {
		t.Errorf("turn ended %+v", res)
	}
	if _, res := r.show("look", "a.png"); res.Text != "Seen." {
		t.Errorf("turn ended %+v", res)
	}
	if last := heard.requests[len(heard.requests)-1]; !bytes.Contains(last.Messages[len(last.Messages)-1], []byte(dataURL(first))) {
		t.Error("the picture is kept back without need")
	}
}
