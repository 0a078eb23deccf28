// Package openai asks models over OpenAI's two HTTP interfaces: chat completions,
// which most other servers speak too, and Responses. What comes back is read
// leniently: compatible servers leave out, add and misplace members.
package openai

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
)

// Config is what the provider gets beside its profile.
type Config = httpmodel.Config

// defaultBase is where requests go when a profile names no server.
const defaultBase = "https://api.openai.com/v1"

// Provider asks the server of a profile. It is safe for concurrent use.
type Provider struct {
	profile model.Profile
	caller  *httpmodel.Caller
	// plain says that the model has no reasoning to hand out in sealed form.
	plain atomic.Bool
	// careful says that the server takes only conversations in the strictest form.
	careful atomic.Bool
}

// New makes the provider of a profile. It neither reads the key nor reaches the
// server: what is wrong with either is the error of the first ask.
func New(p model.Profile, cfg Config) *Provider {
	return &Provider{profile: p, caller: httpmodel.NewCaller(cfg)}
}

// Capabilities implements model.Capable: sealed reasoning and what is signed in a
// chat's calls are taken back.
func (p *Provider) Capabilities(model.Profile) model.Capabilities {
	return model.Capabilities{Sealed: true}
}

// Respond implements model.Model. It asks with req.Profile, or, if that names no
// provider, with the profile of New. Every error is a *model.Error.
func (p *Provider) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	if req.Profile.Provider == "" {
		req.Profile = p.profile
	}
	path, ask := "chat/completions", p.chat
	if req.Profile.API == "responses" {
		path, ask = "responses", p.responses
	}
	endpoint, err := httpmodel.Endpoint(req.Profile.BaseURL, defaultBase, path, false)
	if err != nil {
		return model.Response{}, err
	}
	if isOpenAI(endpoint) && req.Profile.APIKeyEnv == "" {
		return model.Response{}, &model.Error{Kind: model.Auth, Message: "profile " + req.Profile.Name +
			" names no api_key_env, and OpenAI takes no requests without a key"}
	}
	return httpmodel.WithLessOutput(req.Profile.MaxOutput, func(output int) (model.Response, error) {
		req.Profile.MaxOutput = output
		return ask(ctx, req, endpoint, delta)
	})
}

// isOpenAI tells OpenAI's own servers, which refuse members that they do not know,
// from others, which need some of them.
func isOpenAI(u *url.URL) bool {
	host := u.Hostname()
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}

// isMistral tells Mistral's own servers.
func isMistral(u *url.URL) bool { return strings.HasSuffix(u.Hostname(), ".mistral.ai") }

// headers are what a request carries besides those of every provider.
func headers(key string) http.Header {
	if key == "" {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + key}}
}
