// Package anthropic sends model requests over Anthropic's Messages API.
package anthropic

import (
	"context"
	"net/http"
	"net/url"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
)

// Config are the provider's settings besides its profile.
type Config = httpmodel.Config

const (
	// defaultBase is where requests go when a profile names no server.
	defaultBase = "https://api.anthropic.com/v1"
	// apiVersion is the version of the API that this package speaks.
	apiVersion = "2023-06-01"
	// defaultMaxOutput is sent when a profile has no limit: the API demands one.
	defaultMaxOutput = 8192
)

// Provider sends requests to the server of a profile. It is safe for concurrent use.
type Provider struct {
	profile model.Profile
	caller  *httpmodel.Caller
}

// New returns the provider of a profile. It neither reads the key nor connects to
// the server: an error of either is returned by the first Respond.
func New(p model.Profile, cfg Config) *Provider {
	return &Provider{profile: p, caller: httpmodel.NewCaller(cfg)}
}

// Capabilities implements model.Capable: signed thinking may be sent back.
func (p *Provider) Capabilities(model.Profile) model.Capabilities {
	return model.Capabilities{Sealed: true}
}

// Respond implements model.Model. It uses req.Profile, or, if that names no
// provider, the profile of New. Every error is a *model.Error.
func (p *Provider) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	if req.Profile.Provider == "" {
		req.Profile = p.profile
	}
	endpoint, err := httpmodel.Endpoint(req.Profile.BaseURL, defaultBase, "messages", true)
	if err != nil {
		return model.Response{}, err
	}
	if req.Profile.APIKeyEnv == "" && endpoint.Hostname() == "api.anthropic.com" {
		return model.Response{}, &model.Error{Kind: model.Auth, Message: "profile " + req.Profile.Name +
			" names no api_key_env, and Anthropic takes no requests without a key"}
	}
	output := req.Profile.MaxOutput
	if output == 0 {
		output = defaultMaxOutput
	}
	return httpmodel.WithLessOutput(output, func(output int) (model.Response, error) {
		req.Profile.MaxOutput = output
		return p.respond(ctx, req, endpoint, delta)
	})
}

func (p *Provider) respond(ctx context.Context, req model.Request, endpoint *url.URL, delta func(model.Delta)) (model.Response, error) {
	body, err := body(req)
	if err != nil {
		return model.Response{}, err
	}
	return p.caller.Do(ctx, req.Profile, endpoint, delta, func(a *httpmodel.Attempt) (model.Response, error) {
		resp, err := a.Post(headers(a.Key), body)
		if err != nil {
			return model.Response{}, err
		}
		read := reply{show: a.Show}
		if err := a.Stream(resp, read.event); err != nil {
			return model.Response{}, err
		}
		out, pieces, err := read.response()
		if err == nil {
			out.Sealed = httpmodel.Seal(sealer(req.Profile), out, pieces)
		}
		return out, err
	})
}

// headers returns the headers that the API requires on every request.
func headers(key string) http.Header {
	h := http.Header{"Anthropic-Version": {apiVersion}}
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	return h
}
