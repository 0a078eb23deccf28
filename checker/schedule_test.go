package checker_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
)

// gate is a check command that tells that it runs by opening one FIFO and waits
// for the other before it ends.
func gate(t *testing.T) (cmd checker.Command, running, release string) {
	t.Helper()
	needShell(t)
	dir := t.TempDir()
	running, release = filepath.Join(dir, "running"), filepath.Join(dir, "release")
	mkfifo(t, running)
	mkfifo(t, release)
	return checker.Command{Argv: []string{"/bin/sh", "-c", "echo x > " + running + "; cat " + release}}, running, release
}

// await reads a FIFO to its end: the other side was reached.
func await(t *testing.T, fifo string) {
	t.Helper()
	if _, err := os.ReadFile(fifo); err != nil {
		t.Fatal(err)
	}
}

func TestANewerCheckOfTheRootTakesTheRunningOnesPlace(t *testing.T) {
	cmd, running, release := gate(t)
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: cmd}})
	first, second := make(chan checker.Result, 1), make(chan checker.Result, 1)
	go func() { first <- c.AfterEdit(context.Background(), dir, []string{"a.go"})[0] }()
	await(t, running)
	go func() { second <- c.AfterEdit(context.Background(), dir, []string{"a.go"})[0] }()
	old := <-first
	check(t, dir, old, want{outcome: checker.Failed, says: []string{"a newer check of the same root"}})
	if !old.Superseded {
		t.Error("the older check is not marked as superseded")
	}
	await(t, running)
	if err := os.WriteFile(release, []byte("a.go:1:1: late\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := <-second
	check(t, dir, got, want{outcome: checker.Found, at: []string{"a.go:1:1 error"}})
	if got.Superseded {
		t.Error("the newer check is marked as superseded")
	}
}

func TestManyChecksOfARootRunOneByOneAndLeaveOneAnswer(t *testing.T) {
	needShell(t)
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	lock := filepath.Join(t.TempDir(), "lock")
	// Whoever cannot make the directory is not alone; one that is told to end takes
	// its time.
	script := "trap 'sleep 0.05; rmdir " + lock + "; exit 1' TERM; mkdir " + lock + " || { echo a.go:9:9: not alone; exit 1; }; " +
		"echo a.go:1:1: bad; sleep 0.02; rmdir " + lock
	c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: {Argv: []string{"/bin/sh", "-c", script}}}})
	results := make([]checker.Result, 16)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i] = c.Check(context.Background(), dir) })
	}
	group.Wait()
	found := 0
	for _, r := range results {
		switch {
		case r.Outcome == checker.Found:
			found++
			if r.Findings[0].Range.Start.Line == 9 {
				t.Error("two checks ran at once")
			}
		case !r.Superseded:
			t.Errorf("%+v", r)
		}
	}
	if found == 0 {
		t.Error("no check answered")
	}
}

func TestCloseEndsTheRunningCheck(t *testing.T) {
	cmd, running, _ := gate(t)
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	c := checker.New(checker.Config{Trusted: true, Policy: anything, Commands: map[string]checker.Command{checker.Go: cmd}})
	result := make(chan checker.Result, 1)
	go func() { result <- c.Check(context.Background(), dir) }()
	await(t, running)
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	check(t, dir, <-result, want{outcome: checker.Failed, says: []string{"the checker is closed"}})
	check(t, dir, c.Check(t.Context(), dir), want{outcome: checker.Failed, says: []string{"the checker is closed"}})
}

func TestACancelledCallerIsToldSo(t *testing.T) {
	cmd, running, _ := gate(t)
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	c := start(t, checker.Config{Commands: map[string]checker.Command{checker.Go: cmd}})
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan checker.Result, 1)
	go func() { result <- c.Check(ctx, dir) }()
	await(t, running)
	cancel()
	got := <-result
	check(t, dir, got, want{outcome: checker.Failed, says: []string{"was cancelled"}})
	if got.Superseded {
		t.Error("a cancelled check is marked as superseded")
	}
}

func TestNewAndOldFindingsAreToldApart(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a.go", "package m\n\nvar A = missing\n", "b.go", "package m\n")
	c := start(t, checker.Config{})
	if got := c.Check(t.Context(), dir); got.New != -1 || strings.Contains(got.Text, "Since the previous") {
		t.Errorf("the first check compares itself with something: %d\n%s", got.New, got.Text)
	}
	// The old finding moves to another line and stays the same one.
	write(t, dir, "a.go", "package m\n\n// moved\n\nvar A = missing\n", "b.go", "package m\n\nvar B = missing\n")
	got := edit(t, c, dir, "b.go")
	check(t, dir, got, want{
		outcome: checker.Found,
		at:      []string{"a.go:5:9 error", "b.go:3:9 error"},
		says:    []string{"1 is new; 1 was there before", "New:\n./b.go:3:9: undefined: missing\nThere before:\n./a.go:5:9: undefined: missing"},
	})
	if got.New != 1 {
		t.Errorf("%d new", got.New)
	}
	got = edit(t, c, dir, "b.go")
	check(t, dir, got, want{outcome: checker.Found, at: []string{"a.go:5:9 error", "b.go:3:9 error"}, says: []string{"0 are new; 2 were there before"}})
	t.Run("a check that failed is no basis", func(t *testing.T) {
		write(t, dir, "go.mod", "nonsense")
		check(t, dir, edit(t, c, dir, "go.mod"), want{outcome: checker.Failed})
		write(t, dir, "go.mod", goMod)
		check(t, dir, edit(t, c, dir, "go.mod"), want{outcome: checker.Found, at: []string{"a.go:5:9 error", "b.go:3:9 error"}, says: []string{"0 are new; 2 were there before"}})
	})
}

func TestTestsAreCheckedWhenTheyWereEdited(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a.go", "package m\n\nfunc F(n int) {}\n",
		"a_test.go", "package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { F(\"é\") }\n")
	c := start(t, checker.Config{})
	broken := want{outcome: checker.Found, at: []string{"a_test.go:5:30 error"}, says: []string{"go vet"}}
	check(t, dir, edit(t, c, dir, "a_test.go"), broken)
	t.Run("and looked at again until they are well", func(t *testing.T) {
		check(t, dir, c.Check(t.Context(), dir), broken)
		write(t, dir, "a_test.go", "package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { t.Logf(\"é %d\", \"x\") }\n")
		check(t, dir, c.Check(t.Context(), dir), want{outcome: checker.Found, at: []string{"a_test.go:5:39 warning"}, says: []string{"./a_test.go:5:39: (*testing.common).Logf", "(printf)"}})
		write(t, dir, "a_test.go", "package m\n")
		check(t, dir, c.Check(t.Context(), dir), want{outcome: checker.Clean})
		got := c.Check(t.Context(), dir)
		if strings.Join(got.Command, " ") != "go build -o "+os.DevNull+" ./..." {
			t.Errorf("command %v", got.Command)
		}
	})
}

func TestSymlinkedWorkspaceKeepsTheCallersSpelling(t *testing.T) {
	real := project(t, "go.mod", goMod, "m.go", "package m\nx\n", "Cargo.toml", "")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	needShell(t)
	printed := checker.Command{Argv: []string{"/bin/sh", "-c", "echo " + real + "/m.go:2:1: real; echo " + link + "/m.go:2:2: link; echo /elsewhere/m.go:2:3: outside; exit 1"}}
	cases := []struct {
		name string
		cfg  checker.Config
		at   []string
	}{
		{"go", checker.Config{}, []string{"m.go:2:1 error"}},
		{"printed both ways", checker.Config{Commands: map[string]checker.Command{checker.Go: printed}}, []string{"m.go:2:1 error", "m.go:2:2 error"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := start(t, tc.cfg)
			for _, edited := range []string{filepath.Join(link, "m.go"), filepath.Join(real, "m.go")} {
				got := edit(t, c, link, edited)
				check(t, link, got, want{outcome: checker.Found, at: tc.at})
				if got.Root != link {
					t.Errorf("root is %s", got.Root)
				}
			}
			if tc.name != "go" && !strings.Contains(edit(t, c, link, "m.go").Text, "/elsewhere/m.go:2:3: outside") {
				t.Error("the text lacks what lies outside the workspace")
			}
		})
	}
}

func TestEditsOutsideTheWorkspaceAreLeftOut(t *testing.T) {
	dir := project(t, "ws/go.mod", goMod, "other/go.mod", goMod)
	if got := start(t, checker.Config{}).AfterEdit(t.Context(), filepath.Join(dir, "ws"), []string{"../other/a.go", filepath.Join(dir, "ws2/a.go")}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no FIFOs")
	}
	makeFIFO(t, path)
}

func TestATestEditedInASupersededCheckIsStillLookedAt(t *testing.T) {
	needShell(t)
	dir := project(t, "go.mod", goMod, "a.go", "package m\n", "a_test.go", "package m\n\nvar X = missing\n")
	fifos := t.TempDir()
	running := filepath.Join(fifos, "running")
	mkfifo(t, running)
	// The first go command hangs, the others are real.
	script := "if mkdir " + fifos + "/first 2>/dev/null; then echo x > " + running + "; sleep 600; fi; PATH=$REALPATH exec go \"$@\""
	env := append(os.Environ(), "REALPATH="+os.Getenv("PATH"), "PATH="+fakeTool(t, "go", script))
	c := start(t, checker.Config{Env: env, Keep: []string{"REALPATH"}})
	first := make(chan checker.Result, 1)
	go func() { first <- c.AfterEdit(context.Background(), dir, []string{"a_test.go"})[0] }()
	await(t, running)
	got := edit(t, c, dir, "a.go")
	check(t, dir, got, want{outcome: checker.Found, at: []string{"a_test.go:3:9 error"}})
	if !(<-first).Superseded {
		t.Error("the first check was not superseded")
	}
}

// TestACheckThatPreparesIsSupersededToo has the first cargo hang when it is asked
// where its workspace is, before it is to check anything.
func TestACheckThatPreparesIsSupersededToo(t *testing.T) {
	needShell(t)
	dir := project(t, "Cargo.toml", cargoManifest("m"), "src/lib.rs", "")
	fifos := t.TempDir()
	running := filepath.Join(fifos, "running")
	mkfifo(t, running)
	script := "if mkdir " + fifos + "/first 2>/dev/null; then echo x > " + running + "; sleep 600; fi; exit 3"
	c := start(t, checker.Config{Env: []string{"PATH=" + fakeTool(t, "cargo", script)}})
	first := make(chan checker.Result, 1)
	go func() { first <- c.AfterEdit(context.Background(), dir, []string{"src/lib.rs"})[0] }()
	await(t, running)
	check(t, dir, edit(t, c, dir, "src/lib.rs"), want{outcome: checker.Failed, says: []string{"exited with 3"}})
	old := <-first
	check(t, dir, old, want{outcome: checker.Failed, says: []string{"a newer check of the same root"}})
	if !old.Superseded {
		t.Error("the older check is not marked as superseded")
	}
}

func TestSpecialFilesNamedLikeOnesThatAreReadDoNotHang(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a.go", "package m\n")
	mkfifo(t, filepath.Join(dir, "go.work"))
	mkfifo(t, filepath.Join(dir, "Cargo.toml"))
	mkfifo(t, filepath.Join(dir, "tsconfig.json"))
	tool := fakeTool(t, "go", "echo "+dir+"/go.work:1:1: bad; exit 1")
	got := edit(t, start(t, checker.Config{Env: []string{"PATH=" + tool}}), dir, "a.go")
	if got.Ecosystem != checker.Go || got.Outcome == checker.Clean {
		t.Errorf("%+v", got)
	}
	if _, ok := checker.Detect(filepath.Join(dir, "a.go")); ok {
		t.Error("a file is taken for a root")
	}
}
