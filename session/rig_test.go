package session

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/script"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/google/uuid"
)

// testCore is compiled once for the whole package.
var testCore = sync.OnceValues(func() (*core.Core, error) { return core.Open(context.Background()) })

// rig is a manager over a directory, a script and a store, with an editor that
// has no documents.
type rig struct {
	*Manager
	t      *testing.T
	dir    string
	store  store.Store
	disk   *tools.Disk
	cfg    Config
	script string

	answer func(context.Context, Question) Answer // nil allows once
	reply  func(context.Context, Inquiry) Reply

	mu       sync.Mutex // guards what follows
	events   []event.Payload
	findings []checker.Result
	asked    []Question
	meters   []Meter
	waiting  map[event.Kind][]chan struct{}
}

// start makes a rig over dir; a zero store is one in memory. Everything ends with
// the test.
func start(t *testing.T, files map[string]string, answers string) *rig {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	st, err := store.Open(t.Context(), "memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return over(t, dir, st, answers)
}

// over makes a rig over what is there.
func over(t *testing.T, dir string, st store.Store, answers string) *rig {
	t.Helper()
	parsed, err := script.Parse("test.yaml", []byte(answers))
	if err != nil {
		t.Fatal(err)
	}
	disk, err := tools.NewDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir, store: st, disk: disk, waiting: map[event.Kind][]chan struct{}{}}
	check := checker.New(checker.Config{Trusted: true, Policy: proc.Unconfined("a test's own command")})
	r.cfg = Config{
		Core:  func(context.Context) (*core.Core, error) { return testCore() },
		Store: func(context.Context) (store.Store, error) { return st, nil },
		Provider: func(_ context.Context, _ model.Profile, env ProviderEnv) (model.Model, error) {
			return script.New(parsed, env.Clock), nil
		},
		Tools: func(ws tools.Workspace) (Tools, error) {
			return tools.New(tools.Config{Workspace: ws, Policy: tools.Policy{Mode: tools.ModeAsk}})
		},
		Checker: oneChecker{check},
		Clock:   func(model.Profile) (clock.Clock, error) { return clock.NewVirtual(script.Epoch), nil },
		NewID: func(_ model.Profile, n int) (uuid.UUID, error) {
			return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "session %d", n)), nil
		},
		Settings: Settings{Profile: "demo", Profiles: map[string]model.Profile{"demo": {Provider: "script"}}, Subject: "tester"},
		Log:      slog.New(slog.NewTextHandler(t.Output(), nil)),
		agreed: func(err error) {
			if err != nil {
				t.Errorf("the folded history and the core disagree: %v", err)
			}
		},
	}
	r.Manager = NewManager(r.cfg, r)
	t.Cleanup(func() {
		r.Shutdown()
		check.Close()
		disk.Close()
	})
	return r
}

// providers gives each profile a script of the entries named, one a session.
func providers(t *testing.T, scripts map[string]string) func(context.Context, model.Profile, ProviderEnv) (model.Model, error) {
	t.Helper()
	parsed := map[string]*script.Script{}
	for name, entries := range scripts {
		var err error
		if parsed[name], err = script.Parse(name+".yaml", []byte("version: 1\nentries: ["+entries+"]\n")); err != nil {
			t.Fatal(err)
		}
	}
	return func(_ context.Context, p model.Profile, env ProviderEnv) (model.Model, error) {
		return script.New(parsed[p.Name], env.Clock), nil
	}
}

// The rig is the editor.

func (r *rig) Workspace(string) (tools.Workspace, error) { return r.disk, nil }
func (r *rig) State(string) string                       { return "" }
func (r *rig) Unsaved(string) map[string]string          { return nil }
func (r *rig) Usage(m Meter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.meters = append(r.meters, m)
}
func (r *rig) Delta(uuid.UUID, uint64, string) {}

func (r *rig) Approve(ctx context.Context, q Question) Answer {
	r.mu.Lock()
	r.asked = append(r.asked, q)
	r.mu.Unlock()
	if r.answer != nil {
		return r.answer(ctx, q)
	}
	return Answer{Decision: AllowOnce}
}

func (r *rig) Ask(ctx context.Context, q Inquiry) Reply {
	if r.reply != nil {
		return r.reply(ctx, q)
	}
	return Reply{Dismissed: true}
}

func (r *rig) Event(_ uuid.UUID, _ string, _ store.Event, p event.Payload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, p)
	for _, c := range r.waiting[p.Kind()] {
		close(c)
	}
	delete(r.waiting, p.Kind())
}

func (r *rig) Findings(_ string, res checker.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings = append(r.findings, res)
}

// next is closed by the next event of a kind.
func (r *rig) next(k event.Kind) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := make(chan struct{})
	r.waiting[k] = append(r.waiting[k], c)
	return c
}

// await fails the test when c stays open.
func (r *rig) await(c <-chan struct{}, what string) {
	r.t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		r.t.Fatalf("waited in vain for %s; the transcript:\n%s", what, r.kinds())
	}
}

// run prompts and waits for the turn's end.
func (r *rig) run(text string) (uuid.UUID, TurnResult) {
	r.t.Helper()
	id, turn, err := r.Prompt(r.t.Context(), Prompt{Root: r.dir, Text: text})
	if err != nil {
		r.t.Fatal(err)
	}
	return id, r.result(id, turn)
}

func (r *rig) result(id uuid.UUID, turn uint64) TurnResult {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 60*time.Second)
	defer cancel()
	res, err := r.Wait(ctx, id, turn)
	if err != nil {
		r.t.Fatalf("wait for turn %d: %v; the transcript:\n%s", turn, err, r.kinds())
	}
	return res
}

// kinds shows the transcript in short.
func (r *rig) kinds() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, p := range r.events {
		b.WriteString(brief(p) + "\n")
	}
	return b.String()
}

// brief is an event in a few words.
func brief(p event.Payload) string {
	switch e := p.(type) {
	case *event.User:
		return "user " + e.Text
	case *event.Queued:
		return "queued " + e.Text
	case *event.Steer:
		return "steer " + e.Text
	case *event.Ask:
		return fmt.Sprintf("ask %d.%d", e.ID, e.Attempt)
	case *event.Message:
		text := "-"
		if e.Text != nil {
			text = *e.Text
		}
		return fmt.Sprintf("message %s, %d calls", text, len(e.Calls))
	case *event.Call:
		return fmt.Sprintf("call %d %s", e.ID, e.Name)
	case *event.Approval:
		return "approval " + e.State + " " + e.Decision
	case *event.Result:
		first, _, _ := strings.Cut(e.Text, "\n")
		return fmt.Sprintf("result %d %s: %s", e.ID, e.State, first)
	case *event.Check:
		return "check " + e.Outcome
	case *event.Emit:
		return "emit " + e.Text
	case *event.Done:
		return "done " + e.Outcome
	case *event.Error:
		return "error " + e.Source + ": " + e.Message
	case *event.Note:
		return "note " + e.Text
	}
	return string(p.Kind())
}

// read returns a file of the workspace.
func (r *rig) read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// oneChecker has the one checker for every workspace.
type oneChecker struct{ *checker.Checker }

func (oneChecker) Hold(string, []string) bool { return true }

func (c oneChecker) Check(ctx context.Context, _, root string) checker.Result {
	return c.Checker.Check(ctx, root)
}
