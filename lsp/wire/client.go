package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// Client is the client as the server sees it. It is safe for concurrent use.
type Client struct {
	conn limited
	root context.Context
}

func newClient(root context.Context, conn jsonrpc2.Conn, timeout time.Duration) *Client {
	return &Client{conn: limited{Conn: conn, timeout: timeout}, root: root}
}

// Context ends with the connection. Work that outlives a request runs under it.
func (c *Client) Context() context.Context { return c.root }

// Notify sends a notification; nil params send none. It queues and does not wait
// for the client, unless the client has left 32 MiB unread.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	if err := c.conn.Notify(ctx, method, params); err != nil {
		return fmt.Errorf("notify of %s: %w", method, err)
	}
	return nil
}

// Call sends a request and waits for its reply, for as long as ctx lasts, or for
// Config.CallTimeout where ctx has no deadline. A call that is given up is
// cancelled at the client by $/cancelRequest. It refuses the context of a
// notification's handler, of initialize and of shutdown, because these block the
// reader: start a goroutine under Client.Context for it.
func Call[T any](ctx context.Context, c *Client, method string, params any) (T, error) {
	var result T
	err := protocol.Call(ctx, c.conn, method, params, &result)
	return result, err
}

// ErrInline is a call to the client from a handler that blocks the reading of its
// reply.
var ErrInline = errors.New("call to the client from a handler that holds up the reader")

// limited applies CallTimeout to each call. The library sends $/cancelRequest when
// the caller's context ends, but not when the limit is reached.
type limited struct {
	jsonrpc2.Conn
	timeout time.Duration
}

func (l limited) Call(ctx context.Context, method string, params, result any) (jsonrpc2.ID, error) {
	if ctx.Value(inlineKey{}) != nil {
		return jsonrpc2.ID{}, fmt.Errorf("%s: %w", method, ErrInline)
	}
	caller := ctx
	if _, ok := ctx.Deadline(); !ok && l.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.timeout)
		defer cancel()
	}
	start := time.Now()
	// The library may write into result after a call was given up.
	var raw jsonrpc2.RawMessage
	id, err := l.Conn.Call(ctx, method, params, &raw)
	if err == nil {
		if result != nil {
			err = codec{}.Unmarshal(raw, result)
		}
		if err != nil {
			return id, fmt.Errorf("answer to %s: %w", method, err)
		}
		return id, nil
	}
	if ctx.Err() == nil {
		return id, fmt.Errorf("answer to %s: %w", method, err)
	}
	if caller.Err() == nil {
		n, _ := id.Number()
		_ = l.Notify(context.WithoutCancel(ctx), protocol.MethodCancelRequest, &protocol.CancelParams{ID: protocol.Integer(n)})
	} else if errors.Is(caller.Err(), context.Canceled) {
		return id, fmt.Errorf("%s: %w", method, context.Canceled)
	}
	return id, fmt.Errorf("no answer to %s within %s: %w", method, time.Since(start).Round(time.Millisecond), context.DeadlineExceeded)
}
