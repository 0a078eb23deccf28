package openai

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json/jsontext"
)

// responsesRequest is the body of a request. The server stores
// nothing of it: every request has the whole conversation.
type responsesRequest struct {
	Model     string           `json:"model"`
	Input     []jsontext.Value `json:"input"`
	Tools     []responsesTool  `json:"tools,omitempty"`
	MaxOutput int              `json:"max_output_tokens,omitzero"`
	Include   []string         `json:"include,omitempty"`
	Store     bool             `json:"store"`
	Stream    bool             `json:"stream"`
}

type responsesTool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters"`
	Strict      bool           `json:"strict"`
}

// sealed requests reasoning in a form that can be sent back.
const sealed = "reasoning.encrypted_content"

func (p *Provider) responses(ctx context.Context, req model.Request, endpoint *url.URL, delta func(model.Delta)) (model.Response, error) {
	resp, err := p.respond(ctx, req, endpoint, delta)
	// Models that do not reason refuse a request that includes reasoning.
	if e, ok := errors.AsType[*model.Error](err); ok && e.Kind == model.BadRequest && !p.plain.Load() &&
		strings.Contains(strings.ToLower(e.Message), "encrypted content") {
		p.plain.Store(true)
		return p.respond(ctx, req, endpoint, delta)
	}
	return resp, err
}

func (p *Provider) respond(ctx context.Context, req model.Request, endpoint *url.URL, delta func(model.Delta)) (model.Response, error) {
	body, err := p.responsesBody(req)
	if err != nil {
		return model.Response{}, err
	}
	return p.caller.Do(ctx, req.Profile, endpoint, delta, func(a *httpmodel.Attempt) (model.Response, error) {
		resp, err := a.Post(headers(a.Key), body)
		if err != nil {
			return model.Response{}, err
		}
		read := responsesReply{show: a.Show}
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

func (p *Provider) responsesBody(req model.Request) ([]byte, error) {
	messages, err := req.Typed()
	if err != nil {
		return nil, err
	}
	tools, err := httpmodel.ReadTools(req.Tools)
	if err != nil {
		return nil, err
	}
	r := responsesRequest{Model: req.Profile.Model, MaxOutput: req.Profile.MaxOutput, Stream: true}
	if !p.plain.Load() {
		r.Include = []string{sealed}
	}
	for _, m := range messages {
		more, err := httpmodel.ReadTools(m.Tools)
		if err != nil {
			return nil, err
		}
		tools = httpmodel.AddTools(tools, more)
		if err := r.add(m, sealer(req.Profile)); err != nil {
			return nil, err
		}
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return httpmodel.Marshal(r)
}

// item is one item of the input.
type item struct {
	Type      string  `json:"type,omitzero"`
	Role      string  `json:"role,omitzero"`
	Content   any     `json:"content,omitzero"`
	CallID    string  `json:"call_id,omitzero"`
	Name      string  `json:"name,omitzero"`
	Arguments string  `json:"arguments,omitzero"`
	Output    *string `json:"output,omitzero"`
}

type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitzero"`
	ImageURL string `json:"image_url,omitzero"`
	FileName string `json:"filename,omitzero"`
	FileData string `json:"file_data,omitzero"`
}

// sealer names the model whose reasoning is sealed: no other can open it.
func sealer(p model.Profile) string { return "responses " + p.Model }

// add appends a message's items: reasoning as it came, text, calls.
func (r *responsesRequest) add(m *model.Message, by string) error {
	var err error
	add := func(it item) {
		raw, e := httpmodel.Marshal(it)
		err = errors.Join(err, e)
		r.Input = append(r.Input, raw)
	}
	switch m.Role {
	case "tool":
		add(item{Type: "function_call_output", CallID: m.CallID, Output: new(m.Text())})
	case "assistant":
		for _, piece := range httpmodel.Segments(m, by) {
			switch {
			case piece.Sealed != nil:
				r.Input = append(r.Input, piece.Sealed)
			case piece.Call != nil:
				add(item{Type: "function_call", CallID: piece.Call.ID, Name: piece.Call.Name, Arguments: piece.Call.Arguments})
			default:
				add(item{Role: "assistant", Content: piece.Text})
			}
		}
	default:
		if len(m.Content) == 0 {
			break // a block of tools, which are in the list of tools
		}
		if c := userContent(m.Content); m.Role == "user" {
			add(item{Role: "user", Content: c})
		} else {
			add(item{Role: "system", Content: m.Text()})
		}
	}
	return err
}

// userContent returns a text alone as a string, and anything else as parts.
func userContent(parts []model.Part) any {
	if len(parts) == 1 && parts[0].File == nil {
		return parts[0].Text
	}
	out := make([]inputPart, 0, len(parts))
	for _, p := range parts {
		switch f := p.File; {
		case f == nil:
			out = append(out, inputPart{Type: "input_text", Text: p.Text})
		case f.Kind == model.Image:
			out = append(out, inputPart{Type: "input_image", ImageURL: f.DataURL()})
		case f.Kind == model.Document:
			out = append(out, inputPart{Type: "input_file", FileName: f.Name, FileData: f.DataURL()})
		default:
			out = append(out, inputPart{Type: "input_text", Text: "[a " + f.Kind + " is not shown: the Responses API takes none]"})
		}
	}
	return out
}
