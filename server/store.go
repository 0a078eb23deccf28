package server

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
func (srv *Server) openStore(dsn string, keep session.Retention) {
	srv.storing.Do(func() {
		srv.named.Store(dsn != "")
		srv.jobs.Go(func() {
			err := srv.open(dsn)
			close(srv.stored)
			if err != nil {
				return
			}
			gone, err := session.Prune(srv.ctx, srv.store, keep, time.Now())
			if err != nil && srv.ctx.Err() == nil {
				srv.log.Warn("prune sessions", "err", err)
			}
			if len(gone) > 0 {
				srv.log.Info("sessions deleted that retention does not keep", "count", len(gone))
			}
		})
	})
}

// open opens the store, or one in memory when that fails.
func (srv *Server) open(dsn string) (err error) {
	if dsn == "" {
		dsn, err = DefaultStore()
	}
	if err == nil {
		srv.store, err = store.Open(srv.ctx, dsn)
	}
	if err == nil {
		return nil
	}
	srv.unsaved = err
	srv.log.Error("sessions are kept in memory only", "err", err)
	var memory error
	if srv.store, memory = store.Open(context.Background(), "memory:"); memory != nil {
		panic(memory) // it opens nothing
	}
	return err
}

// place is where the configuration wants sessions; "" is the default. A scripted
// session on its script's clock is a trial that leaves nothing behind.
func (srv *Server) place(c *config.Config) string {
	if c.Store == "" && srv.config.Virtual && c.Profiles[c.Profile].Provider == "script" {
		return "memory:"
	}
	return c.Store
}

// DefaultStore returns the name of the store for a configuration that names none: a
// file in the person's state directory.
func DefaultStore() (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	return "sqlite:" + filepath.Join(dir, "sessions.db"), nil
}

// StateDir returns the server's own directory for what it keeps between processes.
func StateDir() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" || runtime.GOOS == "windows" {
		var err error
		if dir, err = os.UserHomeDir(); err != nil {
			return "", fmt.Errorf("find the directory for what is kept: %w", err)
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
	return filepath.Join(dir, "agent-lsp"), nil
}

func (srv *Server) awaitStore(ctx context.Context) (store.Store, error) {
	select {
	case <-srv.stored:
		if srv.store == nil {
			return nil, errors.New("the server is ending")
		}
		return srv.store, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Retention is the part of a configuration that says which sessions are kept.
func Retention(c *config.Config) session.Retention {
	return session.Retention{Sessions: c.Retention.Sessions, Age: time.Duration(c.Retention.Days) * 24 * time.Hour}
}
