package checker_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
)

// solutionOf is a solution of two projects whose tsc is a shell script.
func solutionOf(t *testing.T, tsc string) string {
	t.Helper()
	dir := project(t, "package.json", "{}", "tsconfig.json", `{"files":[],"references":[{"path":"./a"},{"path":"./b"}]}`,
		"a/tsconfig.json", "{}", "b/tsconfig.json", "{}", "a/a.ts", "", "b/b.ts", "", "node_modules/.bin/tsc", "#!/bin/sh\n"+tsc+"\n")
	if err := os.Chmod(filepath.Join(dir, "node_modules/.bin/tsc"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestEachProjectOfASolutionCounts has tsc end well and badly, with and without a
// word of what it read.
func TestEachProjectOfASolutionCounts(t *testing.T) {
	needShell(t)
	list := "echo $PWD/a/a.ts; echo $PWD/b/b.ts; "
	for script, outcome := range map[string]checker.Outcome{
		list + "exit 0": checker.Clean,
		list + "exit 2": checker.Failed,
		"exit 2":        checker.Failed,
		"exit 0":        checker.Failed,
	} {
		t.Run(script, func(t *testing.T) {
			dir := solutionOf(t, script)
			check(t, dir, start(t, checker.Config{}).Check(t.Context(), dir), want{outcome: outcome})
		})
	}
}

// TestTheTimeIsForAllCommands gives a build and what runs beside it time for one and
// a half. On a busy machine the build alone can take it all.
func TestTheTimeIsForAllCommands(t *testing.T) {
	needShell(t)
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	c := start(t, checker.Config{Timeout: time.Second, Env: []string{"PATH=" + fakeTool(t, "go", "sleep 0.7")}})
	check(t, dir, c.Check(t.Context(), dir), want{outcome: checker.Failed, says: []string{"did not finish within 1s"}})
}

// TestEveryOlderCheckIsSuperseded begins three checks of a root, one after the other.
func TestEveryOlderCheckIsSuperseded(t *testing.T) {
	needShell(t)
	root := project(t, "go.mod", goMod, "main.go", "package main\n")
	running := filepath.Join(t.TempDir(), "running")
	mkfifo(t, running)
	script := "[ -e go ] || { echo x > " + running + "; exec sleep 600; }"
	c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: {Argv: []string{"sh", "-c", script}}}})
	results := make(chan checker.Result, 2)
	for range 2 {
		go func() { results <- c.Check(context.Background(), root) }()
		await(t, running)
	}
	if first := <-results; !first.Superseded {
		t.Errorf("the first: %v %s", first.Outcome, first.Text)
	}
	write(t, root, "go", "")
	if third := c.Check(t.Context(), root); third.Outcome != checker.Clean {
		t.Errorf("the third: %v %s", third.Outcome, third.Text)
	}
	if second := <-results; !second.Superseded {
		t.Errorf("the second: %v %s", second.Outcome, second.Text)
	}
}

// TestTheWorkspaceBoundsFindings checks a root whose findings are in the workspace
// beside it, after an edit and asked for.
func TestTheWorkspaceBoundsFindings(t *testing.T) {
	needShell(t)
	ws := project(t, "sub/go.mod", goMod, "sub/main.go", "package main\n", "other.go", "package o\n")
	c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: {Argv: []string{"sh", "-c", "echo ../other.go:1:1: x; exit 1"}}}})
	check(t, ws, edit(t, c, ws, "sub/main.go"), want{outcome: checker.Found, at: []string{"other.go:1:1 error"}})
	check(t, ws, c.Check(t.Context(), filepath.Join(ws, "sub")), want{outcome: checker.Found, at: []string{"other.go:1:1 error"}})
}
