package httpmodel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// Caller sends a request to a provider and retries it while that may help. It is
// safe for concurrent use and stores no key.
type Caller struct{ cfg Config }

// NewCaller returns a caller.
func NewCaller(cfg Config) *Caller { return &Caller{cfg.filled()} }

// Attempt is one request and its reply.
type Attempt struct {
	// Key is the profile's API key, "" for none.
	Key string

	transport http.RoundTripper
	endpoint  *url.URL

	ctx   context.Context // canceled when the attempt has run out of time
	watch *watch
	delta func(model.Delta)
	shown bool
}

// Show passes a piece of the reply to the caller's delta.
func (a *Attempt) Show(d model.Delta) {
	if d.Text == "" && d.Reasoning == "" || a.delta == nil {
		return
	}
	a.shown = true
	a.delta(d)
}

// Do makes attempts at the endpoint until one succeeds. Attempts that
// failed by rate, overload, network or timeout are retried, after the wait that the
// server named or a growing one. If a piece of the failed attempt was shown, delta
// is called with Restarted first. Every error is a *model.Error; none shows
// the key.
func (c *Caller) Do(ctx context.Context, p model.Profile, endpoint *url.URL, delta func(model.Delta),
	try func(a *Attempt) (model.Response, error),
) (model.Response, error) {
	key, err := c.cfg.key(p)
	if err != nil {
		return model.Response{}, err
	}
	hide := secretsOf(key, endpoint)
	for n, slipped := 1, false; ; n++ {
		a := &Attempt{Key: key, transport: c.cfg.Transport, endpoint: endpoint, delta: delta}
		resp, err := c.once(ctx, a, try)
		if err == nil {
			return resp, nil
		}
		f := c.failed(ctx, a, err, endpoint)
		advise(f.err, p, endpoint)
		f.err.Message = hide.clean(f.err.Message)
		if f.once && !slipped {
			slipped = true
		} else if n > c.cfg.Retries || !repeats(f) {
			if n > 1 {
				f.err.Message += fmt.Sprintf(" (after %d attempts)", n)
			}
			return model.Response{}, f.err
		}
		pause := wait(f.err.RetryAfter, n, c.cfg.Jitter())
		c.cfg.Log.Warn("asking the model again", "profile", p.Name, "attempt", n+1, "wait", pause, "kind", f.err.Kind, "status", f.err.Status, "err", f.err.Message)
		if a.shown {
			delta(model.Delta{Restarted: true})
		}
		if err := c.cfg.Clock.Sleep(ctx, pause); err != nil {
			return model.Response{}, ended(ctx, f.err)
		}
	}
}

// once makes one attempt; nothing of it runs on after it.
func (c *Caller) once(ctx context.Context, a *Attempt, try func(*Attempt) (model.Response, error)) (model.Response, error) {
	a.ctx, a.watch = newWatch(ctx, c.cfg.Clock, c.cfg.Timeout, c.cfg.IdleTimeout)
	defer a.watch.stop()
	return try(a)
}

// repeats reports whether the same request may succeed later.
func repeats(f *failure) bool {
	switch f.err.Kind {
	case model.Rate, model.Overloaded, model.Network, model.Timeout:
		return !f.final
	}
	return false
}

// failed classifies what an attempt came back with.
func (c *Caller) failed(ctx context.Context, a *Attempt, err error, endpoint *url.URL) *failure {
	if ctx.Err() != nil {
		return &failure{err: ended(ctx, nil), final: true}
	}
	switch cause := context.Cause(a.ctx); {
	case errors.Is(cause, errIdle):
		return &failure{err: &model.Error{Kind: model.Timeout, Message: fmt.Sprintf(
			"%s sent no piece of the answer for %s, the idle timeout", Origin(endpoint), c.cfg.IdleTimeout)}}
	case errors.Is(cause, errWhole):
		return &failure{err: &model.Error{Kind: model.Timeout, Message: fmt.Sprintf(
			"%s did not finish its answer within %s, the timeout of a request", Origin(endpoint), c.cfg.Timeout)}, final: true}
	}
	var status *statusError
	var known *failure
	switch {
	case errors.As(err, &status):
		return classify(status.status, status.header, status.body, c.cfg.Clock.Now())
	case errors.As(err, &known):
		return known
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return &failure{err: e}
	}
	if errors.Is(err, errTooLong) {
		return &failure{err: &model.Error{Kind: model.Network, Message: fmt.Sprintf("%s: %v", Origin(endpoint), err)}, final: true}
	}
	return &failure{err: &model.Error{Kind: model.Network, Message: fmt.Sprintf("%s: %s", Origin(endpoint), network(err))}}
}

// network says what broke, without the address that net/http puts before it.
func network(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound {
		return "no such host; check the profile's base_url"
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused; start the server that listens there, or correct the profile's base_url"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was closed before the answer was complete"
	}
	return err.Error()
}

// ended is the error of a context that has ended; last is what the attempt before
// failed with.
func ended(ctx context.Context, last *model.Error) *model.Error {
	e := &model.Error{Kind: model.Cancelled, Message: "the request was cancelled"}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Kind, e.Message = model.Timeout, "the time for the answer is over"
	}
	if last != nil {
		e.Status, e.Message = last.Status, e.Message+"; before that: "+last.Message
	}
	return e
}

const (
	tailWait  = 5 * time.Second        // for the rest of a stream whose reply is complete
	closeWait = 100 * time.Millisecond // for the connection's end after the stream's
)
