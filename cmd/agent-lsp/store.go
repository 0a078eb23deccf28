package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/store"
)

// openStore opens the store in the background. When it cannot be opened, sessions
// are kept in memory and say so.
func (a *app) openStore(dsn string, keep session.Retention) {
	a.storing.Do(func() {
		a.named.Store(dsn != "")
		a.jobs.Go(func() {
			err := a.open(dsn)
			close(a.stored)
			if err != nil {
				return
			}
			gone, err := session.Prune(a.ctx, a.store, keep, time.Now())
			if err != nil && a.ctx.Err() == nil {
				a.log.Warn("prune sessions", "err", err)
			}
			if len(gone) > 0 {
				a.log.Info("sessions deleted that retention does not keep", "count", len(gone))
			}
		})
	})
}

// open opens the store, or one in memory when that fails.
func (a *app) open(dsn string) (err error) {
	if dsn == "" {
		dsn, err = a.defaultStore()
	}
	if err == nil {
		a.store, err = store.Open(a.ctx, dsn)
	}
	if err == nil {
		return nil
	}
	a.unsaved = err
	a.log.Error("sessions are kept in memory only", "err", err)
	var memory error
	if a.store, memory = store.Open(context.Background(), "memory:"); memory != nil {
		panic(memory) // it opens nothing
	}
	return err
}

// place is where the configuration wants sessions; "" is the default. A scripted
// session on its script's clock is a trial that leaves nothing behind.
func (a *app) place(c *config.Config) string {
	if c.Store == "" && a.flags.virtual && c.Profiles[c.Profile].Provider == "script" {
		return "memory:"
	}
	return c.Store
}

// defaultStore is a file in the user's state directory.
func (a *app) defaultStore() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" || runtime.GOOS == "windows" {
		var err error
		if dir, err = os.UserHomeDir(); err != nil {
			return "", fmt.Errorf("find a place for sessions: %w", err)
		}
		switch runtime.GOOS {
		case "windows":
			dir = filepath.Join(dir, "AppData", "Local")
		case "darwin":
			dir = filepath.Join(dir, "Library", "Application Support")
		default:
			dir = filepath.Join(dir, ".local", "state")
		}
	}
	return "sqlite:" + filepath.Join(dir, "agent-lsp", "sessions.db"), nil
}

func (a *app) awaitStore(ctx context.Context) (store.Store, error) {
	select {
	case <-a.stored:
		if a.store == nil {
			return nil, errors.New("the server is ending")
		}
		return a.store, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
