package lsptest_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
	"go.lsp.dev/protocol"
)

func TestMain(m *testing.M) {
	lsptest.MaybeBaseline()
	testscript.Main(m, map[string]func(){"agent-lsp": func() {
		in, out, err := wire.ClaimStdio()
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "toy server is up")
		code, _ := wire.Serve(context.Background(), in, out, newToy().config())
		os.Exit(code)
	}})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, lsptest.Params("testdata/script"))
}

// toy is a server that does what the fake editor must be able to see.
type toy struct {
	client *wire.Client
	turns  atomic.Int32
	mu     sync.Mutex
	docs   map[string]*text.Doc
	at     map[string]int32
}

func newToy() *toy { return &toy{docs: map[string]*text.Doc{}, at: map[string]int32{}} }

const toySession = "0190d5a0-0000-7000-8000-00000000000a"

// open reports whether a document is known, and its text.
func (s *toy) open(uri string) (*text.Doc, int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.docs[text.Key(uri)], s.at[text.Key(uri)]
}

func (s *toy) set(uri string, d *text.Doc, version int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs[text.Key(uri)], s.at[text.Key(uri)] = d, version
}

func (s *toy) config() wire.Config {
	return wire.Config{
		Initialize: func(context.Context, jsontext.Value) (any, error) {
			return jsontext.Value(`{"capabilities":{},"serverInfo":{"name":"toy"}}`), nil
		},
		Connect: func(c *wire.Client) { s.client = c },
		Requests: map[string]wire.Handler{
			"workspace/executeCommand": func(ctx context.Context, params jsontext.Value) (any, error) {
				p, err := wire.Decode[struct {
					Command   string           `json:"command"`
					Arguments []jsontext.Value `json:"arguments"`
				}](params)
				if err != nil {
					return nil, err
				}
				argument := jsontext.Value("{}")
				if len(p.Arguments) > 0 {
					argument = p.Arguments[0]
				}
				return s.command(ctx, p.Command, argument)
			},
		},
		Notifications: map[string]wire.Notified{
			"textDocument/didOpen": func(_ context.Context, params jsontext.Value) error {
				d, err := wire.DecodeDidOpen(params)
				s.set(d.URI, text.New(d.Text), d.Version)
				return err
			},
			"textDocument/didChange": func(_ context.Context, params jsontext.Value) error {
				d, err := wire.DecodeDidChange(params)
				if err != nil {
					return err
				}
				doc, _ := s.open(d.URI)
				s.set(d.URI, doc.Apply(d.Changes, text.UTF16), d.Version)
				return nil
			},
		},
	}
}

type toyArgument struct {
	URI    string `json:"uri"`
	Text   string `json:"text"`
	Create bool   `json:"create"`
	N      int    `json:"n"`
}

func (s *toy) command(ctx context.Context, name string, argument jsontext.Value) (any, error) {
	a, err := wire.Decode[toyArgument](argument)
	if err != nil {
		return nil, err
	}
	notify := func(method, format string, args ...any) error {
		return s.client.Notify(ctx, method, jsontext.Value(fmt.Sprintf(format, args...)))
	}
	switch name {
	case "toy.edit":
		return s.edit(ctx, a)
	case "toy.text":
		d, version := s.open(a.URI)
		if d == nil {
			return nil, wire.InvalidParams("%s is not open", a.URI)
		}
		return jsontext.Value(fmt.Sprintf(`{"text":%q,"version":%d}`, d.String(), version)), nil
	case "toy.ask":
		return wire.Call[jsontext.Value](ctx, s.client, "window/showMessageRequest", jsontext.Value(`{"type":3,"message":"May I?","actions":[{"title":"Allow once"},{"title":"Allow for this session"},{"title":"Deny"}]}`))
	case "toy.find":
		found := "[]"
		if a.N > 0 {
			found = `[{"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}},"severity":1,"source":"toy","code":"E1","message":"it is wrong"}]`
		}
		return nil, notify("textDocument/publishDiagnostics", `{"uri":%q,"diagnostics":%s}`, a.URI, found)
	case "toy.turn":
		token := fmt.Sprintf("t%d", s.turns.Add(1))
		if _, err := wire.Call[jsontext.Value](ctx, s.client, "window/workDoneProgress/create", jsontext.Value(fmt.Sprintf(`{"token":%q}`, token))); err != nil {
			return nil, err
		}
		for _, v := range []string{`{"kind":"begin","title":"toy"}`, `{"kind":"report","message":"on it"}`, `{"kind":"end"}`} {
			if err := notify("$/progress", `{"token":%q,"value":%s}`, token, v); err != nil {
				return nil, err
			}
		}
		if err := notify("window/logMessage", `{"type":3,"message":"done with it"}`); err != nil {
			return nil, err
		}
		return jsontext.Value(`{"session":"` + toySession + `","turn":7}`), nil
	case "toy.push":
		return nil, notify("agent/transcript", `{"session":%q,"index":0,"at":"2026-11-30T10:00:00.5Z","event":{"kind":"done","turn":1,"outcome":"complete"}}`, toySession)
	case "agent.transcript":
		return jsontext.Value(`{"events":[{"index":0,"at":"2026-11-30T10:00:00Z","event":{"kind":"user","turn":7,"text":"hello"}},{"index":1,"at":"2026-11-30T10:00:00Z","event":{"kind":"note","text":"session ` + toySession + ` at 2026-11-30T10:00:00Z"}}],"head":2}`), nil
	}
	return nil, wire.InvalidParams("unknown command %s", name)
}

// edit asks the editor for a text and answers what it said and what came of it.
func (s *toy) edit(ctx context.Context, a toyArgument) (any, error) {
	d, version := s.open(a.URI)
	entries := ""
	if a.Create {
		entries = fmt.Sprintf(`{"kind":"create","uri":%q},`, a.URI)
	}
	at := "null"
	if d == nil {
		d = text.New("")
	} else {
		at = fmt.Sprint(version)
	}
	edits, err := protocol.Marshal(d.Edits(a.Text, text.UTF16))
	if err != nil {
		return nil, err
	}
	if d.Len() == 0 {
		edits = fmt.Appendf(nil, `[{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}},"newText":%q}]`, a.Text)
	}
	return wire.Call[jsontext.Value](ctx, s.client, "workspace/applyEdit", jsontext.Value(fmt.Sprintf(
		`{"edit":{"documentChanges":[%s{"textDocument":{"uri":%q,"version":%s},"edits":%s}]}}`, entries, a.URI, at, edits)))
}
