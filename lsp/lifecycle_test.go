package lsp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/go-json-experiment/json/jsontext"
)

func TestInitializeAnswersWithoutTheEngine(t *testing.T) {
	gate := make(chan struct{})
	engine := newFakeEngine()
	r := attach(t, lsptest.Options{Folders: []string{t.TempDir()}}, "", func(c *Config) {
		c.Host.(*fakeHost).start = func(jsontext.Value, []string) (Engine, error) {
			<-gate
			return engine, nil
		}
	})
	r.Initialize()
	if got, err := r.Command("agent.status", nil); err != nil || !strings.Contains(string(got), `"engine":"starting"`) {
		t.Errorf("status %s, %v", got, err)
	}
	prompt := r.GoCommand("agent.prompt", `{"text":"x"}`)
	close(gate)
	if got, err := prompt.Wait(); err != nil || !strings.Contains(string(got), `"turn":1`) {
		t.Errorf("a prompt that waited for the engine: %s, %v", got, err)
	}
}

func TestAnEngineThatDoesNotStartIsToldToEveryCommand(t *testing.T) {
	for name, engine := range map[string]func(jsontext.Value, []string) (Engine, error){
		"error": func(jsontext.Value, []string) (Engine, error) { return nil, errText2("no core") },
		"panic": func(jsontext.Value, []string) (Engine, error) { panic("no core") },
	} {
		r := attach(t, lsptest.Options{Folders: []string{t.TempDir()}}, "", func(c *Config) { c.Host = &fakeHost{start: engine} })
		r.Initialize()
		for range 2 {
			if _, err := r.Command("agent.prompt", `{"text":"x"}`); err == nil || err.Code != -32803 || !strings.Contains(err.Message, "engine") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got, err := r.Command("agent.status", nil); err != nil || !strings.Contains(string(got), "engine did not start") && !strings.Contains(string(got), "no core") {
			t.Errorf("%s: status %s, %v", name, got, err)
		}
	}
}

type errText2 string

func (e errText2) Error() string { return string(e) }

func TestCapabilitiesFollowTheClients(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options lsptest.Options
		want    []string
		not     []string
	}{
		{"default", lsptest.Options{}, []string{
			`"positionEncoding":"utf-16"`, `"change":2`, `"codeActionKinds":["quickfix","agent.ask"]`,
			`"textDocumentContent":{"schemes":["agent"]}`, `"changeNotifications":true`, `"agent.prompt"`, `"name":"agent-lsp"`,
		}, []string{"fileOperations"}},
		{"utf-8 offered last", lsptest.Options{Encodings: []text.Encoding{text.UTF32, text.UTF16, text.UTF8}}, []string{`"positionEncoding":"utf-8"`}, nil},
		{"utf-32 only", lsptest.Options{Encodings: []text.Encoding{text.UTF32}}, []string{`"positionEncoding":"utf-16"`}, nil},
		{
			"only commands as actions",
			lsptest.Options{Capabilities: jsontext.Value(`{"textDocument":{"codeAction":{"codeActionLiteralSupport":null}}}`)},
			[]string{`"codeActionProvider":true`},
			nil,
		},
		{
			"file operations",
			lsptest.Options{Capabilities: jsontext.Value(`{"workspace":{"fileOperations":{"didDelete":true,"didRename":true}}}`)},
			[]string{`"didDelete":{"filters":`},
			nil,
		},
		{
			"odd shapes",
			lsptest.Options{Capabilities: jsontext.Value(`{"window":[],"workspace":{"applyEdit":"yes"},"experimental":7}`)},
			[]string{`"positionEncoding":"utf-16"`},
			nil,
		},
	} {
		r := attach(t, tt.options, t.TempDir(), func(*Config) {})
		got := string(r.Initialize())
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %s is missing in %s", tt.name, w, got)
			}
		}
		for _, w := range tt.not {
			if strings.Contains(got, w) {
				t.Errorf("%s: %s is in %s", tt.name, w, got)
			}
		}
	}
}

// TestRequestsOutsideOfTheirTime is about what comes before initialize and after
// shutdown, and about methods that nobody knows.
func TestRequestsOutsideOfTheirTime(t *testing.T) {
	dir := t.TempDir()
	r := attach(t, lsptest.Options{Folders: []string{dir}}, dir, func(*Config) {})
	code := func(method string, params any) int {
		if _, err := r.Call(method, params); err != nil {
			return err.Code
		}
		return 0
	}
	check := func(name string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	check("command before initialize", code("workspace/executeCommand", `{"command":"agent.prompt","arguments":[{"text":"early"}]}`), -32002)
	r.OpenText("file:///early.txt", "x", 1)
	r.CloseDocument("file:///early.txt")
	r.Initialize()
	check("second initialize", code("initialize", `{"capabilities":{}}`), -32600)
	r.Notify("$/setTrace", `{"value":"off"}`)
	r.Notify("$/foo", nil)
	r.Notify("foo/bar", `{"x":[]}`)
	r.Notify("textDocument/didChange", `{"textDocument":{"uri":"file:///not-open","version":1},"contentChanges":[]}`)
	r.Notify("textDocument/didClose", `{}`)
	r.Notify("initialized", nil)
	check("foo/bar", code("foo/bar", nil), -32601)
	check("$/foo", code("$/foo", nil), -32601)
	check("hover", code("textDocument/hover", `{"textDocument":{"uri":"file:///x"},"position":{"line":0,"character":0}}`), -32601)
	check("unknown command", code("workspace/executeCommand", `{"command":"agent.nothing"}`), -32602)
	check("no command", code("workspace/executeCommand", nil), -32602)
	if got := r.engine.asked(); len(got) != 0 {
		t.Errorf("the engine was asked %q", got)
	}
	if len(r.server.editor.Snapshot()) != 0 {
		t.Error("a document from before initialize is open")
	}
	check("shutdown", code("shutdown", nil), 0)
	check("command after shutdown", code("workspace/executeCommand", `{"command":"agent.status"}`), -32600)
}

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*rig)
		want int
	}{
		{"shutdown and exit", func(r *rig) { _, _ = r.Call("shutdown", nil); r.Notify("exit", nil) }, 0},
		{"shutdown with params", func(r *rig) { _, _ = r.Call("shutdown", "{}"); r.Notify("exit", nil) }, 0},
		{"exit alone", func(r *rig) { r.Notify("exit", nil) }, 1},
		{"end of input", func(r *rig) { r.HangUp() }, 1},
	} {
		r := start(t, lsptest.Options{}, nil)
		tt.end(r)
		r.End()
		code := <-r.code
		if r.code <- code; code != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.name, code, tt.want)
		}
	}
}

// TestTheEndOfTheEditorIsNoAnswer has an edit and a question open when the editor
// hangs up: both wait for the engine's end instead of being taken for refused.
func TestTheEndOfTheEditorIsNoAnswer(t *testing.T) {
	r := start(t, lsptest.Options{Edits: lsptest.EditNever, Creates: lsptest.ProgressNever, Questions: []lsptest.QuestionAnswer{lsptest.NoAnswer}},
		map[string]string{"a.txt": "x\n"})
	r.Open(r.path("a.txt"))
	r.Barrier()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 2)
	e := r.edit("a.txt", "y\n")
	go func() {
		_, err := r.workspace().Apply(ctx, e)
		done <- err
	}()
	go func() {
		done <- errText2(r.side().Approve(ctx, session.Question{Title: "x", Decisions: allDecisions}).Decision)
	}()
	r.WaitMethod("workspace/applyEdit", 0)
	r.WaitMethod("window/showMessageRequest", 0)
	r.HangUp()
	r.End()
	r.code <- <-r.code
	select {
	case err := <-done:
		t.Fatalf("%v, before the engine ended", err)
	default:
	}
	stop()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) && err.Error() != string(session.Deny) {
			t.Error(err)
		}
	}
}

// TestAClientThatAnswersNothingHoldsNothingUp has an editor that is asked for its
// settings, for registrations, and to show a document, and never says a word.
func TestAClientThatAnswersNothingHoldsNothingUp(t *testing.T) {
	dir := t.TempDir()
	o := lsptest.Options{Folders: []string{dir}, Silent: []string{
		"workspace/configuration", "client/registerCapability", "window/showDocument", "window/workDoneProgress/create", "workspace/textDocumentContent/refresh",
	}}
	r := startWith(t, o, dir, func(c *Config) {
		c.Limits.Call = time.Second
	})
	if _, err := r.Command("agent.prompt", `{"text":"x","wait":true}`); err != nil {
		t.Error(err)
	}
	r.Wait("the warning", 0, func(m lsptest.Message) bool {
		return m.Method == "window/logMessage" && strings.Contains(string(m.Params), "has not sent its settings yet")
	})
	r.engine.listing.Sessions = []session.Info{{ID: firstID, Root: dir}}
	if _, err := r.Command("agent.transcript.open", `{}`); err == nil || err.Code != -32803 || !strings.Contains(err.Message, "agent://session/") {
		t.Errorf("a document that the editor does not say it shows: %v", err)
	}
	r.Shutdown()
	code := <-r.code
	if r.code <- code; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestConfigurationIsPulledOrPushed(t *testing.T) {
	for _, pull := range []bool{true, false} {
		got := make(chan string, 4)
		dir := t.TempDir()
		o := lsptest.Options{
			Folders: []string{dir}, NoConfiguration: !pull, NoRegistration: !pull,
			InitializationOptions: jsontext.Value(`{"profile":"demo"}`),
			Settings:              map[string]jsontext.Value{"agentLsp": jsontext.Value(`{"approvals":"all"}`)},
		}
		var options string
		var folders []string
		r := startWith(t, o, dir, func(c *Config) {
			engine := newFakeEngine()
			c.Host = &fakeHost{
				start: func(raw jsontext.Value, dirs []string) (Engine, error) {
					options, folders = string(raw), dirs
					return engine, nil
				},
				configure: func(_ uint64, raw jsontext.Value) { got <- string(raw) },
			}
		})
		if pull {
			if s := <-got; s != `{"approvals":"all"}` {
				t.Errorf("at first %s", s)
			}
		}
		r.Set("agentLsp", `{"approvals":"ask"}`)
		if s := <-got; s != `{"approvals":"ask"}` {
			t.Errorf("then %s", s)
		}
		if options != `{"profile":"demo","trusted":true}` || len(folders) != 1 {
			t.Errorf("the engine was started with %s, %q", options, folders)
		}
	}
}
