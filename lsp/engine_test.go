package lsp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// fakeHost starts an engine and takes settings, with functions of a test where it has
// them.
type fakeHost struct {
	engine    Engine
	start     func(options jsontext.Value, folders []string) (Engine, error)
	configure func(number uint64, settings jsontext.Value)
	removed   atomic.Bool // its one rule
}

var _ Host = (*fakeHost)(nil)

func (h *fakeHost) Start(_ session.Editor, options jsontext.Value, folders []string) (Engine, error) {
	if h.start != nil {
		return h.start(options, folders)
	}
	return h.engine, nil
}

func (h *fakeHost) Configure(number uint64, settings jsontext.Value) {
	if h.configure != nil {
		h.configure(number, settings)
	}
}

func (h *fakeHost) SetFolders([]string) {}

func (h *fakeHost) SavesEdits() bool { return false }

func (h *fakeHost) AllowRules() []Rule {
	if h.removed.Load() {
		return nil
	}
	return []Rule{{"exec: [go, test]", "config.yaml:1:1"}}
}

func (h *fakeHost) RemoveRule(string) error {
	h.removed.Store(true)
	return nil
}

// fakeEngine returns its members and records its calls.
type fakeEngine struct {
	mu    sync.Mutex // guards calls
	calls []string

	id       uuid.UUID
	wait     func(ctx context.Context) (session.TurnResult, error)
	cancel   func() bool
	listing  session.Listing
	entries  []session.Entry
	checks   map[string][]checker.Result
	err      error // of every method that can fail
	status   session.Status
	profiles []session.ProfileInfo
	prompt   func(session.Prompt) // called before Prompt returns
}

var _ Engine = (*fakeEngine)(nil)

var firstID = uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")

func newFakeEngine() *fakeEngine { return &fakeEngine{id: firstID} }

func (e *fakeEngine) log(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, fmt.Sprintf(format, args...))
}

func (e *fakeEngine) asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string{}, e.calls...)
}

func (e *fakeEngine) Prompt(_ context.Context, p session.Prompt) (uuid.UUID, uint64, error) {
	e.log("prompt %q in %s", p.Text, p.Root)
	if e.prompt != nil {
		e.prompt(p)
	}
	return e.id, 1, e.err
}

func (e *fakeEngine) Wait(ctx context.Context, _ uuid.UUID, turn uint64) (session.TurnResult, error) {
	e.log("wait %d", turn)
	if e.wait != nil {
		return e.wait(ctx)
	}
	return session.TurnResult{Outcome: "complete", Text: "done it"}, e.err
}

func (e *fakeEngine) Cancel(_ context.Context, id *uuid.UUID, turn *uint64) (bool, error) {
	e.log("cancel %s %s", show(id), show(turn))
	if e.cancel != nil {
		return e.cancel(), e.err
	}
	return true, e.err
}

func show[T any](v *T) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

func (e *fakeEngine) New(_ context.Context, n session.NewSession) (uuid.UUID, error) {
	e.log("new %s %q %q", n.Root, n.Profile, n.Title)
	return e.id, e.err
}

func (e *fakeEngine) List(context.Context) (session.Listing, error) { return e.listing, e.err }

func (e *fakeEngine) Resume(_ context.Context, id uuid.UUID) (session.Resumed, error) {
	e.log("resume %s", id)
	return session.Resumed{Head: 7, State: "idle"}, e.err
}

func (e *fakeEngine) Close(_ context.Context, id uuid.UUID) error {
	e.log("close %s", id)
	return e.err
}

func (e *fakeEngine) Delete(_ context.Context, id uuid.UUID) error {
	e.log("delete %s", id)
	return e.err
}

func (e *fakeEngine) Transcript(_ context.Context, id uuid.UUID, after *uint64) ([]session.Entry, uint64, error) {
	e.log("transcript %s", show(after))
	return e.entries, uint64(len(e.entries)), e.err
}

func (e *fakeEngine) Undo(_ context.Context, r session.UndoRequest) (session.Undone, error) {
	e.log("undo %s %s %s in %s", show(r.Session), show(r.Turn), show(r.Edit), r.Root)
	return session.Undone{Session: e.id, Turn: 1, Files: []string{"a.go"}, NotCovered: []string{}}, e.err
}

func (e *fakeEngine) Steer(_ context.Context, id *uuid.UUID, root, text string) (uuid.UUID, uint64, error) {
	e.log("steer %s %q in %s", show(id), text, root)
	return e.id, 3, e.err
}

func (e *fakeEngine) Queue(_ context.Context, id *uuid.UUID, root string, c session.QueueChange) (uuid.UUID, []session.QueueEntry, error) {
	e.log("queue %s %d %s %t %t in %s", show(id), c.Entry, show(c.Text), c.Remove, c.Next, root)
	return e.id, []session.QueueEntry{{ID: 4, Text: "later"}}, e.err
}

func (e *fakeEngine) Mode(_ context.Context, r session.ModeRequest) (uuid.UUID, string, error) {
	e.log("mode %s %q in %s", show(r.Session), r.Mode, r.Root)
	return e.id, "plan", e.err
}

func (e *fakeEngine) AcceptPlan(_ context.Context, r session.AcceptRequest) (uuid.UUID, uint64, error) {
	e.log("accept %s %q %q in %s", show(r.Session), r.Mode, r.Text, r.Root)
	return e.id, 2, e.err
}

func (e *fakeEngine) Profiles() []session.ProfileInfo { return e.profiles }

func (e *fakeEngine) SelectProfile(_ context.Context, sel session.Selection) error {
	e.log("select %s %s %s", sel.Profile, sel.Model, show(sel.Session))
	return e.err
}

func (e *fakeEngine) Check(_ context.Context, root string) ([]checker.Result, error) {
	e.log("check %s", root)
	return e.checks[root], e.err
}

func (e *fakeEngine) Status() session.Status { return e.status }
