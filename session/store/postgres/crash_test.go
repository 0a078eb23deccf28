package postgres_test

import (
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store/postgres/postgrestest"
	"github.com/agent-lsp/agent-lsp/session/store/storetest"
)

// AGENT_LSP_TEST_SLOW=1 makes 10,000 appends instead of a few.
func TestAppendersInTwoProcesses(t *testing.T) {
	storetest.Processes(t, postgrestest.Database(t), storetest.Appends())
}

func TestManyProcessesWithASessionEach(t *testing.T) {
	storetest.Crowd(t, postgrestest.Database(t), 1600)
}

// TestKilledWhileAppending kills the appending process, and the server before it.
// AGENT_LSP_TEST_SLOW=1 does so 200 times instead of a few.
func TestKilledWhileAppending(t *testing.T) {
	kills, settings := 3, []string{"fsync=off"} // a killed server loses no page that it wrote
	if storetest.Slow() {
		kills, settings = 200, nil
	}
	cluster := postgrestest.New(t, settings...)
	storetest.Kills(t, cluster.Database(t), kills, func() error {
		if err := cluster.Kill(); err != nil {
			return err
		}
		return cluster.Start(t.Context())
	})
}
