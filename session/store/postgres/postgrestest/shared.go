package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

var shared struct {
	mu      sync.Mutex // guards below
	cluster *Cluster
	err     error
}

// Database makes an empty database for the test and returns its DSN: on the server
// of AGENT_LSP_TEST_POSTGRES, or on a cluster that the package's tests share and
// that does not flush to the disk. The package's TestMain must call [Main].
func Database(tb testing.TB) string {
	tb.Helper()
	if dsn := os.Getenv(Env); dsn != "" {
		return makeDatabase(tb, dsn)
	}
	bin, ok := findBin()
	if !ok {
		tb.Skip(skipText)
	}
	shared.mu.Lock()
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = create(context.Background(), bin, []string{"fsync=off"})
	}
	cluster, err := shared.cluster, shared.err
	shared.mu.Unlock()
	if err != nil {
		tb.Fatalf("make a PostgreSQL cluster: %v", err)
	}
	return makeDatabase(tb, cluster.DSN)
}

// Main runs a package's tests, removes the shared cluster and returns the exit
// code. Where there is no PostgreSQL it says so once, without -v, too.
func Main(m *testing.M) int {
	if _, ok := findBin(); !ok && os.Getenv(Env) == "" {
		fmt.Fprintln(os.Stderr, skipText)
	}
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster != nil {
		if err := shared.cluster.remove(); err != nil {
			fmt.Fprintln(os.Stderr, errors.Join(errors.New("remove the PostgreSQL cluster"), err))
			return max(code, 1)
		}
	}
	return code
}
