// Package openai sends model requests over OpenAI's two HTTP interfaces: chat
// completions, which most other servers speak too, and Responses. Replies are read
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

// Config are the provider's settings besides its profile.
type Config = httpmodel.Config

// defaultBase is where requests go when a profile names no server.
const defaultBase = "https://api.openai.com/v1"

// Provider sends requests to the server of a profile. It is safe for concurrent use.
type Provider struct {
	profile model.Profile
	caller  *httpmodel.Caller
	// plain says that the model returns no sealed reasoning.
	plain atomic.Bool
	// careful says that the server accepts only conversations in the strictest form.
	careful atomic.Bool
}

// New returns the provider of a profile. It neither reads the key nor connects to
// the server: an error of either is returned by the first Respond.
func New(p model.Profile, cfg Config) *Provider {
	return &Provider{profile: p, caller: httpmodel.NewCaller(cfg)}
}

// Capabilities implements model.Capable: sealed reasoning and the signed parts
// of a chat's calls may be sent back.
func (p *Provider) Capabilities(model.Profile) model.Capabilities {
	return model.Capabilities{Sealed: true}
}

// Respond implements model.Model. It uses req.Profile, or, if that names no
// provider, the profile of New. Every error is a *model.Error.
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

// isOpenAI reports whether a server is OpenAI's own: those refuse members that they
// do not know, while others need some of them.
func isOpenAI(u *url.URL) bool {
	host := u.Hostname()
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}

// isMistral reports whether a server is Mistral's own.
func isMistral(u *url.URL) bool { return strings.HasSuffix(u.Hostname(), ".mistral.ai") }

// headers returns the headers of a request besides those of every provider.
func headers(key string) http.Header {
	if key == "" {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + key}}
}
