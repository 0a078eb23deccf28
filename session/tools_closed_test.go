package session

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/google/uuid"
)

// closedTools counts those that are open.
type closedTools struct {
	Tools
	open *atomic.Int32
}

func (c closedTools) Close() error {
	c.open.Add(-1)
	return nil
}

// TestASessionThatIsNotOpenHasNoTools ends sessions in every way, and begins them
// in vain.
func TestASessionThatIsNotOpenHasNoTools(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, r *rig, id uuid.UUID) error{
		"closed":   func(t *testing.T, r *rig, id uuid.UUID) error { return r.Close(t.Context(), id) },
		"deleted":  func(t *testing.T, r *rig, id uuid.UUID) error { return r.Delete(t.Context(), id) },
		"shutdown": func(_ *testing.T, r *rig, _ uuid.UUID) error { r.Shutdown(); return nil },
		"resumed, but it is another's": func(t *testing.T, r *rig, id uuid.UUID) error {
			r.Shutdown()
			if _, err := acquire(t.Context(), r.store, id, "process 1 on another machine", DefaultLeaseTTL); err != nil {
				return err
			}
			r.Manager = NewManager(r.cfg, r)
			if _, err := r.Resume(t.Context(), id); err == nil {
				t.Error("resumed")
			}
			return nil
		},
		"begun, but not stored": func(t *testing.T, r *rig, _ uuid.UUID) error {
			r.Shutdown()
			r.cfg.Store = func(context.Context) (store.Store, error) { return putless{r.store}, nil }
			r.answer = func(context.Context, Question) Answer { return Answer{Decision: Deny} }
			r.Manager = NewManager(r.cfg, r)
			if _, err := r.New(t.Context(), NewSession{Root: r.dir}); err == nil {
				t.Error("begun")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, nil, "version: 1\nentries: [{text: Hello.}]\n")
			r.Shutdown()
			var open atomic.Int32
			inner := r.cfg.Tools
			r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
				open.Add(1)
				x, err := inner(ws)
				return closedTools{x, &open}, err
			}
			r.Manager = NewManager(r.cfg, r)
			id, _ := r.run("go")
			if n := open.Load(); n != 1 {
				t.Fatalf("%d are open", n)
			}
			if err := end(t, r, id); err != nil {
				t.Fatal(err)
			}
			if n := open.Load(); n != 0 {
				t.Errorf("%d are open after the end", n)
			}
		})
	}
}
