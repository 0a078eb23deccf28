package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/server"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// doctorCommand is agent-lsp doctor: what a bug report needs, without secrets.
type doctorCommand struct {
	Dir string `short:"C" default:"." placeholder:"DIR" help:"The workspace."`
}

// doctorLimit bounds each thing that doctor tries.
const doctorLimit = 20 * time.Second

// Run prints the report; the exit code is 0 whatever it finds.
func (d *doctorCommand) Run(_ *cli, std stdio) int {
	dir, err := filepath.Abs(d.Dir)
	if err != nil {
		fmt.Fprintln(std.err, "agent-lsp doctor:", err)
		return exitError
	}
	r := server.Settings(dir, logTo(std.err))

	section := func(title string) { fmt.Fprintf(std.out, "\n%s\n", plainLine(title)) }
	line := func(name string, value any) {
		fmt.Fprintf(std.out, "  %-22s %v\n", plainLine(name), plainLine(fmt.Sprint(value)))
	}

	fmt.Fprintf(std.out, "agent-lsp %s\n", version())
	line("built with", runtime.Version())
	line("system", runtime.GOOS+"/"+runtime.GOARCH)
	line("core", coreState())
	line("sandbox for commands", server.SandboxState(&r.Config))
	line("sessions", storeState(r.Config.Store))

	section("Workspace " + dir)
	for _, text := range toolchains(dir) {
		line("checked by", text)
	}
	section("Programs on the PATH")
	for _, name := range []string{"git", "go", "cargo", "tsc", "deno", "pyright"} {
		path, err := proc.Look(name, dir, os.Environ())
		if err != nil {
			path = "not found"
		}
		line(name, path)
	}
	section("Model profiles (* is used by new sessions)")
	for _, name := range slices.Sorted(maps.Keys(r.Config.Profiles)) {
		p := r.Config.Profiles[name]
		mark := " "
		if name == r.Config.Profile {
			mark = "*"
		}
		line(mark+name, strings.TrimSpace(p.Provider+" "+p.Model+" "+keyState(p.APIKeyEnv)))
	}
	section("Configuration")
	for _, s := range r.Settings() {
		line(s.Key, fmt.Sprintf("%s  (%s)", s.Value, s.Origin))
	}
	for _, warning := range r.Warnings {
		line("warning", warning)
	}
	return exitDone
}

// keyState says whether a key is there, and nothing of it.
func keyState(name string) string {
	switch {
	case name == "":
		return ""
	case os.Getenv(name) == "":
		return "(" + name + " is not set)"
	}
	return "(" + name + " is set)"
}

func coreState() string {
	ctx, cancel := context.WithTimeout(context.Background(), doctorLimit)
	defer cancel()
	c, err := core.Open(ctx)
	if err != nil {
		return err.Error()
	}
	c.Close(ctx) //nolint:errcheck // it was only tried
	return fmt.Sprintf("opens, abi %d", core.ABI)
}

// storeState opens the store and counts what is in it.
func storeState(dsn string) string {
	ctx, cancel := context.WithTimeout(context.Background(), doctorLimit)
	defer cancel()
	var err error
	if dsn == "" {
		if dsn, err = server.DefaultStore(); err != nil {
			return err.Error()
		}
	}
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			return "none yet; they will be kept in " + path
		}
	}
	st, err := store.Open(ctx, dsn)
	if err != nil {
		return err.Error()
	}
	defer st.Close() //nolint:errcheck // only read
	l, err := st.List(ctx)
	if err != nil {
		return err.Error()
	}
	where := dsn
	if store.OnServer(dsn) {
		where = "a postgres server"
	}
	return fmt.Sprintf("%d, and %d that cannot be read, in %s", len(l.Sessions), len(l.Undecodable), where)
}

// toolchains describes what would check the workspace.
func toolchains(dir string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), doctorLimit)
	defer cancel()
	c := checker.New(checker.Config{})
	defer c.Close() //nolint:errcheck // it ran nothing
	roots, err := c.Roots(ctx, dir)
	var out []string
	for _, root := range roots {
		if tc, ok := checker.Detect(root); ok {
			out = append(out, fmt.Sprintf("%s (%s): %s", tc.Ecosystem, filepath.Join(root, tc.Marker), workspace.CommandLine(tc.Check)))
		}
	}
	if err != nil {
		out = append(out, err.Error())
	}
	if len(out) == 0 {
		out = []string{"nothing: no project marker was found"}
	}
	return out
}
