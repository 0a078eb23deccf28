package openai

import (
	"bytes"
	"context"
	"net/url"
	"slices"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatRequest is the body of a request. The messages and tools in it are the
// projection's own bytes, so that a provider's cache finds the same prefix again.
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

func chatBody(req model.Request, strict bool) ([]byte, error) {
	r := chatRequest{
		Model: req.Profile.Model, Messages: make([]jsontext.Value, len(req.Messages)), Tools: req.Tools,
		Stream: true, StreamOptions: streamOptions{IncludeUsage: true},
	}
	if strict {
		r.MaxCompletionTokens = req.Profile.MaxOutput
	} else {
		r.MaxTokens = req.Profile.MaxOutput
	}
	for i, raw := range req.Messages {
		names := []string{"_tool_references", "_sealed"}
		if strict {
			names = append(names, "reasoning_content", "reasoning", "cache_control")
		}
		var err error
		if r.Messages[i], err = without(raw, names); err != nil {
			return nil, &model.Error{Kind: model.BadRequest, Message: "a message of the request cannot be read: " + err.Error()}
		}
	}
	return httpmodel.Marshal(r)
}

// without leaves members out of a message and of its parts. A message that has
// none of them stays as it is, byte for byte.
func without(raw jsontext.Value, names []string) (jsontext.Value, error) {
	found := false
	for _, name := range names {
		found = found || bytes.Contains(raw, []byte(`"`+name+`"`))
	}
	if !found {
		return raw, nil
	}
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(true), jsontext.EscapeForHTML(false))
	if err := copyWithout(enc, raw, names); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// copyWithout copies an object, and the objects in the list of its content.
func copyWithout(enc *jsontext.Encoder, raw jsontext.Value, names []string) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), httpmodel.Lenient)
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := key.String()
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if slices.Contains(names, name) {
			continue
		}
		if err := enc.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if name != "content" || value.Kind() != '[' {
			err = enc.WriteValue(value)
		} else {
			err = copyParts(enc, value, names)
		}
		if err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

func copyParts(enc *jsontext.Encoder, raw jsontext.Value, names []string) error {
	var list []jsontext.Value
	if err := json.Unmarshal(raw, &list, httpmodel.Lenient); err != nil {
		return err
	}
	if err := enc.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, part := range list {
		if err := copyWithout(enc, part, names); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndArray)
}
