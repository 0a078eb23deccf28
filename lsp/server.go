// Package lsp is the language server: it speaks to one client over one
// connection, owns the client's open documents and workspace folders, and passes
// prompts to the session engine. It is the one package that knows the protocol;
// it has no logic of the agent, runs no program, and opens no store.
//
// Notifications are handled in the order in which they arrive, before anything
// that follows them is read; a request sees the documents as they were when it
// arrived, and then runs on its own goroutine. See initialize.go for what is
// negotiated, package editor for how an edit reaches a document, and execute_command.go
// for the commands.
package lsp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/go-json-experiment/json/jsontext"
)

// Config are the parts and settings of a server.
type Config struct {
	// Host is the agent behind the server.
	Host Host
	// Section is the name of the client's settings; "agentLsp" when empty.
	Section string
	// Version is the program's version.
	Version string
	// Versions are further parts of the program for agent.status, by name.
	Versions map[string]string
	// Sandbox returns what confines commands here, for agent.status; it may be nil
	// and may take some milliseconds.
	Sandbox func() string
	// Log is the server's own log; records of Info and above also go to the client's
	// log. Nil discards.
	Log *slog.Logger
	// Limits are the longest times that the server waits.
	Limits Limits
	// Process is the client's process id from the command line, 0 for none; one
	// in initialize is watched, too.
	Process int
}

// Limits are the longest times that the server waits. A zero member has its default.
type Limits struct {
	editor.Limits
	// Approval is how long a question may stay open before it counts as denied.
	// One hour by default.
	Approval time.Duration
	// Call is for every other request to the client. 30 s by default.
	Call time.Duration
}

func (l Limits) withDefaults() Limits {
	l.Limits = l.WithDefaults()
	if l.Approval == 0 {
		l.Approval = time.Hour
	}
	if l.Call == 0 {
		l.Call = 30 * time.Second
	}
	return l
}

// peer is the connection to the client.
type peer interface {
	Notify(ctx context.Context, method string, params any) error
	// Call returns when its context ends, and then cancels the request at the client.
	Call(ctx context.Context, method string, params, result any) error
}

// Server serves one client. Make it with New, run it with Serve, once.
type Server struct {
	config Config
	log    *slog.Logger // also to the client
	peer   peer         // set by Serve before the first message
	ctx    context.Context
	stop   context.CancelFunc

	spawning sync.Mutex     // no job begins while stop is called
	jobs     sync.WaitGroup // goroutines of the server

	client   client // set by initialize, before anything reads it
	early    early
	editor   *editor.Editor
	findings findings
	turns    turns
	shown    shown
	roots    sessionRoots

	line line // of what takes effect in the order in which it arrived

	settingsChanges atomic.Uint64 // how often the client sent settings, or that they changed
	started         chan struct{} // closed when engine and failed are set
	engine          Engine
	failed          error
}

// New returns a server that has no connection yet.
func New(c Config) *Server {
	c.Limits = c.Limits.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Section == "" {
		c.Section = "agentLsp"
	}
	s := &Server{config: c, started: make(chan struct{})}
	s.log = slog.New(&clientLog{next: c.Log.Handler(), server: s})
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.editor = editor.New(editing{s}, c.Limits.Limits, s.log)
	s.findings.editor, s.findings.client, s.findings.log, s.findings.notify = s.editor, &s.client, s.log, s.notify
	return s
}

// Log writes to Config.Log and to the client's log. It may be used before Serve.
func (s *Server) Log() *slog.Logger { return s.log }

// start creates the engine.
func (s *Server) start(options jsontext.Value) {
	folders := s.editor.Folders.Dirs()
	s.spawn("start engine", func() {
		defer close(s.started)
		s.failed = errors.New("the engine did not start")
		engine, err := s.config.Host.Start(agentSide{s}, options, folders)
		if err != nil {
			s.failed = fmt.Errorf("start the engine: %w", err)
			s.log.Error("the engine did not start", "err", err)
			return
		}
		s.engine, s.failed = engine, nil
	})
}

// agent returns the engine, waiting for its start.
func (s *Server) agent(ctx context.Context) (Engine, error) {
	select {
	case <-s.started:
		return s.engine, s.failed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// spawn runs a job on its own goroutine, which ends with the server. After the
// server's end it starts none and reports false. A panic of the job is logged.
func (s *Server) spawn(name string, job func()) bool {
	s.spawning.Lock()
	defer s.spawning.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.jobs.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("job panicked", "job", name, "panic", p, "stack", string(debug.Stack()))
			}
		}()
		job()
	})
	return true
}

// inLine runs a job when all that the client sent before it took effect, and
// before anything that it sends later does, unless the job leaves its place early.
func (s *Server) inLine(name string, job func(at *ticket)) {
	at := s.line.join()
	spawned := s.spawn(name, func() {
		defer at.leave()
		if at.reach(s.ctx) == nil {
			job(at)
		}
	})
	if !spawned {
		at.leave()
	}
}

// end stops the jobs and waits for them.
func (s *Server) end() {
	s.spawning.Lock()
	s.stop()
	s.spawning.Unlock()
	s.jobs.Wait()
}

// awaitEnd waits until a context is canceled, after the connection has ended, when
// its owner is about to do that. A question that nobody can decide any more must not
// count as refused: the turn would continue without its person instead of being
// suspended.
func (s *Server) awaitEnd(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// notify sends the client a notification. A failure is logged, except after the
// connection's end.
func (s *Server) notify(method string, params any) {
	if err := s.peer.Notify(s.ctx, method, params); err != nil && s.ctx.Err() == nil {
		s.config.Log.Warn("notification was not sent", "method", method, "err", err)
	}
}

// call sends the client a request and waits for the reply. The context must have an
// end.
func (s *Server) call(ctx context.Context, method string, params, result any) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.ctx, stop)()
	err := s.peer.Call(ctx, method, params, result)
	if s.ctx.Err() != nil {
		return editor.ErrGone
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
