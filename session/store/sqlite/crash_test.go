package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Child()
	os.Exit(m.Run())
}

// AGENT_LSP_TEST_SLOW=1 makes 10,000 appends instead of a few.
func TestAppendersInTwoProcesses(t *testing.T) {
	storetest.Processes(t, filepath.Join(t.TempDir(), "sessions.db"), storetest.Appends())
}

func TestManyProcessesWithASessionEach(t *testing.T) {
	storetest.Crowd(t, filepath.Join(t.TempDir(), "sessions.db"), 1600)
}

// TestKilledWhileAppending kills the appending process. AGENT_LSP_TEST_SLOW=1 does so
// 200 times instead of a few.
func TestKilledWhileAppending(t *testing.T) {
	kills := 10
	if storetest.Slow() {
		kills = 200
	}
	storetest.Kills(t, filepath.Join(t.TempDir(), "sessions.db"), kills, nil)
}
