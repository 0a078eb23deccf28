// Package anthropic asks models over Anthropic's Messages API.
//
// Requests go out through Anthropic's SDK, with its retries off; the events that
// come back are read here, for the SDK's stream takes a cut one for a whole.
package anthropic

import (
	"context"
	"net/http"
	"net/url"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// Config is what the provider gets beside its profile.
type Config = httpmodel.Config

const (
	// defaultBase is where requests go when a profile names no server.
	defaultBase = "https://api.anthropic.com/v1"
	// defaultMaxOutput is sent when a profile has no limit: the API demands one.
	defaultMaxOutput = 8192
)

// Provider asks the server of a profile. It is safe for concurrent use.
type Provider struct {
	profile model.Profile
	caller  *httpmodel.Caller
}

// New makes the provider of a profile. It neither reads the key nor reaches the
// server: what is wrong with either is the error of the first ask.
func New(p model.Profile, cfg Config) *Provider {
	return &Provider{profile: p, caller: httpmodel.NewCaller(cfg)}
}

// Respond implements model.Model. It asks with req.Profile, or, if that names no
// provider, with the profile of New. Every error is a *model.Error.
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
	body, err := body(req)
	if err != nil {
		return model.Response{}, err
	}
	return p.caller.Do(ctx, req.Profile, endpoint, delta, func(ctx context.Context, a *httpmodel.Attempt) (model.Response, error) {
		resp, err := send(ctx, a, endpoint, body)
		if err != nil {
			return model.Response{}, err
		}
		answer := answer{show: a.Show}
		if err := a.Stream(resp, answer.event); err != nil {
			return model.Response{}, err
		}
		out, pieces, err := answer.response()
		if err == nil {
			out.Sealed = httpmodel.Seal(sealer(req.Profile), out, pieces)
		}
		return out, err
	})
}

// send posts a body. The client sends it to its endpoint, whatever address the
// SDK was given; the caller closes the response's body.
func send(ctx context.Context, a *httpmodel.Attempt, endpoint *url.URL, body []byte) (*http.Response, error) {
	opts := []option.RequestOption{
		option.WithBaseURL(httpmodel.Origin(endpoint) + "/"), option.WithHTTPClient(a.Client), option.WithMaxRetries(0),
	}
	if a.Key != "" {
		opts = append(opts, option.WithAPIKey(a.Key))
	}
	service := sdk.NewMessageService(opts...)
	var resp *http.Response
	stream := service.NewStreaming(ctx, sdk.MessageNewParams{},
		option.WithRequestBody("application/json", body), option.WithResponseInto(&resp))
	if err := stream.Err(); err != nil {
		return nil, err
	}
	return resp, nil
}
