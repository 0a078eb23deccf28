// Package server puts the parts of the program together: the settings, the session
// store, the providers of models, the checkers, the tools and the engine that runs
// sessions on them. It knows no protocol: an edge, such as package lsp, speaks to a
// client, and the command joins the two. So every edge serves the same agent.
//
// What a part does is in that part's package; here is only what each gets of the
// configuration, and in which order they start and end.
package server

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json/jsontext"
)

// Config is what the command line sets beside the configuration.
type Config struct {
	// Virtual runs scripted sessions on their script's clock.
	Virtual bool
	// Record is the file to write the model's answers to; "" records nothing.
	Record string
	// NoOffers uses no key that merely stands in the environment, and does not ask
	// whether to: nobody is there, or whoever is there said yes to everything.
	NoOffers bool
}

// Server is the parts of one server, put together. It owns the core, the store, the
// checkers and the engine, and Close ends them. Make it with New.
type Server struct {
	log     *slog.Logger
	level   slog.LevelVar
	saves   atomic.Bool // the editor saves what an edit touched
	config  Config
	loader  config.Loader
	core    *core.Lazy
	ctx     context.Context // ends with the server
	stop    context.CancelFunc
	checks  checks
	trust   trust
	boxes   boxes
	jobs    sync.WaitGroup
	storing sync.Once
	stored  chan struct{} // closed when store and unsaved are set
	store   store.Store
	unsaved error       // why sessions are kept in memory
	named   atomic.Bool // somebody named the store, so that it is wanted

	changes chan change // of the settings, for their goroutine
	warned  []string    // the warnings of the last reload; of that goroutine alone
	taken   uint64      // the number of the client's settings; of that goroutine alone

	mu      sync.Mutex // guards what follows
	init    jsontext.Value
	client  jsontext.Value
	folders []string
	manager *session.Manager
	editor  session.Editor // asks the person

	executors map[*executor]bool // of the sessions that are open
	watcher   *config.Watcher
	recording *recording // nil when nothing is recorded
}

// New makes a server in which nothing is open yet. Its log goes to stderr until LogTo
// names another. The caller closes it.
func New(stderr io.Writer, c Config) *Server {
	srv := &Server{config: c, stored: make(chan struct{}), changes: make(chan change)}
	srv.log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: &srv.level}))
	srv.boxes.log = srv.log
	srv.ctx, srv.stop = context.WithCancel(context.Background())
	srv.core = core.NewLazy(srv.ctx)
	srv.jobs.Go(srv.runSettings)
	return srv
}

// Log returns the server's log. Its level follows the configuration.
func (srv *Server) Log() *slog.Logger { return srv.log }

// LogTo has the server log to l, which may be an edge's, so that its client sees what
// matters, too. It must be called before Start.
func (srv *Server) LogTo(l *slog.Logger) { srv.log, srv.boxes.log = l, l }

// Warm begins to open the core, for a prompt that comes at once, and does not wait.
func (srv *Server) Warm() { srv.core.Start() }

// StoreNamed reports whether somebody named the place of the sessions, so that a
// session that is not saved there is a failure.
func (srv *Server) StoreNamed() bool { return srv.named.Load() }

// Sandbox describes what confines commands here. It may take some milliseconds.
func (srv *Server) Sandbox() string {
	c := srv.settings(srv.firstFolder()).Config
	return SandboxState(&c)
}

// Close ends the engine and everything that the server opened, and waits for it. An
// edge must have ended before.
func (srv *Server) Close() {
	srv.mu.Lock()
	m, watcher := srv.manager, srv.watcher
	srv.mu.Unlock()
	if watcher != nil {
		watcher.Close() //nolint:errcheck // nothing is lost with a watch
	}
	if m != nil {
		m.Shutdown()
	}
	srv.stop()
	srv.checks.close()
	srv.jobs.Wait()
	srv.boxes.close()
	ctx := context.Background()
	if err := srv.core.Close(ctx); err != nil {
		srv.log.Warn("close the core", "err", err)
	}
	srv.storing.Do(func() { close(srv.stored) })
	<-srv.stored
	if srv.store != nil {
		if err := srv.store.Close(); err != nil {
			srv.log.Warn("close the session store", "err", err)
		}
	}
}

// engine makes the session engine over an editor.
func (srv *Server) engine(editor session.Editor) *session.Manager {
	configured := srv.settings(srv.firstFolder())
	cfg := configured.Config
	settings := srv.engineSettings()
	srv.mu.Lock()
	srv.editor = editor
	srv.mu.Unlock()
	srv.checks.confine, srv.checks.trust = srv.confineChecks, func(ctx context.Context, root string) bool {
		return srv.Trusts(ctx, root, func() {})
	}
	srv.checks.start(editor, srv.report, srv.log)
	srv.openStore(srv.place(&cfg), Retention(&cfg))
	srv.trimCaches(int64(cfg.Sandbox.CacheSize))
	srv.watchFiles()
	m := session.NewManager(session.Config{
		Core:     srv.core.Open,
		Store:    srv.awaitStore,
		Unsaved:  func() error { return srv.unsaved },
		Provider: srv.provider,
		Tools:    srv.tools,
		Checker:  &srv.checks,
		Trusts:   srv.Trusts,
		Clock:    srv.clock,
		NewID:    srv.newID,
		Settings: settings,
		Log:      srv.log,

		AllowAlways: srv.allowAlways,
	}, editor)
	srv.mu.Lock()
	srv.manager = m
	srv.mu.Unlock()
	return m
}

// firstFolder is the workspace folder whose settings hold for what is not about
// one folder, "" without any.
func (srv *Server) firstFolder() string {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if len(srv.folders) > 0 {
		return srv.folders[0]
	}
	return ""
}

// report shows what a root came to that was checked again because its files
// changed.
func (srv *Server) report(folder string, r checker.Result) {
	srv.mu.Lock()
	m := srv.manager
	srv.mu.Unlock()
	if m != nil {
		m.Report(folder, r)
	}
}
