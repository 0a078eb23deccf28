package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/server"
	"github.com/agent-lsp/agent-lsp/tools/caches"
)

// cacheCommand is agent-lsp cache: the private caches that commands and checks write.
type cacheCommand struct {
	Show  cacheShow  `cmd:"" default:"1" help:"List the private caches, the one used last first."`
	Clear cacheClear `cmd:"" help:"Remove all of them."`
}

type (
	cacheShow  struct{}
	cacheClear struct{}
)

// Run lists the caches.
func (*cacheShow) Run(_ *cli, std stdio) int {
	return withCaches(std, func(ctx context.Context, base string) error {
		all, err := caches.List(ctx, base)
		var sum int64
		for _, e := range all {
			sum += e.Bytes
			if e.Bytes > 0 {
				fmt.Fprintf(std.out, "%s  %8s  %-14s  %s\n", e.Used.Format("2006-01-02 15:04"), rough(e.Bytes), plainLine(e.Tool), plainLine(e.Workspace))
			}
		}
		limit := server.Settings("", logTo(std.err)).Config.Sandbox.CacheSize
		fmt.Fprintf(std.out, "%s in %s; sandbox.cache_size is %s\n", rough(sum), plainLine(base), limit)
		return err
	})
}

// Run removes the caches.
func (*cacheClear) Run(_ *cli, std stdio) int {
	return withCaches(std, func(ctx context.Context, base string) error {
		gone, err := caches.Trim(ctx, base, 0)
		var sum int64
		for _, e := range gone {
			sum += e.Bytes
		}
		fmt.Fprintf(std.out, "%s removed\n", rough(sum))
		return err
	})
}

// withCaches runs one command on the directory of all private caches.
func withCaches(std stdio, do func(ctx context.Context, base string) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := do(ctx, server.CachesDir()); err != nil {
		fmt.Fprintln(std.err, "agent-lsp cache:", err)
		return exitError
	}
	return exitDone
}

// rough is a size in its largest whole unit.
func rough(bytes int64) string {
	for _, unit := range []int64{1e9, 1e6, 1e3} {
		if bytes >= 10*unit {
			return config.Size(bytes / unit * unit).String()
		}
	}
	return config.Size(bytes).String()
}
