package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/session/store/storetest"
)

func TestConformance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "sessions.db")
	storetest.Run(t, func(ctx context.Context) (store.Store, error) { return store.Open(ctx, "sqlite:"+path) })
}
