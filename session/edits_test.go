package session

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// offered records the names of the tools that its model is offered.
type offered struct {
	model.Model
	mu    *sync.Mutex // guards names
	names *[]string
}

func (o offered) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range req.Tools {
		if _, name, ok := strings.Cut(string(d), `"name":"`); ok {
			name, _, _ = strings.Cut(name, `"`)
			*o.names = append(*o.names, name)
		}
	}
	return o.Model.Respond(ctx, req, delta)
}

// TestAModelIsOfferedTheEditToolOfItsProfile: one of edit and patch, write always;
// what it calls is run all the same.
func TestAModelIsOfferedTheEditToolOfItsProfile(t *testing.T) {
	for edits, want := range map[string]string{"": "edit write", "replace": "edit write", "patch": "write patch"} {
		t.Run("edits "+edits, func(t *testing.T) {
			r := start(t, map[string]string{"a.txt": "one\ntwo\n"}, `version: 1
entries:
  - calls: [{edit: {path: a.txt, old: one, new: ONE}}, {patch: {path: a.txt, diff: "@@\n-two\n+TWO\n"}}]
  - {text: done}
`)
			var mu sync.Mutex
			var names []string
			inner := r.cfg.Provider
			r.cfg.Provider = func(ctx context.Context, p model.Profile, env ProviderEnv) (model.Model, error) {
				m, err := inner(ctx, p, env)
				return offered{m, &mu, &names}, err
			}
			r.cfg.Settings.Profiles = map[string]model.Profile{"demo": {Provider: "script", Edits: edits}}
			r.Manager = NewManager(r.cfg, r)
			t.Cleanup(r.Shutdown)
			r.run("change both")
			mu.Lock()
			defer mu.Unlock()
			var got []string
			for _, n := range names[:len(names)/2] {
				if n == "edit" || n == "patch" || n == "write" {
					got = append(got, n)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("offered are %v, want %s", names, want)
			}
			if text := r.read("a.txt"); text != "ONE\nTWO\n" {
				t.Errorf("the file is %q", text)
			}
		})
	}
}
