package openai

import (
	"context"
	"net/url"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json/jsontext"
)

// chatRequest is the body of a request. Equal messages are equal bytes in it, so
// that a provider's cache finds the same prefix again.
type chatRequest struct {
	Model               string           `json:"model"`
	Messages            []jsontext.Value `json:"messages"`
	Tools               []jsontext.Value `json:"tools,omitempty"`
	MaxTokens           int              `json:"max_tokens,omitzero"`
	MaxCompletionTokens int              `json:"max_completion_tokens,omitzero"`
	Stream              bool             `json:"stream"`
	StreamOptions       streamOptions    `json:"stream_options"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

func (p *Provider) chat(ctx context.Context, req model.Request, endpoint *url.URL, delta func(model.Delta)) (model.Response, error) {
	body, err := chatBody(req, isOpenAI(endpoint))
	if err != nil {
		return model.Response{}, err
	}
	return p.caller.Do(ctx, req.Profile, endpoint, delta, func(a *httpmodel.Attempt) (model.Response, error) {
		resp, err := a.Post(headers(a.Key), body)
		if err != nil {
			return model.Response{}, err
		}
		answer := chatAnswer{show: a.Show}
		if err := a.Stream(resp, answer.event); err != nil {
			return model.Response{}, err
		}
		return answer.response()
	})
}

// chatBody is the request that a server is sent. A strict one refuses members that
// it does not know.
func chatBody(req model.Request, strict bool) ([]byte, error) {
	messages, err := req.Typed()
	if err != nil {
		return nil, err
	}
	form := model.ChatForm{Reasoning: !strict, Cache: !strict}
	r := chatRequest{
		Model: req.Profile.Model, Messages: make([]jsontext.Value, len(messages)), Tools: req.Tools,
		Stream: true, StreamOptions: streamOptions{IncludeUsage: true},
	}
	if strict {
		r.MaxCompletionTokens = req.Profile.MaxOutput
	} else {
		r.MaxTokens = req.Profile.MaxOutput
	}
	for i := range messages {
		r.Messages[i] = messages[i].Chat(form)
	}
	return httpmodel.Marshal(r)
}
