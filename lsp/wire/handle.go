package wire

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// The states of a connection. Only the reading goroutine changes them.
const (
	fresh int32 = iota
	ready       // initialize has been replied to
	down        // shutdown was requested
)

// server is one connection's chain of handling.
type server struct {
	config Config
	log    *slog.Logger
	conn   jsonrpc2.Conn
	client *Client
	root   context.Context // ends with the connection
	inline context.Context // root, marked so that calls are refused

	state   atomic.Int32
	stopped atomic.Bool // no message is served any more
	ended   chan error  // why; the first one counts
	slots   chan struct{}

	mu    sync.Mutex
	calls map[jsonrpc2.ID]context.CancelFunc // requests that have no reply yet; guarded by mu
	idle  sync.Cond                          // calls became empty; its lock is mu
}

// inlineKey marks the context of a handler that blocks the reader.
type inlineKey struct{}

// end ends the connection for a reason; nil is an orderly exit.
func (s *server) end(why error) {
	select {
	case s.ended <- why:
	default:
	}
}

// waitIdle waits until no request is being served, or for at most limit.
func (s *server) waitIdle(limit time.Duration) {
	late := false
	t := time.AfterFunc(limit, func() {
		s.mu.Lock()
		late = true
		s.mu.Unlock()
		s.idle.Broadcast()
	})
	defer t.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.calls) > 0 && !late {
		s.idle.Wait()
	}
}

// handle is called on the reading goroutine with each message that is not a response.
func (s *server) handle(rctx context.Context, r *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, recovered(s.log, strings.Clone(r.Method()), p, debug.Stack())
		}
		if !r.IsCall() {
			result, err = nil, nil // an error would end the connection
		}
	}()
	if !r.IsCall() {
		s.notification(r)
		return nil, nil
	}
	result, err = s.request(rctx, r)
	return result, wireError(r.Method(), err)
}

func (s *server) notification(r *jsonrpc2.Request) {
	method := r.Method()
	switch {
	case s.stopped.Load():
		return
	case method == protocol.MethodExit:
		s.exit()
		return
	case s.state.Load() != ready:
		return
	case method == protocol.MethodCancelRequest:
		s.cancelRequest(r.Params())
		return
	}
	h, known := s.config.Notifications[method]
	if !known {
		if !strings.HasPrefix(method, "$/") {
			s.log.Debug("unknown notification ignored", "method", strings.Clone(method))
		}
		return
	}
	if err := h(s.inline, params(r)); err != nil {
		s.log.Error("notification not handled", "method", strings.Clone(method), "err", err)
	}
}

func (s *server) exit() {
	if s.state.Load() == down {
		s.end(nil)
	} else {
		s.end(ErrExit)
	}
	s.stopped.Store(true)
}

func (s *server) request(rctx context.Context, r *jsonrpc2.Request) (any, error) {
	method := r.Method()
	switch {
	case method == protocol.MethodExit:
		s.exit()
		return nil, nil
	case s.stopped.Load() || s.state.Load() == down:
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "%s after shutdown", method)
	case method == protocol.MethodInitialize && s.state.Load() == ready:
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "initialize was called before")
	case method == protocol.MethodInitialize:
		return s.initialize(r)
	case s.state.Load() == fresh:
		return nil, jsonrpc2.Errorf(jsonrpc2.ServerNotInitialized, "%s before initialize", method)
	case method == protocol.MethodShutdown:
		s.state.Store(down)
		return nil, nil
	}
	arrive := s.config.Ordered[method]
	h, known := s.config.Requests[method]
	if arrive == nil && !known {
		return nil, methodNotFound(method)
	}
	ctx, cancel := context.WithCancel(s.root)
	defer cancel()
	id := r.ID()
	if err := s.register(id, cancel); err != nil {
		return nil, err
	}
	defer s.unregister(id)

	if arrive != nil {
		h := arrive(params(r))
		jsonrpc2.Async(rctx)
		return h(ctx, params(r))
	}
	jsonrpc2.Async(rctx) // from here on the next message may be read
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return h(ctx, params(r))
}

func (s *server) initialize(r *jsonrpc2.Request) (any, error) {
	result, err := s.config.Initialize(s.inline, bytes.Clone(params(r))) // only Async makes a request's bytes our own
	if err != nil {
		return nil, err
	}
	s.state.Store(ready)
	if pid := processID(r.Params()); pid > 0 && pid != os.Getpid() && pid != s.config.ClientPID {
		s.watch(pid)
	}
	return result, nil
}

// watch ends the connection when a process dies. A process id that does not exist
// now is one of another machine or container, since the client is running.
func (s *server) watch(pid int) {
	if err := watchProcess(s.root, pid, func() { s.end(ErrClientGone) }); err != nil {
		s.log.Warn("client process is not watched: only the end of input will stop the server", "pid", pid, "err", err)
	}
}

func (s *server) register(id jsonrpc2.ID, cancel context.CancelFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, dup := s.calls[id]; dup {
		return jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "request id %q has no answer yet", id)
	}
	if len(s.calls) >= s.config.Pending {
		return jsonrpc2.Errorf(CodeRequestFailed, "%d requests are waiting already: try again later", len(s.calls))
	}
	s.calls[id] = cancel
	return nil
}

func (s *server) unregister(id jsonrpc2.ID) {
	s.mu.Lock()
	delete(s.calls, id)
	empty := len(s.calls) == 0
	s.mu.Unlock()
	if empty {
		s.idle.Broadcast()
	}
}

// cancelRequest cancels the request that params name. An id that is
// unknown, malformed or that of a finished request is no error.
func (s *server) cancelRequest(raw jsonrpc2.RawMessage) {
	id, ok := cancelID(raw)
	if !ok {
		return
	}
	s.mu.Lock()
	cancel := s.calls[id]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// params returns the params of a request, {} if there are none.
func params(r *jsonrpc2.Request) jsontext.Value {
	if p := r.Params(); len(p) > 0 {
		return jsontext.Value(p)
	}
	return jsontext.Value("{}")
}
