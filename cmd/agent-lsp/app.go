package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/lsp"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/go-json-experiment/json/jsontext"
)

// flags are what the command line sets beside the configuration.
type flags struct {
	settings []config.Flag
	virtual  bool   // scripted sessions run on their script's clock
	record   string // file to write the model's answers to
}

// app puts the parts of a server together. It owns the core, the store and the
// checkers, and closes them after the server and the engine have ended.
type app struct {
	log     *slog.Logger
	level   slog.LevelVar
	flags   flags
	loader  config.Loader
	core    func(context.Context) (*core.Core, error)
	ctx     context.Context // ends with the app
	stop    context.CancelFunc
	checks  checks
	jobs    sync.WaitGroup
	storing sync.Once
	stored  chan struct{} // closed when store and unsaved are set
	store   store.Store
	unsaved error // why sessions are kept in memory

	mu      sync.Mutex // guards what follows
	init    jsontext.Value
	client  jsontext.Value
	folders []string
	manager *session.Manager

	recording *recording // nil when nothing is recorded
}

// newApp starts opening the core, in the background.
func newApp(stderr io.Writer, f flags) *app {
	a := &app{flags: f, stored: make(chan struct{})}
	a.loggingTo(stderr)
	a.ctx, a.stop = context.WithCancel(context.Background())
	a.core = core.Start(a.ctx)
	return a
}

func (a *app) loggingTo(stderr io.Writer) {
	a.log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: &a.level}))
}

// serve serves one client and answers the exit code.
func (a *app) serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, client int) int {
	defer a.close()
	server := lsp.New(lsp.Config{
		Engine:     a.engine,
		Initialize: a.initialize,
		Configure:  a.configure,
		Section:    config.Section,
		Version:    version(),
		Versions:   map[string]string{"go": runtime.Version(), "core abi": fmt.Sprint(core.ABI)},
		Log:        a.log,
		Process:    client,
	})
	a.log = server.Log() // from here on the client sees what matters, too
	return server.Serve(ctx, in, out)
}

// close ends everything that the app opened.
func (a *app) close() {
	a.mu.Lock()
	m := a.manager
	a.mu.Unlock()
	if m != nil {
		m.Shutdown()
	}
	a.stop()
	a.checks.close()
	a.jobs.Wait()
	ctx := context.Background()
	if c, err := a.core(ctx); err == nil {
		if err := c.Close(ctx); err != nil {
			a.log.Warn("close the core", "err", err)
		}
	}
	a.storing.Do(func() { close(a.stored) })
	<-a.stored
	if a.store != nil {
		if err := a.store.Close(); err != nil {
			a.log.Warn("close the session store", "err", err)
		}
	}
}

// initialize takes what the client said of itself.
func (a *app) initialize(init lsp.Initialization) []string {
	a.mu.Lock()
	a.init, a.folders = init.Options, init.Folders
	a.mu.Unlock()
	return a.reload()
}

// configure takes the client's settings.
func (a *app) configure(settings jsontext.Value) []string {
	a.mu.Lock()
	a.client = settings
	a.mu.Unlock()
	return a.reload()
}

// settings reads the configuration for one workspace folder, or without one.
func (a *app) settings(root string) config.Result {
	a.mu.Lock()
	src := config.Sources{
		Workspace: root, Client: a.client, Init: a.init, Env: os.Environ(), Flags: a.flags.settings,
	}
	a.mu.Unlock()
	var err error
	if src.UserFile, err = config.UserFilePath(); err != nil {
		a.log.Warn("no user configuration", "err", err)
	}
	return a.loader.Load(src)
}

// reload hands the configuration to the parts that run and answers its warnings.
func (a *app) reload() []string {
	a.mu.Lock()
	folders, manager := a.folders, a.manager
	a.mu.Unlock()
	if len(folders) == 0 {
		folders = []string{""}
	}
	var warnings []string
	seen := map[string]bool{}
	for _, root := range folders {
		r := a.settings(root)
		for _, w := range r.Warnings {
			if text := w.String(); !seen[text] {
				seen[text] = true
				warnings = append(warnings, text)
			}
		}
		a.checks.configure(root, &r.Config)
	}
	first := a.settings(folders[0])
	var level slog.Level
	if err := level.UnmarshalText([]byte(first.Config.Log.Level)); err == nil {
		a.level.Set(level)
	}
	if manager != nil {
		manager.Configure(a.sessionSettings(&first.Config))
	}
	return warnings
}

// sessionSettings are the engine's part of a configuration.
func (a *app) sessionSettings(c *config.Config) session.Settings {
	s := session.Settings{
		Profile: c.Profile, Profiles: c.Profiles, Prelude: c.Prelude, MaxRounds: c.Turn.MaxRounds, Subject: "operator",
	}
	if u, err := user.Current(); err == nil {
		s.Subject = u.Username
	}
	return s
}

// engine makes the session engine over an editor.
func (a *app) engine(editor session.Editor) (lsp.Engine, error) {
	a.mu.Lock()
	root := ""
	if len(a.folders) > 0 {
		root = a.folders[0]
	}
	a.mu.Unlock()
	cfg := a.settings(root).Config
	a.checks.start(editor, a.recheck, a.log)
	a.openStore(cfg.Store, retention(&cfg))
	m := session.NewManager(session.Config{
		Core:     a.core,
		Store:    a.awaitStore,
		Unsaved:  func() error { return a.unsaved },
		Provider: a.provider,
		Tools: func(ws tools.Workspace) (session.Tools, error) {
			c := a.settings(ws.Dir()).Config
			return newTools(ws, &c)
		},
		Checker:  &a.checks,
		Clock:    a.clock,
		NewID:    a.newID,
		Settings: a.sessionSettings(&cfg),
		Log:      a.log,
	}, editor)
	a.mu.Lock()
	a.manager = m
	a.mu.Unlock()
	return engine{m}, nil
}

// recheck checks a root again because files of it changed.
func (a *app) recheck(ctx context.Context, folder, root string) {
	a.mu.Lock()
	m := a.manager
	a.mu.Unlock()
	if m != nil {
		m.Recheck(ctx, folder, root)
	}
}

// engine is the manager with the methods that the server's commands need.
type engine struct{ *session.Manager }

// openStore opens the store in the background. When it cannot be opened, sessions
// are kept in memory and say so.
func (a *app) openStore(dsn string, keep session.Retention) {
	a.storing.Do(func() {
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

// defaultStore is a file in the user's state directory. A scripted session on its
// script's clock is a trial that leaves nothing behind.
func (a *app) defaultStore() (string, error) {
	if a.flags.virtual {
		return "memory:", nil
	}
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

var _ lsp.Engine = engine{}
