package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// Recorder is a model that writes the replies of another one to a script, so that
// a real session can be replayed. Each entry is keyed by
// its step and has the fingerprint of the request: a replay whose request
// differs stops there. Secrets are removed from all that is written, and from
// messages before their fingerprint is taken.
//
// The file is replaced after every reply, whole and readable by its owner only.
// It is safe for concurrent use.
type Recorder struct {
	inner model.Model
	path  string
	red   *redactor

	mu     sync.Mutex // guards what follows, and the file
	epoch  time.Time
	data   []byte // the file so far
	seen   known
	failed error
}

var (
	_ model.Model   = (*Recorder)(nil)
	_ model.Resumer = (*Recorder)(nil)
)

// Record returns a recorder that passes requests to inner and writes the file at
// path. The
// secrets are texts that must not be in the file, e.g. the values of the API
// keys in use; keys and tokens of well known shapes are removed besides. The
// epoch goes into the script; the zero time leaves it out.
func Record(inner model.Model, path string, epoch time.Time, secrets ...string) *Recorder {
	r := &Recorder{inner: inner, path: path, red: newRedactor(secrets), epoch: epoch}
	r.data = appendHead(nil, epoch)
	return r
}

// Continue makes a recorder that goes on with the recording in a file, for a
// session that is resumed.
func Continue(inner model.Model, path string, secrets ...string) (*Recorder, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("continue recording: %w", err)
	}
	s, seen, err := parse(path, data)
	if err != nil {
		return nil, fmt.Errorf("continue recording: %w", err)
	}
	r := Record(inner, path, s.Epoch, secrets...)
	if n := len(data); n > 0 && data[n-1] != '\n' {
		data = append(data, '\n')
	}
	r.data, r.seen = data, seen
	return r, nil
}

// Respond implements model.Model. It returns what the inner model returned, whether
// or not it could be written: see Err. A failure that is a *model.Error is an entry
// too, unless it is of kind cancelled; a request that its context ended is not.
func (r *Recorder) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	resp, err := r.inner.Respond(ctx, req, delta)
	e := Entry{When: req.Step}
	var failed *model.Error
	switch {
	case err == nil:
		e.Text, e.Reasoning = r.optional(resp.Text), r.optional(resp.Reasoning)
		e.Usage, e.Finish, e.ProviderID = resp.Usage, r.red.text(resp.Finish), r.red.text(resp.ProviderID)
		if s := r.red.text(string(resp.Sealed)); s == string(resp.Sealed) && resp.Sealed.IsValid() {
			e.Sealed = resp.Sealed // it is of no use with a word changed
		}
		for _, c := range resp.Calls {
			e.Calls = append(e.Calls, model.FunctionCall{
				ID: r.red.text(c.ID), Name: r.red.text(c.Name), Arguments: r.red.text(c.Arguments),
			})
		}
	case errors.As(err, &failed) && failed.Kind != model.Cancelled:
		e.Fail = &Fail{Kind: FailError, Error: failed.Kind, Message: r.red.text(failed.Message)}
	default:
		return resp, err
	}
	p := newPrint(req, r.red)
	e.Request = &p
	r.add(&e)
	return resp, err
}

func (r *Recorder) optional(s *string) *string {
	if s == nil {
		return nil
	}
	return new(r.red.text(*s))
}

// Capabilities implements model.Capable for an inner model that does.
func (r *Recorder) Capabilities(p model.Profile) model.Capabilities {
	return model.CapabilitiesOf(r.inner, p)
}

// Answered implements model.Resumer for an inner model that is one.
func (r *Recorder) Answered(step, providerID string) {
	if m, ok := r.inner.(model.Resumer); ok {
		m.Answered(step, providerID)
	}
}

func (r *Recorder) add(e *Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.data = appendEntry(r.data, e, &r.seen)
	r.failed = r.save()
}

// Save writes the file as it is so far, also when there was no reply yet.
func (r *Recorder) Save() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = r.save()
	return r.failed
}

// Err returns why the file lacks some of the replies; nil when it has all of them.
// A later write that succeeds clears the error.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// save replaces the file: a reader sees the old one or the new one, whole.
func (r *Recorder) save() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write recording: %w", err)
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(r.path), ".recording-*") // of mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(r.data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), r.path)
}
