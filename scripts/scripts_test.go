// Package scripts_test runs the scripts that judge test runs against programs that
// behave badly: a script that takes trouble for a pass is worse than none.
package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// program writes a shell script and returns its path.
func program(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a script of this directory and returns what it printed and whether it
// passed.
func run(t *testing.T, env []string, script string, args ...string) (string, bool) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts")
	}
	if _, err := os.ReadFile(script); err != nil { // so that the test's result is kept only as long as the script
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	return string(out), err == nil
}

func TestNeovimPassesOnlyWithCasesThatRan(t *testing.T) {
	for name, c := range map[string]struct {
		nvim string
		last string
		pass bool
	}{
		"all pass":             {"echo ok 1; echo finished: 2 0", "2 passed, 0 failed", true},
		"one fails":            {"echo finished: 2 1; exit 1", "1 passed, 1 failed", false},
		"no case":              {"echo finished: 0 0", "0 passed, 1 failed", false},
		"no end":               {"echo ok 1", "0 passed, 1 failed", false},
		"nothing":              {"", "0 passed, 1 failed", false},
		"trouble after all":    {"echo finished: 2 0; exit 3", "1 passed, 1 failed", false},
		"no end and a failure": {"exit 1", "0 passed, 1 failed", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out, pass := run(t, []string{"NVIM=" + program(t, dir, "nvim", c.nvim), "AGENT_TEST_BINARY=" + program(t, dir, "agent-lsp", "")}, "test-nvim.sh", "any_test.lua")
			if pass != c.pass || !strings.HasSuffix(out, "\n"+c.last+"\n") {
				t.Errorf("passed: %v, want %v and the last line %q", pass, c.pass, c.last)
			}
		})
	}
}

// TestFuzzingHidesNoPackage runs fuzz.sh with a go command of its own.
func TestFuzzingHidesNoPackage(t *testing.T) {
	for name, c := range map[string]struct {
		list, packages, fuzz string
		pass                 bool
		want                 string
	}{
		"a target":                   {"echo FuzzA; echo ok x", "echo x", "exit 0", true, "x FuzzA"},
		"none":                       {"echo ok x", "echo x", "exit 1", true, ""},
		"a target that fails":        {"echo FuzzA", "echo x", "echo Failing input; exit 1", false, "Failing input"},
		"the end of the time, twice": {"echo FuzzA", "echo x", `[ -e "$0.2" ] && exit 0; [ -e "$0.1" ] && touch "$0.2"; touch "$0.1"; echo context deadline exceeded; exit 1`, true, "x FuzzA"},
		"the end of the time, ever":  {"echo FuzzA", "echo x", "echo context deadline exceeded; exit 1", false, "deadline"},
		"a list that fails":          {"echo a.go:1: undefined; exit 1", "echo x", "exit 0", false, ""},
		"a list that fails halfway":  {"echo FuzzA; exit 1", "echo x", "exit 0", false, ""},
		"no packages":                {"exit 0", "echo x; exit 1", "exit 0", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program(t, dir, "go", `case "$*" in
list*) `+c.packages+`;;
*-list*) `+c.list+`;;
*) `+c.fuzz+`;;
esac
`)
			out, pass := run(t, []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}, "fuzz.sh", "1x")
			if pass != c.pass || !strings.Contains(out, c.want) {
				t.Errorf("passed: %v, want %v with %q", pass, c.pass, c.want)
			}
		})
	}
}
