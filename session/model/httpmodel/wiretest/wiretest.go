// Package wiretest tests a provider that speaks HTTP with what servers really
// send: split anywhere, cut, stalled, refused, redirected. The framing is tested
// over real connections, the waiting in a bubble of virtual time.
package wiretest

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// API is one wire interface and the provider that speaks it.
type API struct {
	New     func(model.Profile, httpmodel.Config) model.Model
	Profile model.Profile // without address and key
	Path    string        // of the endpoint, after the version, e.g. "messages"
	// Versioned says that a path without a version at its end gets one.
	Versioned bool
	// Encode is the stream of a reply, its end mark last.
	Encode func(Said) []Event
	// Whole is the body of a reply that is not streamed.
	Whole func(Said) string
	// Spare is how many of the last events a whole reply can do without.
	Spare int
	// Alive are signs of life that contain no piece of a reply.
	Alive []Event
	// Refuse is the event of an error in mid-stream.
	Refuse func(name, message string) Event
	Header string // where the key goes, e.g. "Authorization"
}

// Event is one event of a stream.
type Event struct{ Name, Data string }

// Said is the content of a server's reply.
type Said struct {
	ID              string
	Reasoning, Text []string // in pieces
	Calls           []Call
	Finish          string // of the port
	Usage           model.Usage
}

// Call is a call in a stream: its arguments in pieces.
type Call struct {
	ID, Name  string
	Arguments []string
}

// Key is the key of every profile here, and must not be seen anywhere.
const Key = "sk-test-0123456789abcdefghij"

const keyEnv = "WIRETEST_KEY"

// Sample is a reply with something of everything.
func Sample() Said {
	return Said{
		ID:        "answer_1",
		Reasoning: []string{"Größe? ", "漢😀"},
		Text:      []string{"Let me ", "look at größe 漢", "😀."},
		Calls: []Call{
			{"call_a", "read", []string{`{"pa`, `th":"a `, `é.go"}`}},
			{"call_b", "exec", []string{`{"argv":["go",`, `"build"]}`}},
		},
		Finish: "tool_calls",
		Usage:  model.Usage{Input: 120, CachedInput: 100, Output: 30, Reasoning: 7},
	}
}

// Short is a reply of a few bytes.
func Short() Said {
	return Said{ID: "answer_2", Text: []string{"Hel", "lo"}, Finish: "stop", Usage: model.Usage{Input: 3, Output: 2}}
}

// Response returns the response that the provider must return for s.
func (s Said) Response() model.Response {
	r := model.Response{Finish: s.Finish, Usage: s.Usage, ProviderID: s.ID}
	if s.Text != nil {
		r.Text = new(strings.Join(s.Text, ""))
	}
	if s.Reasoning != nil {
		r.Reasoning = new(strings.Join(s.Reasoning, ""))
	}
	for _, c := range s.Calls {
		arguments := strings.Join(c.Arguments, "")
		if arguments == "" {
			arguments = "{}"
		}
		r.Calls = append(r.Calls, model.FunctionCall{ID: c.ID, Name: c.Name, Arguments: arguments})
	}
	return r
}

// Frame writes events with a line end.
func Frame(end string, events ...Event) string {
	var b strings.Builder
	for _, e := range events {
		if e.Name != "" {
			b.WriteString("event: " + e.Name + end)
		}
		b.WriteString("data: " + e.Data + end + end)
	}
	return b.String()
}

// Ask is one request with the API's provider.
type Ask struct {
	API      API
	Base     string // of the profile
	Config   httpmodel.Config
	Messages []string // a greeting when nil
	Tools    []jsontext.Value
	Keyless  bool
}

// Heard is the outcome of a request.
type Heard struct {
	Response model.Response
	Err      *model.Error
	Deltas   []model.Delta
	Text     string // as an editor shows it: emptied at a restart
	Log      string
}

// Do sends the request, and fails the test if the key appears anywhere.
func (a Ask) Do(ctx context.Context, t testing.TB) Heard {
	t.Helper()
	var log syncBuffer
	p := a.API.Profile
	p.Name, p.BaseURL = "tested", a.Base
	if !a.Keyless {
		p.APIKeyEnv = keyEnv
	}
	cfg := a.Config
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if cfg.Getenv == nil {
		cfg.Getenv = func(name string) string {
			if name == keyEnv {
				return Key + "\n" // as a file gives it
			}
			return ""
		}
	}
	messages := a.Messages
	if messages == nil {
		messages = []string{`{"role":"user","content":"hello"}`}
	}
	req := model.Request{Profile: p, Tools: a.Tools}
	for _, m := range messages {
		req.Messages = append(req.Messages, jsontext.Value(m))
	}
	var h Heard
	resp, err := a.API.New(p, cfg).Respond(ctx, req, func(d model.Delta) {
		h.Deltas = append(h.Deltas, d)
		if d.Restarted {
			h.Text = ""
		}
		h.Text += d.Text
	})
	h.Response, h.Log = resp, log.String()
	if err != nil {
		e, ok := err.(*model.Error) //nolint:errorlint // the port promises it bare
		if !ok {
			t.Fatalf("the error is a %T, not a *model.Error: %v", err, err)
		}
		h.Err = e
	}
	for where, text := range map[string]string{"log": h.Log, "error": errText(h.Err), "answer": h.Text} {
		if strings.Contains(text, Key) || strings.Contains(text, Key[:16]) {
			t.Errorf("the key is in the %s: %s", where, text)
		}
	}
	return h
}

func errText(e *model.Error) string {
	if e == nil {
		return ""
	}
	return e.Error()
}

// Want compares a reply; a failure is fatal.
func (h Heard) Want(t testing.TB, want model.Response) {
	t.Helper()
	if h.Err != nil {
		t.Fatalf("failed: %v\n%s", h.Err, h.Log)
	}
	if diff := cmp.Diff(want, h.Response, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(model.Response{}, "Sealed")); diff != "" {
		t.Fatalf("answer (-want +got):\n%s", diff)
	}
	text, reasoning := "", ""
	for _, d := range h.Deltas {
		if d.Restarted {
			text, reasoning = "", ""
		}
		text, reasoning = text+d.Text, reasoning+d.Reasoning
	}
	if want.Text != nil && text != *want.Text || want.Reasoning != nil && reasoning != *want.Reasoning {
		t.Fatalf("shown %q and %q, want %v", text, reasoning, want)
	}
}

// Fails compares a failure.
func (h Heard) Fails(t testing.TB, kind model.ErrorKind, words ...string) {
	t.Helper()
	if h.Err == nil {
		t.Fatalf("answered %+v, want the error %s", h.Response, kind)
	}
	if h.Err.Kind != kind {
		t.Errorf("kind %s, want %s: %v", h.Err.Kind, kind, h.Err)
	}
	for _, w := range words {
		if !strings.Contains(h.Err.Message, w) {
			t.Errorf("the message does not say %q: %v", w, h.Err)
		}
	}
}

type syncBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Tools are definitions of tools as a session sends them, some with options and
// lists.
func Tools() []jsontext.Value {
	return []jsontext.Value{
		model.Definition("read", "Read a text file, or list a directory.", jsontext.Value(
			`{"type":"object","properties":{"path":{"type":"string","description":"relative to the workspace root"}},"required":["path"],"additionalProperties":false}`)),
		model.Definition("exec", "Run a program, without a shell.", jsontext.Value(
			`{"type":"object","properties":{"argv":{"type":"array","items":{"type":"string"},"description":"program and arguments"},`+
				`"cwd":{"type":"string","description":"directory"}},"required":["argv"],"additionalProperties":false}`)),
	}
}
