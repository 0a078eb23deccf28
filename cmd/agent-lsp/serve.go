package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/lsp"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/agent-lsp/agent-lsp/server"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/go-json-experiment/json/jsontext"
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
	return serveLSP(ctx, server.New(std.err, server.Config{}), in, out, s.ClientProcessID)
}

// serveLSP serves one client of a language server with srv, which it closes, and
// returns the exit code. Client is the process id of the client, 0 for none.
func serveLSP(ctx context.Context, srv *server.Server, in io.ReadCloser, out io.WriteCloser, client int) int {
	defer srv.Close()
	edge := lsp.New(lsp.Config{
		Host:     host{srv},
		Section:  config.Section,
		Version:  version(),
		Versions: map[string]string{"go": runtime.Version(), "core abi": fmt.Sprint(core.ABI)},
		Sandbox:  srv.Sandbox,
		Log:      srv.Log(),
		Process:  client,
	})
	srv.LogTo(edge.Log()) // from here on the client sees what matters, too
	return edge.Serve(ctx, in, out)
}

// host is a server as package lsp needs it.
type host struct{ *server.Server }

// Start implements lsp.Host.
func (h host) Start(e session.Editor, options jsontext.Value, folders []string) (lsp.Engine, error) {
	m, err := h.Server.Start(e, options, folders)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// AllowRules implements lsp.Host.
func (h host) AllowRules() []lsp.Rule {
	rules := h.Server.AllowRules()
	out := make([]lsp.Rule, len(rules))
	for i, r := range rules {
		out[i] = lsp.Rule{Rule: r.Text, Origin: r.Origin}
	}
	return out
}
