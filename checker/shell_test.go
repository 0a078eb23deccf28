package checker_test

import (
	"os"
	"strconv"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

// needShell skips a test whose tools are shell scripts where there is no shell.
func needShell(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
}
