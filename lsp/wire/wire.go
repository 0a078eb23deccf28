// Package wire is the JSON-RPC layer of the language server: framing,
// order, cancellation, life cycle and the end of the process. It uses the types and
// the codec of go.lsp.dev and replaces that library's own handler chain, which
// keeps no order and ends the connection on an unknown notification. It knows no
// agent and no document.
//
// # Order
//
// There are three kinds of message.
//
//   - A notification runs to its end on the reading goroutine, in wire order, so
//     its handler must be quick. So do initialize and shutdown. None of these may
//     call the client and wait: the reply could not be read. Call refuses it.
//   - Any other request becomes cancellable on the reading goroutine and then runs
//     beside the reading, where it may call the client. One of Config.Ordered does
//     its first part on the reading goroutine, too: there it reads the state after
//     the notifications before it, and its place among the other requests.
//   - A job that outlives its request (a turn, a check) is a goroutine of the
//     server under Client.Context, never under the request's context.
//
// # Contexts
//
// A request's context ends with $/cancelRequest, with its handler, and with the
// connection. A notification's context is the connection's.
//
// # Errors
//
// A handler's error reaches the client with the code of the *jsonrpc2.Error that
// it wraps, with -32800 when it is context.Canceled, and with -32803 otherwise.
// What a notification's handler returns is logged. A panic is logged with its
// stack, is replied to with -32603, and the connection goes on.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Handler handles a request and returns its result. Params are never empty: a request
// without any, or with null, gets {}. They belong to the handler. The result is
// encoded with protocol.Marshal; a jsontext.Value or jsonrpc2.RawMessage goes out as
// it is.
type Handler func(ctx context.Context, params jsontext.Value) (any, error)

// Arrival is called on the reading goroutine when a request arrives, in wire
// order, so it must be quick and may not call the client. It returns the
// handler, which is then called once, on another goroutine, whatever happens. Its
// params are those of Handler, but only valid until it returns.
type Arrival func(params jsontext.Value) Handler

// Notified handles a notification, inline. Params are {} where there were none,
// and are only valid until it returns: Decode copies what it keeps.
type Notified func(ctx context.Context, params jsontext.Value) error

// Config are the handlers and limits of a connection. Initialize is required.
type Config struct {
	// Initialize handles initialize, on the reading goroutine. After an error the
	// client may try again. Shutdown, exit and $/cancelRequest are the connection's
	// own.
	Initialize Handler
	// Requests and Notifications are all other methods that are served, by name. A
	// request of another one is refused, a notification is ignored.
	Requests      map[string]Handler
	Notifications map[string]Notified
	// Ordered are further requests, for which the order of arrival matters.
	// Concurrent does not limit them: one that waits for another must not block it.
	Ordered map[string]Arrival
	// Connect is called once before the first message is read.
	Connect func(*Client)

	// Log gets the errors of the connection; nil discards them. It must not write to
	// the protocol's own output.
	Log *slog.Logger
	// ClientPID is a process whose death ends the server, beside the one that
	// initialize names. Zero is none.
	ClientPID int

	// The limits; each has a default.
	MaxFrame     int           // bytes of one message, 128 MiB: a bigger one is discarded, with an error as its reply
	Concurrent   int           // requests that run at a time, 64; more wait their turn and can be cancelled
	Pending      int           // requests that run or wait, 4096; more have -32803 as their reply
	CallTimeout  time.Duration // of a call to the client under a context without a deadline, 10 s
	WriteTimeout time.Duration // without any progress in writing, 60 s: then the connection ends
	Drain        time.Duration // for running requests after the end of input, 200 ms
	Grace        time.Duration // for running requests after they were cancelled, and for the last messages, 300 ms
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&c.CallTimeout, 10*time.Second)
	set(&c.WriteTimeout, time.Minute)
	set(&c.Drain, 200*time.Millisecond)
	set(&c.Grace, 300*time.Millisecond)
	if c.MaxFrame <= 0 {
		c.MaxFrame = 128 << 20
	}
	if c.Concurrent <= 0 {
		c.Concurrent = 64
	}
	if c.Pending <= 0 {
		c.Pending = 4096
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Why a connection ended, other than by an exit after a shutdown. Match with errors.Is.
var (
	// ErrExit is an exit notification with no shutdown before it.
	ErrExit = errors.New("exit without shutdown")
	// ErrClientGone says that the client's process is dead.
	ErrClientGone = errors.New("the client's process is gone")
	// ErrHeader is a frame header that cannot be read; the messages after
	// it cannot be found any more.
	ErrHeader = errors.New("broken frame header")
)

// errEnded cancels the connection's context.
var errEnded = errors.New("the connection has ended")

// Serve serves one client until it exits, closes its end or dies, until writing to it
// fails, or until ctx ends. It closes both in and out. The code is the exit code
// of the process: 0 after a shutdown, else 1; why is nil only for an exit after a
// shutdown.
//
// When Serve returns no message is read any more, the client's context is
// cancelled, and every handler had Drain and Grace to return; the server ends the jobs
// that it started itself.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, config Config) (code int, why error) {
	config = config.withDefaults()
	root, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(errEnded)
	s := &server{
		config: config,
		log:    config.Log,
		ended:  make(chan error, 1),
		calls:  map[jsonrpc2.ID]context.CancelFunc{},
		slots:  make(chan struct{}, config.Concurrent),
		root:   root,
		inline: context.WithValue(root, inlineKey{}, true),
	}
	s.idle.L = &s.mu
	stream := newStream(in, out, config.MaxFrame, config.WriteTimeout, config.Log, s.end)
	s.conn = jsonrpc2.NewConn(stream, jsonrpc2.WithCodec(codec{}))
	s.client = newClient(root, s.conn, config.CallTimeout)
	if config.Connect != nil {
		config.Connect(s.client)
	}
	if config.ClientPID > 0 {
		s.watch(config.ClientPID)
	}
	// The connection's own context must outlive ours: when it ends, the library
	// stops reading and refuses to send the last replies.
	s.conn.Go(context.Background(), s.handle)

	select {
	case why = <-s.ended:
	case <-ctx.Done():
		why = context.Cause(ctx)
	}
	if errors.Is(why, io.EOF) {
		s.waitIdle(config.Drain)
	}
	s.stopped.Store(true)
	cancel(errEnded)
	s.waitIdle(config.Grace)
	stream.shut(config.Grace)
	select {
	case <-s.conn.Done():
	case <-time.After(100 * time.Millisecond): // a handler that does not return, or an input that Close does not interrupt
	}
	if s.state.Load() == down && !errors.Is(why, ErrHeader) {
		code = 0
	} else {
		code = 1
	}
	if why != nil {
		config.Log.Info("connection ended", "why", why, "code", code)
	}
	return code, why
}

// InvalidParams returns the error for invalid params, -32602. The text names the
// member and what is expected.
func InvalidParams(format string, args ...any) error {
	return jsonrpc2.Errorf(jsonrpc2.InvalidParams, format, args...)
}

// CodeRequestFailed is the protocol's code RequestFailed, which the library lacks.
const CodeRequestFailed jsonrpc2.Code = -32803

// wireError returns err with the code that a client expects.
func wireError(method string, err error) error {
	if err == nil {
		return nil
	}
	var e *jsonrpc2.Error
	switch {
	case errors.As(err, &e) && e.Code == jsonrpc2.ParseError:
		return jsonrpc2.Errorf(jsonrpc2.InvalidParams, "params of %s: %s", method, err)
	case errors.As(err, &e):
		return err
	case errors.Is(err, context.Canceled):
		return jsonrpc2.Errorf(protocol.CodeRequestCancelled, "%s was cancelled", method)
	}
	return jsonrpc2.Errorf(CodeRequestFailed, "%s", err)
}

func methodNotFound(method string) error {
	return jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "unknown method %q", method)
}

// recovered converts a panic's value to the error that the client gets.
func recovered(log *slog.Logger, method string, p any, stack []byte) error {
	log.Error("handler panicked", "method", method, "panic", fmt.Sprint(p), "stack", string(stack))
	return jsonrpc2.Errorf(jsonrpc2.InternalError, "%s: internal error, see the server's log", method)
}
