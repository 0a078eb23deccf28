package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/lsp"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/store"
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
	saves   atomic.Bool // the editor saves what an edit touched
	flags   flags
	loader  config.Loader
	core    *core.Lazy
	ctx     context.Context // ends with the app
	stop    context.CancelFunc
	checks  checks
	boxes   boxes
	jobs    sync.WaitGroup
	storing sync.Once
	stored  chan struct{} // closed when store and unsaved are set
	store   store.Store
	unsaved error       // why sessions are kept in memory
	named   atomic.Bool // somebody named the store, so that it is wanted

	mu      sync.Mutex // guards what follows
	init    jsontext.Value
	client  jsontext.Value
	folders []string
	manager *session.Manager

	executors map[*executor]bool // of the sessions that are open
	watcher   *config.Watcher
	recording *recording // nil when nothing is recorded
}

// newApp makes an app in which nothing is open yet.
func newApp(stderr io.Writer, f flags) *app {
	a := &app{flags: f, stored: make(chan struct{})}
	a.loggingTo(stderr)
	a.ctx, a.stop = context.WithCancel(context.Background())
	a.core = core.NewLazy(a.ctx)
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
		Folders:    a.setFolders,
		SavesEdits: a.saves.Load,
		Section:    config.Section,
		Version:    version(),
		Versions:   map[string]string{"go": runtime.Version(), "core abi": fmt.Sprint(core.ABI)},
		Sandbox: func() string {
			c := a.settings(a.firstFolder()).Config
			return sandboxState(&c)
		},
		Log:     a.log,
		Process: client,
	})
	a.log = server.Log() // from here on the client sees what matters, too
	return server.Serve(ctx, in, out)
}

// close ends everything that the app opened.
func (a *app) close() {
	a.mu.Lock()
	m, watcher := a.manager, a.watcher
	a.mu.Unlock()
	if watcher != nil {
		watcher.Close() //nolint:errcheck // nothing is lost with a watch
	}
	if m != nil {
		m.Shutdown()
	}
	a.stop()
	a.checks.close()
	a.jobs.Wait()
	a.boxes.close()
	ctx := context.Background()
	if err := a.core.Close(ctx); err != nil {
		a.log.Warn("close the core", "err", err)
	}
	a.storing.Do(func() { close(a.stored) })
	<-a.stored
	if a.store != nil {
		if err := a.store.Close(); err != nil {
			a.log.Warn("close the session store", "err", err)
		}
	}
}

// engine makes the session engine over an editor.
func (a *app) engine(editor session.Editor) (lsp.Engine, error) {
	configured := a.settings(a.firstFolder())
	cfg := configured.Config
	settings := a.engineSettings()
	a.checks.confine = a.confineChecks
	a.checks.start(editor, a.report, a.log)
	a.openStore(a.place(&cfg), retention(&cfg))
	a.watchFiles()
	m := session.NewManager(session.Config{
		Core:     a.core.Open,
		Store:    a.awaitStore,
		Unsaved:  func() error { return a.unsaved },
		Provider: a.provider,
		Tools:    a.tools,
		Checker:  &a.checks,
		Clock:    a.clock,
		NewID:    a.newID,
		Settings: settings,
		Log:      a.log,
	}, editor)
	a.mu.Lock()
	a.manager = m
	a.mu.Unlock()
	return engine{m}, nil
}

// firstFolder is the workspace folder whose settings hold for what is not about
// one folder, "" without any.
func (a *app) firstFolder() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.folders) > 0 {
		return a.folders[0]
	}
	return ""
}

// report shows what a root came to that was checked again because its files
// changed.
func (a *app) report(folder string, r checker.Result) {
	a.mu.Lock()
	m := a.manager
	a.mu.Unlock()
	if m != nil {
		m.Report(folder, r)
	}
}

// engine is the manager with the methods that the server's commands need.
type engine struct{ *session.Manager }

var _ lsp.Engine = engine{}
