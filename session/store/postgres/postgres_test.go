package postgres_test

import (
	"context"
	"os"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/session/store/postgres/postgrestest"
	"github.com/agent-lsp/agent-lsp/session/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Child()
	os.Exit(postgrestest.Main(m))
}

func TestConformance(t *testing.T) {
	for name, params := range map[string]string{
		"prepared":           "",
		"transaction_pooler": "&default_query_exec_mode=exec",
	} {
		t.Run(name, func(t *testing.T) {
			dsn := postgrestest.Database(t) + params
			storetest.Run(t, func(ctx context.Context) (store.Store, error) { return store.Open(ctx, dsn) })
		})
	}
}
