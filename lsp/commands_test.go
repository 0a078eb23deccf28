package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

var secondID = uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8058")

func TestCommands(t *testing.T) {
	one := `"` + firstID.String() + `"`
	for _, tt := range []struct {
		command, argument string
		want              string // the result, or the error as "code message"
		asked             string // of the engine
	}{
		{"agent.prompt", `{"text":"do it"}`, `{"session":` + one + `,"turn":1}`, `prompt "do it" in DIR`},
		{"agent.prompt", `{"text":"do it","root":"DIR","session":` + one + `}`, `{"session":` + one + `,"turn":1}`, `prompt "do it" in DIR`},
		{"agent.prompt", `{"text":"do it","root":"DIRURI"}`, `{"session":` + one + `,"turn":1}`, `prompt "do it" in DIR`},
		{"agent.prompt", `{"text":"do it","wait":true}`, `{"session":` + one + `,"turn":1,"outcome":"complete","text":"done it"}`, `prompt "do it" in DIR; wait 1`},
		{"agent.prompt", `{}`, `-32602 agent.prompt: text: is missing: it must be a string`, ``},
		{"agent.prompt", `{"text":"x","root":"/nowhere"}`, `-32602 agent.prompt: root: "/nowhere" is not a workspace folder of this editor: it has DIR`, ``},
		{"agent.prompt", `{"text":"x","context":[{"uri":"file:///nowhere/x"}]}`, `-32602 agent.prompt: context[0].uri: /nowhere/x is in no workspace folder of this editor: it has DIR`, ``},
		{"agent.prompt", `{"text":"x","context":[{"uri":"git:x"}]}`, `-32602 agent.prompt: context[0].uri: git:x is not a file: need a file:// URI`, ``},
		{"agent.prompt", `{"text":"x","context":[{}]}`, `-32602 agent.prompt: context[0].uri: is missing: it must be a string`, ``},
		{"agent.prompt", `{"text":"x","session":"` + secondID.String() + `"}`, `-32602 agent.prompt: session: ` + secondID.String() + ` belongs to /elsewhere, which is not a workspace folder of this editor; to go on with it in another one: agent-lsp sessions move ` + secondID.String() + ` FOLDER`, ``},
		{"agent.prompt", `{"text":"x","wiat":true}`, `-32602 agent.prompt: wiat: unknown member: use text, session, root, context, wait`, ``},
		{"agent.cancel", `{}`, `{"cancelled":true}`, `cancel - -`},
		{"agent.cancel", `{"session":` + one + `,"turn":3}`, `{"cancelled":true}`, `cancel ` + firstID.String() + ` 3`},
		{"agent.cancel", `{"turn":"3"}`, `-32602 agent.cancel: turn: must be a whole number that is not negative, not a string`, ``},
		{
			"agent.fix", `{"uri":"DIRURI/a.go","diagnostics":[{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":2}},"message":"bad","source":"go","severity":1,"data":{}}]}`,
			`{"session":` + one + `,"turn":1}`, "prompt \"Fix this problem:\\n- a.go:2: bad (go)\" in DIR",
		},
		{"agent.fix", `{"uri":"DIRURI/a.go","diagnostics":[]}`, `-32602 agent.fix: diagnostics: must name at least one problem`, ``},
		{"agent.fix", `{"uri":"DIRURI/a.go","diagnostics":[{"message":"x"}]}`, `-32602 agent.fix: diagnostics[0].range: is missing: it must be a range`, ``},
		{"agent.steer", `{"text":"use tabs"}`, `{"session":` + one + `,"turn":3}`, `steer - "use tabs" in DIR`},
		{"agent.steer", `{"session":` + one + `}`, `-32602 agent.steer: text: is missing: it must be a string`, ``},
		{"agent.queue", ``, `{"session":` + one + `,"entries":[{"id":4,"text":"later"}]}`, `queue - 0 - false false in DIR`},
		{"agent.queue", `{"session":` + one + `,"entry":4,"text":"x"}`, `{"session":` + one + `,"entries":[{"id":4,"text":"later"}]}`, `queue ` + firstID.String() + ` 4 x false false in DIR`},
		{"agent.queue", `{"entry":4,"remove":true}`, `{"session":` + one + `,"entries":[{"id":4,"text":"later"}]}`, `queue - 4 - true false in DIR`},
		{"agent.queue", `{"entry":4,"next":true}`, `{"session":` + one + `,"entries":[{"id":4,"text":"later"}]}`, `queue - 4 - false true in DIR`},
		{"agent.queue", `{"entry":4}`, `-32602 agent.queue: entry: needs text, remove or next beside it`, ``},
		{"agent.queue", `{"remove":true}`, `-32602 agent.queue: entry: is missing: it must be the id of a prompt that waits`, ``},
		{"agent.fix", `{"diagnostics":[7]}`, `-32602 agent.fix: uri: is missing: it must be a string`, ``},
		{"agent.session.new", `{"profile":"p","title":"t"}`, `{"session":` + one + `}`, `new DIR "p" "t"`},
		{"agent.session.list", `{}`, `{"sessions":[{"session":` + one + `,"root":"DIR","title":"","profile":"","createdAt":"0001-01-01T00:00:00Z","updatedAt":"0001-01-01T00:00:00Z","turns":0,"state":"idle"}],"undecodable":[{"id":"x","error":"torn"}]}`, ``},
		{"agent.session.list", `{"all":true}`, `-32602 agent.session.list: all: unknown member: use none`, ``},
		{"agent.session.resume", `{"session":` + one + `}`, `{"session":` + one + `,"head":7,"state":"idle","interrupted":[]}`, `resume ` + firstID.String()},
		{"agent.session.resume", `{}`, `-32602 agent.session.resume: session: is missing: it must be a session id`, ``},
		{"agent.session.close", `{"session":` + one + `}`, `{}`, `close ` + firstID.String()},
		{"agent.session.delete", `{"session":` + one + `}`, `{}`, `delete ` + firstID.String()},
		{"agent.session.delete", `{"session":"` + secondID.String() + `"}`, `-32602 agent.session.delete: session: ` + secondID.String() + ` belongs to /elsewhere, which is not a workspace folder of this editor; to go on with it in another one: agent-lsp sessions move ` + secondID.String() + ` FOLDER`, ``},
		{"agent.transcript", `{"session":` + one + `}`, `{"events":[{"index":0,"at":"0001-01-01T00:00:00Z","event":{"kind":"note","text":"hi"}}],"head":1}`, `transcript -`},
		{"agent.transcript", `{"session":` + one + `,"after":4}`, `{"events":[{"index":0,"at":"0001-01-01T00:00:00Z","event":{"kind":"note","text":"hi"}}],"head":1}`, `transcript 4`},
		{"agent.undo", `{"turn":2}`, `{"session":` + one + `,"turn":1,"files":["a.go"],"notCovered":[]}`, `undo - 2 - in DIR`},
		{"agent.undo", `{"session":` + one + `,"edit":9}`, `{"session":` + one + `,"turn":1,"files":["a.go"],"notCovered":[]}`, `undo ` + firstID.String() + ` - 9 in DIR`},
		{"agent.profiles", ``, `{"profiles":[{"name":"demo","provider":"script","model":"","selected":true}]}`, ``},
		{"agent.profile.select", `{"profile":"demo"}`, `{}`, `select demo  -`},
		{"agent.profile.select", `{"profile":"p","model":"m","session":` + one + `}`, `{}`, `select p m ` + firstID.String()},
		{"agent.profile.select", `{}`, `-32602 agent.profile.select: profile: is missing: it must be a string`, ``},
		{"agent.rules", `{}`, `{"rules":[{"rule":"exec: [go, test]","origin":"config.yaml:1:1"}]}`, ``},
		{"agent.rules", `{"remove":"exec: [go, test]"}`, `{"rules":[]}`, ``},
		{"agent.rules", `{"remove":1}`, `-32602 agent.rules: remove: must be a string, not a number`, ``},
		{"agent.check", `{}`, `{"results":[{"root":"DIR","outcome":"clean","text":"","findings":[],"command":["go","vet"],"tookMs":1500}]}`, `check DIR`},
		{"agent.check", `{"root":7}`, `-32602 agent.check: root: must be a string, not a number`, ``},
		{"agent.status", `{"x":1}`, `-32602 agent.status: x: unknown member: use none`, ``},
	} {
		t.Run(tt.command, func(t *testing.T) {
			r := start(t, lsptest.Options{}, map[string]string{"a.go": "package a\nx\n"})
			fill := strings.NewReplacer("DIRURI", text.URI(r.dir), "DIR", r.dir).Replace
			r.engine.listing = session.Listing{
				Sessions:    []session.Info{{ID: firstID, Root: r.dir, State: "idle"}, {ID: secondID, Root: "/elsewhere"}},
				Undecodable: []store.Undecodable{{ID: "x", Error: "torn"}},
			}
			r.engine.entries = []session.Entry{{Event: []byte(`{"kind":"note","text":"hi"}`)}}
			r.engine.profiles = []session.ProfileInfo{{Name: "demo", Provider: "script", Selected: true}}
			r.engine.checks = map[string][]checker.Result{r.dir: {{Outcome: checker.Clean, Root: r.dir, Command: []string{"go", "vet"}, Took: 1500 * time.Millisecond}}}
			var argument any
			if tt.argument != "" {
				argument = fill(tt.argument)
			}
			result, err := r.Command(tt.command, argument)
			got := string(result)
			if err != nil {
				got = fmt.Sprintf("%d %s", err.Code, err.Message)
			} else {
				got = canonical(got)
			}
			want := fill(tt.want)
			if strings.HasPrefix(want, "{") {
				want = canonical(want)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s %s: %s", tt.command, tt.argument, d)
			}
			if asked := strings.Join(r.engine.asked(), "; "); asked != fill(tt.asked) {
				t.Errorf("%s %s: the engine was asked %q, want %q", tt.command, tt.argument, asked, fill(tt.asked))
			}
		})
	}
}

func TestErrorsOfTheEngineReachTheCaller(t *testing.T) {
	r := start(t, lsptest.Options{}, nil)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&session.ArgumentError{Member: "text", Text: "is too long"}, "-32602 agent.prompt: text: is too long"},
		{fmt.Errorf("wrapped: %w", &session.ArgumentError{Member: "text", Text: "is too long"}), "-32602 agent.prompt: text: is too long"},
		{errText2("the core is gone"), "-32803 agent.prompt: the core is gone"},
	} {
		r.engine.err = tt.err
		_, err := r.Command("agent.prompt", `{"text":"x"}`)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestThePromptsContextIsWhatTheEditorShows(t *testing.T) {
	r := start(t, lsptest.Options{}, map[string]string{"a.txt": "1\n2\n3\n4\n", "b.txt": "disk\n"})
	prompted := make(chan session.Prompt, 1)
	r.engine.prompt = func(p session.Prompt) {
		if p.Text == "x" {
			prompted <- p
		}
	}
	// Requests that wait take all places of the server's, so that the next one is
	// certainly handled after the change that follows it.
	waiting, release := make(chan struct{}), make(chan struct{})
	r.engine.wait = func(context.Context) (session.TurnResult, error) {
		waiting <- struct{}{}
		<-release
		return session.TurnResult{}, nil
	}
	for range 64 {
		r.GoCommand("agent.prompt", `{"text":"wait","wait":true}`)
	}
	for range 64 {
		<-waiting
	}
	uri := r.Open(r.path("a.txt"))
	r.Replace(uri, "2", "two")
	r.OpenText("untitled:scratch", "loose\n", 1)
	p := r.GoCommand("agent.prompt", `{"text":"x","context":[
		{"uri":"`+uri+`","range":{"start":{"line":1,"character":1},"end":{"line":3,"character":0}}},
		{"uri":"`+text.URI(r.path("b.txt"))+`"},
		{"uri":"`+text.URI(r.path("b.txt"))+`","range":{"start":{"line":0,"character":2},"end":{"line":0,"character":2}}},
		{"uri":"untitled:scratch"}]}`)
	r.Replace(uri, "two", "later")
	r.Barrier()
	close(release)
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	got := <-prompted
	want := []event.Context{{Path: "a.txt", First: 2, Last: 3, Text: "two\n3\n"}, {Path: "b.txt"}, {Path: "b.txt", First: 1, Last: 1, Text: "disk\n"}, {Path: "scratch (a document without a file: no tool can read or change it)", Text: "loose\n"}}
	if d := cmp.Diff(want, got.Context); d != "" {
		t.Error(d)
	}
}

func TestTheRootIsChosenByTheFile(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	write(t, filepath.Join(b, "f.txt"), "x\n")
	r := startWith(t, lsptest.Options{Folders: []string{a, b}}, a, func(*Config) {})
	prompt := func(argument string) string {
		t.Helper()
		r.engine.mu.Lock()
		r.engine.calls = nil
		r.engine.mu.Unlock()
		if _, err := r.Command("agent.prompt", argument); err != nil {
			return err.Error()
		}
		return strings.Join(r.engine.asked(), ";")
	}
	if got := prompt(`{"text":"x"}`); got != `prompt "x" in `+a {
		t.Error(got)
	}
	if got := prompt(`{"text":"x","context":[{"uri":"` + text.URI(filepath.Join(b, "f.txt")) + `"}]}`); got != `prompt "x" in `+b {
		t.Error(got)
	}
	if _, err := r.Command("agent.check", nil); err != nil {
		t.Error(err)
	}
	if got := r.engine.asked(); len(got) != 3 || got[1] != "check "+a || got[2] != "check "+b {
		t.Errorf("checked %q", got)
	}
	wb, err := r.side().Workspace(b)
	if err != nil {
		t.Fatal(err)
	}
	r.Notify("workspace/didChangeWorkspaceFolders", `{"event":{"added":[],"removed":[{"uri":"`+text.URI(b)+`","name":"b"}]}}`)
	if got := prompt(`{"text":"x","root":"` + b + `"}`); !strings.HasPrefix(got, "-32602") {
		t.Error(got)
	}
	if _, err := r.side().Workspace(b); err == nil {
		t.Error("a removed folder is still a workspace")
	}
	_ = wb
	r.Notify("workspace/didChangeWorkspaceFolders", `{"event":{"added":[{"uri":"`+text.URI(b)+`","name":"b"}],"removed":[]}}`)
	if got := prompt(`{"text":"x","root":"` + b + `"}`); got != `prompt "x" in `+b {
		t.Error(got)
	}
}

// TestAPlaceOfAnotherFolderSaysSo points at files of one name in two folders: the path
// alone would name the session's own.
func TestAPlaceOfAnotherFolderSaysSo(t *testing.T) {
	a, b := t.TempDir(), filepath.Join(t.TempDir(), "b")
	write(t, filepath.Join(a, "f.txt"), "of a\n")
	write(t, filepath.Join(b, "f.txt"), "of b\nmore\n")
	r := startWith(t, lsptest.Options{Folders: []string{a, b}}, a, func(*Config) {})
	prompted := make(chan session.Prompt, 1)
	r.engine.prompt = func(p session.Prompt) { prompted <- p }
	const other = "f.txt of the other folder b (no tool can read or change it)"
	inA, inB := text.URI(filepath.Join(a, "f.txt")), text.URI(filepath.Join(b, "f.txt"))
	for _, tt := range []struct {
		name, argument, root string
		want                 []event.Context
	}{
		{"the first place says the folder", `{"text":"x","context":[{"uri":"` + inA + `"},{"uri":"` + inB + `"}]}`, a, []event.Context{{Path: "f.txt"}, {Path: other, Text: "of b\nmore\n"}}},
		{"the argument does", `{"text":"x","root":"` + a + `","context":[{"uri":"` + inB + `","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}}}]}`, a, []event.Context{{Path: other, First: 1, Last: 1, Text: "of b\n"}}},
		{"its own", `{"text":"x","root":"` + b + `","context":[{"uri":"` + inB + `"}]}`, b, []event.Context{{Path: "f.txt"}}},
		{"the session does", `{"text":"x","session":"SESSION","context":[{"uri":"` + inB + `"}]}`, a, []event.Context{{Path: other, Text: "of b\nmore\n"}}},
	} {
		id, err := r.Command("agent.prompt", `{"text":"x","root":"`+a+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		<-prompted
		argument := strings.ReplaceAll(tt.argument, "SESSION", regexp.MustCompile(`[0-9a-f-]{36}`).FindString(string(id)))
		if _, err := r.Command("agent.prompt", argument); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := <-prompted; got.Root != tt.root || !cmp.Equal(got.Context, tt.want) {
			t.Errorf("%s: in %s %+v, want in %s %+v", tt.name, got.Root, got.Context, tt.root, tt.want)
		}
	}
}

func TestAWaitingPromptCanBeCancelled(t *testing.T) {
	r := start(t, lsptest.Options{}, nil)
	waiting := make(chan struct{}, 1)
	r.engine.wait = func(ctx context.Context) (session.TurnResult, error) {
		waiting <- struct{}{}
		<-ctx.Done()
		return session.TurnResult{}, ctx.Err()
	}
	cancelled := make(chan struct{}, 1)
	r.engine.cancel = func() bool { cancelled <- struct{}{}; return true }
	p := r.GoCommand("agent.prompt", `{"text":"x","wait":true}`)
	<-waiting
	if _, err := r.Command("agent.status", nil); err != nil { // nothing is blocked
		t.Fatal(err)
	}
	p.Cancel()
	if _, err := p.Wait(); err == nil || err.Code != -32800 {
		t.Errorf("the waiting request: %v", err)
	}
	<-cancelled
}

// TestEveryRequestIsAnsweredOnce races requests with their cancellation.
func TestEveryRequestIsAnsweredOnce(t *testing.T) {
	r := start(t, lsptest.Options{}, nil)
	r.engine.wait = func(ctx context.Context) (session.TurnResult, error) {
		return session.TurnResult{Outcome: "complete"}, ctx.Err()
	}
	var all []*lsptest.Pending
	for i := range 300 {
		p := r.GoCommand("agent.prompt", `{"text":"x","wait":true}`)
		for range i % 3 {
			p.Cancel()
		}
		all = append(all, p)
	}
	r.Notify("$/cancelRequest", `{"id":"no such"}`)
	r.Notify("$/cancelRequest", `{"id":null}`)
	for _, p := range all {
		if _, err := p.Wait(); err != nil && err.Code != -32800 {
			t.Errorf("%v", err)
		}
		if n := r.Responses(p.ID()); n != 1 {
			t.Errorf("request %s got %d responses", p.ID(), n)
		}
	}
}

func TestCodeActions(t *testing.T) {
	for _, tt := range []struct {
		name, context, rng string
		options            lsptest.Options
		want               string
	}{
		{name: "nothing there", context: `{"diagnostics":[]}`, rng: `0:0-0:0`, want: ""},
		{name: "a problem", context: `{"diagnostics":[DIAG]}`, rng: `0:0-0:0`, want: "Fix with agent/quickfix"},
		{name: "a selection", context: `{"diagnostics":[]}`, rng: `0:0-1:0`, want: "Ask agent about this/agent.ask"},
		{name: "both", context: `{"diagnostics":[DIAG]}`, rng: `0:0-1:0`, want: "Fix with agent/quickfix Ask agent about this/agent.ask"},
		{name: "only fixes", context: `{"diagnostics":[DIAG],"only":["quickfix"]}`, rng: `0:0-1:0`, want: "Fix with agent/quickfix"},
		{name: "only others", context: `{"diagnostics":[DIAG],"only":["refactor"]}`, rng: `0:0-1:0`, want: ""},
		{
			name: "as commands", context: `{"diagnostics":[DIAG]}`, rng: `0:0-1:0`, want: "Fix with agent/ Ask agent about this/",
			options: lsptest.Options{Capabilities: []byte(`{"textDocument":{"codeAction":null}}`)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, tt.options, map[string]string{"a.go": "x\ny\n"})
			uri := "file://" + r.path("a.go")
			var l, c, l2, c2 int
			if _, err := fmt.Sscanf(tt.rng, "%d:%d-%d:%d", &l, &c, &l2, &c2); err != nil {
				t.Fatal(err)
			}
			rng := fmt.Sprintf(`{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}`, l, c, l2, c2)
			diag := `{"range":` + rng + `,"message":"bad","data":{"keep":[1]}}`
			raw, err := r.Call("textDocument/codeAction", `{"textDocument":{"uri":"`+uri+`"},"range":`+rng+`,"context":`+strings.ReplaceAll(tt.context, "DIAG", diag)+`}`)
			if err != nil {
				t.Fatal(err)
			}
			var actions []struct {
				Title     string `json:"title"`
				Kind      string `json:"kind"`
				Arguments []any  `json:"arguments"`
				Command   any    `json:"command"`
			}
			if err := unmarshal(string(raw), &actions); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range actions {
				got = append(got, a.Title+"/"+a.Kind)
				// Whatever is offered must run.
				run, ok := a.Command.(map[string]any)
				if !ok {
					run = map[string]any{"command": a.Command, "arguments": a.Arguments}
				}
				if _, err := r.Call("workspace/executeCommand", marshal(run)); err != nil {
					t.Errorf("%s: %v", a.Title, err)
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%q, want %q", s, tt.want)
			}
		})
	}
}
