package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestOldStore runs the scripts of testdata/old on a copy of the sessions that an
// older program left, in $WORK/old, whose ids are in variables named for the state
// of their turns.
func TestOldStore(t *testing.T) {
	states := map[string]string{"greet loudly": "FINISHED", "write it down": "UNDONE", "count to a thousand": "INTERRUPTED"}
	p := lsptest.Params("testdata/old")
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		if err := setup(env); err != nil {
			return err
		}
		dir := filepath.Join(env.WorkDir, "old")
		if err := os.CopyFS(dir, os.DirFS("testdata/old/store-0990ad1")); err != nil {
			return err
		}
		st, err := store.Open(t.Context(), "sqlite:"+filepath.Join(dir, "sessions.db"))
		if err != nil {
			return err
		}
		l, err := st.List(t.Context())
		if err != nil {
			return err
		}
		for _, s := range l.Sessions {
			env.Setenv(states[*s.Title], s.ID.String())
		}
		if n := len(l.Sessions); n != len(states) || len(l.Undecodable) != 0 {
			t.Errorf("the old store lists %d sessions and %v, want %d", n, l.Undecodable, len(states))
		}
		return st.Close()
	}
	testscript.Run(t, p)
}
