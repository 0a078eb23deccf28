package server

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/anthropic"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/agent-lsp/agent-lsp/session/model/openai"
	"github.com/agent-lsp/agent-lsp/session/model/script"
	"github.com/google/uuid"
)

// provider makes the model of a profile for one session.
func (srv *Server) provider(_ context.Context, p model.Profile, env session.ProviderEnv) (model.Model, error) {
	m, err := srv.model(p, env.Clock)
	if err != nil || srv.config.Record == "" {
		return m, err
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.recording == nil {
		srv.recording = &recording{models: map[string]model.Model{}}
		if srv.recording.Recorder, err = srv.record(srv.recording, p, env); err != nil {
			return nil, err
		}
	}
	srv.recording.add(p.Name, m)
	return srv.recording, nil
}

// recording is the one recorder of a run, whichever profile answers.
type recording struct {
	*script.Recorder            // embedded for Answered and Err
	mu               sync.Mutex // guards models
	models           map[string]model.Model
}

func (r *recording) add(profile string, m model.Model) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.models[profile] = m
}

// answering is the side of a recording that is recorded.
type answering struct{ *recording }

// Respond asks the model of the request's profile.
func (a answering) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	return a.of(req.Profile).Respond(ctx, req, delta)
}

// Capabilities are those of the profile's model.
func (a answering) Capabilities(p model.Profile) model.Capabilities {
	return model.CapabilitiesOf(a.of(p), p)
}

func (a answering) of(p model.Profile) model.Model {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.models[p.Name]
}

// record starts the recording's file, or goes on with it for a session that is
// resumed.
func (srv *Server) record(r *recording, p model.Profile, env session.ProviderEnv) (*script.Recorder, error) {
	if env.Resumed {
		return script.Continue(answering{r}, srv.config.Record, secrets(p)...)
	}
	var epoch time.Time
	if v, ok := env.Clock.(*clock.Virtual); ok {
		epoch = v.Now()
	}
	rec := script.Record(answering{r}, srv.config.Record, epoch, secrets(p)...)
	if err := rec.Save(); err != nil { // now, so that a bad path is known before a model is paid
		return nil, fmt.Errorf("record to %s: %w", srv.config.Record, err)
	}
	return rec, nil
}

// model makes the provider that a profile names.
func (srv *Server) model(p model.Profile, c clock.Clock) (model.Model, error) {
	configured := srv.settings(srv.firstFolder()).Config
	over := requestBounds(&configured)
	over.Clock, over.Log = c, srv.log
	switch p.Provider {
	case "script":
		s, err := loadScript(p)
		if err != nil {
			return nil, err
		}
		return script.New(s, c), nil
	case "openai":
		return openai.New(p, over), nil
	case "anthropic":
		return anthropic.New(p, over), nil
	}
	return nil, fmt.Errorf("profile %s: no provider is named %q; there are script, openai and anthropic", p.Name, p.Provider)
}

// requestBounds are a configuration's bounds of one call of a model.
func requestBounds(c *config.Config) httpmodel.Config {
	return httpmodel.Config{
		Timeout: time.Duration(c.Request.Timeout), IdleTimeout: time.Duration(c.Request.IdleTimeout), Retries: c.Request.Retries,
	}
}

// secrets are the values that must not reach a recording.
func secrets(p model.Profile) []string {
	if v := os.Getenv(p.APIKeyEnv); p.APIKeyEnv != "" && v != "" {
		return []string{v}
	}
	return nil
}

// loadScript reads a profile's script. One without a script plays the built-in
// demonstration.
func loadScript(p model.Profile) (*script.Script, error) {
	if p.Script == "" {
		return script.Demo()
	}
	return script.Load(p.Script)
}

// clock is the machine's, or the script's own where a session is to be the same
// whenever it runs.
func (srv *Server) clock(p model.Profile) (clock.Clock, error) {
	if !srv.config.Virtual || p.Provider != "script" {
		return clock.Real{}, nil
	}
	s, err := loadScript(p)
	if err != nil {
		return nil, err
	}
	return clock.NewVirtual(s.Epoch), nil
}

// newID is a fresh id, or, on a script's clock, the script's own nth one.
func (srv *Server) newID(p model.Profile, n int) (uuid.UUID, error) {
	if !srv.config.Virtual || p.Provider != "script" {
		return uuid.NewV7()
	}
	s, err := loadScript(p)
	if err != nil {
		return uuid.Nil, err
	}
	return s.ID(n), nil
}
