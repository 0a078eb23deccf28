// Command agent-lsp is a language server that hosts a coding agent, and a
// headless client of itself.
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/agent-lsp/agent-lsp/tools/caches"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Serve    serveCommand    `cmd:"" default:"withargs" help:"Serve an editor over stdin and stdout (the default)."`
	Run      runCommand      `cmd:"" help:"Run one prompt without an editor."`
	Sessions sessionsCommand `cmd:"" help:"List, show, export, move and delete stored sessions."`
	Cache    cacheCommand    `cmd:"" help:"Show and clear the private caches that commands and checks write."`
	Doctor   doctorCommand   `cmd:"" help:"Print what a bug report needs: versions, settings and where they come from, tools, keys present or not."`
	Version  versionCommand  `cmd:"" help:"Print the version."`
}

// stdio are the process's streams, so that tests can give others.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// command is a subcommand: it answers the exit code and reports its own errors.
type command interface {
	Run(c *cli, std stdio) int
}

func main() {
	// A child that supervises another process, or confines itself before it
	// becomes one, is this same binary.
	proc.Main()
	caches.Main()
	os.Exit(run(os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// logTo is the log of a subcommand that runs no server.
func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// run parses a command line and performs it.
func run(args []string, std stdio) (code int) {
	var c cli
	exited := errors.New("exit")
	out := &output{w: std.out}
	std.out, std.err = out, plainWriter{std.err}
	parser, err := kong.New(&c,
		kong.Name("agent-lsp"),
		kong.Description("A language server that hosts a coding agent."),
		kong.Writers(std.out, std.err),
		kong.Exit(func(n int) { code = n; panic(exited) }),
	)
	if err != nil {
		fmt.Fprintln(std.err, "agent-lsp:", err)
		return exitError
	}
	defer func() {
		if p := recover(); p != nil && p != any(exited) {
			panic(p)
		}
		if err := out.lost(); err != nil {
			fmt.Fprintln(std.err, "agent-lsp: write to standard output:", err)
			code = exitError
		}
	}()
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(std.err, "agent-lsp: %v; see agent-lsp --help\n", err)
		return exitError
	}
	cmd, ok := ctx.Selected().Target.Addr().Interface().(command)
	if !ok {
		fmt.Fprintf(std.err, "agent-lsp: %s cannot be run\n", ctx.Command())
		return exitError
	}
	return cmd.Run(&c, std)
}

type versionCommand struct{}

// Run prints the version.
func (*versionCommand) Run(_ *cli, std stdio) int {
	fmt.Fprintln(std.out, "agent-lsp", version())
	return 0
}

// release is what scripts/package.sh calls the version that it builds.
var release string

// version is the release's, or the module's version as the go command recorded it.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
