package main

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/agent-lsp/agent-lsp/lsp/wire"
)

// serveCommand is agent-lsp serve, and agent-lsp without a command.
type serveCommand struct {
	Stdio           bool `help:"Use stdin and stdout, as always; editors pass it."`
	ClientProcessID int  `name:"clientProcessId" placeholder:"PID" help:"End when this process does."`
}

// Run serves one editor and answers the exit code.
func (s *serveCommand) Run(_ *cli, std stdio) int {
	in, out, err := wire.ClaimStdio()
	if err != nil {
		fmt.Fprintln(std.err, "agent-lsp:", err)
		return exitError
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return newApp(std.err, flags{}).serve(ctx, in, out, s.ClientProcessID)
}
