package proc

import (
	"context"
	"os"
	"testing"
)

// serverScript names a variable that makes the test binary play the server: it
// runs the script in it and ends.
const serverScript = "PROC_TEST_SCRIPT"

func TestMain(m *testing.M) {
	if os.Getenv("PROC_TEST_DIRECT") == "" {
		Main()
	}
	if script := os.Getenv(serverScript); script != "" {
		dir, _ := os.Getwd()
		_, err := Run(context.Background(), Spec{Argv: []string{"sh", "-c", script}, Dir: dir})
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
