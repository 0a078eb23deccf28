//go:build !unix

package checker_test

import "testing"

func makeFIFO(t *testing.T, _ string) {
	t.Helper()
	t.Skip("no FIFOs")
}

func lockFile(t *testing.T, _ string) {
	t.Helper()
	t.Skip("no flock")
}
