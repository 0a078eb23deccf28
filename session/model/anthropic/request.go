package anthropic

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// request is the body of a request.
type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    []block   `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Tools     []tool    `json:"tools,omitempty"`
	Stream    bool      `json:"stream"`
}

type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	InputSchema jsontext.Value `json:"input_schema"`
	Deferred    bool           `json:"defer_loading,omitzero"`
}

// message is the blocks of one role, user or assistant.
type message struct {
	Role    string  `json:"role"` // user, assistant
	Content []block `json:"content"`
}

// block is one block of any type; members that its type does not have are zero.
type block struct {
	Type      string         `json:"type"`
	Text      string         `json:"text,omitzero"`
	ID        string         `json:"id,omitzero"`
	Name      string         `json:"name,omitzero"`
	Input     jsontext.Value `json:"input,omitzero"`
	ToolUseID string         `json:"tool_use_id,omitzero"`
	ToolName  string         `json:"tool_name,omitzero"`
	Content   []block        `json:"content,omitempty"`
	Source    *source        `json:"source,omitzero"`
	Title     string         `json:"title,omitzero"`
	IsError   bool           `json:"is_error,omitzero"`
	Cache     *cache         `json:"cache_control,omitzero"`

	raw jsontext.Value // of a signed block, which is sent as it came
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // in base64 on the wire
}

type cache struct {
	Type string `json:"type"`
}

// MarshalJSONTo implements json.MarshalerTo.
func (b block) MarshalJSONTo(enc *jsontext.Encoder) error {
	if b.raw != nil {
		return enc.WriteValue(b.raw)
	}
	type plain block
	return json.MarshalEncode(enc, plain(b))
}

// breakpoint marks where the provider's cache may end.
func breakpoint() *cache { return &cache{Type: "ephemeral"} }

// sealer names the model whose thinking is signed: no other model accepts it.
func sealer(p model.Profile) string { return "messages " + p.Model }

func body(req model.Request) ([]byte, error) {
	messages, err := req.Typed()
	if err != nil {
		return nil, err
	}
	tools, err := httpmodel.ReadTools(req.Tools)
	if err != nil {
		return nil, err
	}
	r := request{Model: req.Profile.Model, MaxTokens: req.Profile.MaxOutput, Stream: true}
	if r.MaxTokens == 0 {
		r.MaxTokens = defaultMaxOutput
	}
	if err := r.talk(messages, &tools); err != nil {
		return nil, err
	}
	if req.Profile.PromptCache {
		cacheEnd(r.Messages)
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters, Deferred: t.Deferred})
	}
	return httpmodel.Marshal(r)
}

// talk fills in the conversation. System messages before it become the system
// prompt; those within and after it keep their place, as text of the user: at the
// front, each change of them would invalidate the whole cached prefix.
func (r *request) talk(messages []*model.Message, tools *[]httpmodel.Tool) error {
	for _, m := range messages {
		if m.Tools != nil {
			more, err := httpmodel.ReadTools(m.Tools)
			if err != nil {
				return err
			}
			*tools = httpmodel.AddTools(*tools, more)
			continue
		}
		switch m.Role {
		case "system":
			if len(r.Messages) == 0 {
				r.System = append(r.System, texts(m)...)
			} else {
				r.add("user", note(m)...)
			}
		case "assistant":
			r.add("assistant", assistant(m, sealer(model.Profile{Model: r.Model}))...)
		case "tool":
			r.add("user", result(m))
		default:
			r.add("user", user(m)...)
		}
	}
	return nil
}

// add appends blocks to the role's message, which is a new one only when the last
// message has the other role. The user comes first, and results come before the
// user's other blocks.
func (r *request) add(role string, blocks ...block) {
	if len(blocks) == 0 {
		return
	}
	if len(r.Messages) == 0 && role == "assistant" {
		r.Messages = append(r.Messages, message{Role: "user", Content: []block{{Type: "text", Text: "(the conversation goes on)"}}})
	}
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
		r.Messages[n-1].Content = append(r.Messages[n-1].Content, blocks...)
		return
	}
	r.Messages = append(r.Messages, message{Role: role, Content: slices.Clone(blocks)})
}

// texts returns a message's texts as blocks, without blank ones, which the API
// refuses.
func texts(m *model.Message) []block {
	var out []block
	for _, part := range m.Content {
		if part.File == nil && strings.TrimSpace(part.Text) != "" {
			b := block{Type: "text", Text: part.Text}
			if part.Cache {
				b.Cache = breakpoint()
			}
			out = append(out, b)
		}
	}
	return out
}

// note returns a system message as text of the user.
func note(m *model.Message) []block {
	out := texts(m)
	for i := range out {
		out[i].Text = "<system>\n" + out[i].Text + "\n</system>"
	}
	return out
}

// assistant returns what the model said, in its order: signed thinking, unchanged
// or not at all, text and calls.
func assistant(m *model.Message, by string) []block {
	var out []block
	for _, piece := range httpmodel.Segments(m, by) {
		switch {
		case piece.Sealed != nil:
			out = append(out, block{raw: piece.Sealed})
		case piece.Call != nil:
			c := piece.Call
			out = append(out, block{Type: "tool_use", ID: safeID(c.ID), Name: c.Name, Input: object(c.Arguments)})
		case strings.TrimSpace(piece.Text) != "":
			// The API refuses text of the model's that ends in white space.
			out = append(out, block{Type: "text", Text: strings.TrimRight(piece.Text, " \t\r\n")})
		}
	}
	return out
}

// result returns a tool's result as a block.
func result(m *model.Message) block {
	b := block{Type: "tool_result", ToolUseID: safeID(m.CallID)}
	if len(m.References) > 0 {
		for _, name := range m.References {
			b.Content = append(b.Content, block{Type: "tool_reference", ToolName: name})
		}
		return b
	}
	b.Content = texts(m)
	b.IsError = strings.HasPrefix(m.Text(), "Error: ")
	return b
}

// user returns a person's text and files.
func user(m *model.Message) []block {
	var out []block
	for _, part := range m.Content {
		f := part.File
		if f == nil {
			if strings.TrimSpace(part.Text) != "" {
				out = append(out, block{Type: "text", Text: part.Text})
			}
			continue
		}
		src := &source{Type: "base64", MediaType: f.MIME, Data: f.Data}
		switch {
		case f.URL == "" && f.Kind == model.Image:
			out = append(out, block{Type: "image", Source: src})
		case f.URL == "" && f.Kind == model.Document:
			out = append(out, block{Type: "document", Title: f.Name, Source: src})
		default:
			out = append(out, block{Type: "text", Text: "[a " + f.Kind + " is not shown: the Messages API does not take it in this form]"})
		}
	}
	return out
}

// cacheEnd marks the last block that can carry a breakpoint, so that the next
// request of the conversation finds all before it in the cache.
func cacheEnd(messages []message) {
	for i := len(messages) - 1; i >= 0; i-- {
		blocks := messages[i].Content
		for j := len(blocks) - 1; j >= 0; j-- {
			if b := &blocks[j]; b.raw == nil && !strings.HasPrefix(b.Text, "<system>\n") {
				b.Cache = breakpoint()
				return
			}
		}
	}
}

// object returns a call's arguments; the projection ensures that they are an object.
func object(arguments string) jsontext.Value {
	raw := jsontext.Value(bytes.TrimSpace([]byte(arguments)))
	if raw.Kind() != '{' || !raw.IsValid() {
		return jsontext.Value("{}")
	}
	return raw
}

// safeID returns an id in the characters that the API accepts; calls of another
// provider may have others. Different ids stay different.
func safeID(id string) string {
	b := []byte(id)
	for i, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			b[i] = '_'
		}
	}
	if string(b) == id {
		return id
	}
	h := uint32(2166136261) // FNV-1a
	for _, c := range []byte(id) {
		h = (h ^ uint32(c)) * 16777619
	}
	return fmt.Sprintf("%s_%08x", b, h)
}
