package proc

import (
	"context"
	"os"
	"testing"
)

// anything is the policy of the tests' programs that no sandbox is about.
var anything = Unconfined("a test's own program")

// serverScript names a variable that makes the test binary play the server: it
// runs the script in it and ends.
const serverScript = "PROC_TEST_SCRIPT"

func TestMain(m *testing.M) {
	if os.Getenv("PROC_TEST_DIRECT") == "" {
		Main()
	}
	if script := os.Getenv(serverScript); script != "" {
		dir, _ := os.Getwd()
		_, err := Run(context.Background(), Spec{Policy: anything, Argv: []string{"sh", "-c", script}, Dir: dir})
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
