package wire

import (
	"context"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// Peer is a client's end of a connection: what a program needs that talks to a
// server of this package, for instance in the same process over two Pipes. It is
// safe for concurrent use.
type Peer struct {
	conn   limited
	stream *stream
}

// Dial starts the client's end over a server's output and input, and answers the
// server's messages: requests each on a goroutine of its own, notifications in
// order on the reading one. Both maps must not change any more. A request that no
// handler is there for is answered with -32601. A nil log discards. Close it.
func Dial(in io.ReadCloser, out io.WriteCloser, requests map[string]Handler, notifications map[string]Notified, log *slog.Logger) *Peer {
	c := Config{Log: log}.withDefaults()
	p := &Peer{}
	p.stream = newStream(in, out, c.MaxFrame, c.WriteTimeout, c.Log, func(error) { go p.stream.shut(0) })
	conn := jsonrpc2.NewConn(p.stream, jsonrpc2.WithCodec(codec{}))
	p.conn = limited{Conn: conn}
	inline := context.WithValue(context.Background(), inlineKey{}, true)
	conn.Go(context.Background(), func(ctx context.Context, r *jsonrpc2.Request) (result any, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = recovered(c.Log, strings.Clone(r.Method()), v, debug.Stack())
			}
			if !r.IsCall() {
				result, err = nil, nil // an error would end the connection
			}
		}()
		if !r.IsCall() {
			if h := notifications[r.Method()]; h != nil {
				if err := h(inline, params(r)); err != nil {
					c.Log.Error("notification not handled", "method", strings.Clone(r.Method()), "err", err)
				}
			}
			return nil, nil
		}
		h := requests[r.Method()]
		if h == nil {
			return nil, methodNotFound(strings.Clone(r.Method()))
		}
		jsonrpc2.Async(ctx)
		result, err = h(ctx, params(r))
		return result, wireError(r.Method(), err)
	})
	return p
}

func (p *Peer) calls() limited { return p.conn }

// Notify sends a notification; nil params send none.
func (p *Peer) Notify(ctx context.Context, method string, params any) error {
	return p.conn.notify(ctx, method, params)
}

// Done is closed when the connection has ended and its handlers have returned.
func (p *Peer) Done() <-chan struct{} { return p.conn.Done() }

// Close sends what is queued, hangs up, and waits a moment for the handlers.
func (p *Peer) Close() error {
	p.stream.shut(time.Second)
	select {
	case <-p.Done():
	case <-time.After(time.Second):
	}
	return nil
}
