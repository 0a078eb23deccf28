package openai

import (
	"context"
	"errors"
	"net/url"
	"slices"

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
	messages, err := req.Typed()
	if err != nil {
		return model.Response{}, err
	}
	strict := isOpenAI(endpoint)
	if strict {
		messages = shortIDs(messages)
	}
	if p.careful.Load() || isMistral(endpoint) {
		return p.chatWith(ctx, req, careful(messages), endpoint, delta)
	}
	resp, err := p.chatWith(ctx, req, messages, endpoint, delta)
	// Any server may apply Mistral's rules to the same models.
	if e, ok := errors.AsType[*model.Error](err); ok && e.Kind == model.BadRequest && !strict && aboutForm.MatchString(e.Message) {
		if other := careful(messages); !slices.Equal(other, messages) {
			if resp, err := p.chatWith(ctx, req, other, endpoint, delta); err == nil {
				p.careful.Store(true)
				return resp, nil
			}
		}
	}
	return resp, err
}

func (p *Provider) chatWith(ctx context.Context, req model.Request, messages []*model.Message, endpoint *url.URL, delta func(model.Delta)) (model.Response, error) {
	req.Conversation = messages
	body, err := chatBody(req, isOpenAI(endpoint))
	if err != nil {
		return model.Response{}, err
	}
	return p.caller.Do(ctx, req.Profile, endpoint, delta, func(a *httpmodel.Attempt) (model.Response, error) {
		resp, err := a.Post(headers(a.Key), body)
		if err != nil {
			return model.Response{}, err
		}
		read := chatReply{show: a.Show}
		if err := a.Stream(resp, read.event); err != nil {
			return model.Response{}, err
		}
		out, err := read.response()
		if err == nil {
			out.Sealed = httpmodel.Seal(chatSealer(req.Profile), out, read.calls.pieces(read.text.String()))
		}
		return out, err
	})
}

// chatBody returns the body of a request. A strict server refuses members that it
// does not know.
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
	for i, m := range messages {
		form.Extra = extras(m, chatSealer(req.Profile))
		r.Messages[i] = m.Chat(form)
	}
	return httpmodel.Marshal(r)
}

// chatSealer names the model whose calls have signed content: no other accepts it.
func chatSealer(p model.Profile) string { return "chat " + p.Model }
