package httpmodel

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Message is a projected message, read for a provider of another shape.
type Message struct {
	Role       string           `json:"role"` // system, user, assistant, tool
	Content    []Part           `json:"-"`
	Reasoning  string           `json:"reasoning_content"`
	Calls      []Call           `json:"tool_calls"`
	CallID     string           `json:"tool_call_id"`     // of the call that a tool message answers
	References []string         `json:"_tool_references"` // tools that the result brings in
	Sealed     jsontext.Value   `json:"_sealed"`          // of an assistant's message, see Seal
	Tools      []jsontext.Value `json:"tools"`            // of a system message that has no content
}

// Part is a piece of a message's content: text, or a file.
type Part struct {
	Text  string
	Cache bool   // the provider's cache may end here
	Kind  string // "" for text, else "image", "video" or "file"
	Name  string
	URL   string // of a file: a data URL
}

// Call is a call that the model made.
type Call struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Read reads projected messages. The error is of kind BadRequest: they are ours.
func Read(wire []jsontext.Value) ([]Message, error) {
	out := make([]Message, len(wire))
	for i, raw := range wire {
		var m struct {
			Message
			Content jsontext.Value `json:"content"`
		}
		err := json.Unmarshal(raw, &m, Lenient)
		if err == nil {
			m.Message.Content, err = parts(m.Content)
		}
		if err != nil {
			return nil, &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf("message %d of the request cannot be read: %v", i+1, err)}
		}
		out[i] = m.Message
	}
	return out, nil
}

// Text is the message's text, its parts one below the other.
func (m *Message) Text() string {
	if len(m.Content) == 1 {
		return m.Content[0].Text
	}
	var texts []string
	for _, p := range m.Content {
		if p.Kind == "" && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Data is a data URL's type and content, which stays in base64.
func (p *Part) Data() (mime, data string, ok bool) {
	head, data, ok := strings.Cut(strings.TrimPrefix(p.URL, "data:"), ",")
	mime, coded := strings.CutSuffix(head, ";base64")
	if !ok || !coded || !strings.HasPrefix(p.URL, "data:") {
		return "", "", false
	}
	_, err := base64.StdEncoding.DecodeString(data)
	return mime, data, err == nil
}

func parts(raw jsontext.Value) ([]Part, error) {
	if raw == nil || raw.Kind() == 'n' {
		return nil, nil
	}
	if raw.Kind() == '"' {
		var text Text
		err := json.Unmarshal(raw, &text, Lenient)
		return []Part{{Text: string(text)}}, err
	}
	type address struct {
		URL string `json:"url"`
	}
	var list []struct {
		Type  string         `json:"type"`
		Text  string         `json:"text"`
		Cache jsontext.Value `json:"cache_control"`
		Image address        `json:"image_url"`
		Video address        `json:"video_url"`
		File  struct {
			Name string `json:"filename"`
			Data string `json:"file_data"`
		} `json:"file"`
	}
	if err := json.Unmarshal(raw, &list, Lenient); err != nil {
		return nil, err
	}
	out := make([]Part, 0, len(list))
	for _, l := range list {
		p := Part{Text: l.Text, Cache: l.Cache != nil}
		switch l.Type {
		case "text":
		case "image_url":
			p.Kind, p.URL = "image", l.Image.URL
		case "video_url":
			p.Kind, p.URL = "video", l.Video.URL
		case "file":
			p.Kind, p.URL, p.Name = "file", l.File.Data, l.File.Name
		default:
			return nil, fmt.Errorf("a part of type %q is not known", l.Type)
		}
		out = append(out, p)
	}
	return out, nil
}

// Tool is a tool's definition.
type Tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
	Deferred    bool           `json:"-"` // the model finds it by a reference only
}

// ReadTools reads definitions in the chat-completions shape.
func ReadTools(defs []jsontext.Value) ([]Tool, error) {
	out := make([]Tool, len(defs))
	for i, raw := range defs {
		var def struct {
			Function Tool `json:"function"`
			Deferred bool `json:"defer_loading"`
		}
		if err := json.Unmarshal(raw, &def, Lenient); err != nil || def.Function.Name == "" {
			return nil, &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf("tool %d of the request has no readable definition", i+1)}
		}
		def.Function.Deferred = def.Deferred
		if def.Function.Parameters == nil {
			def.Function.Parameters = jsontext.Value(`{"type":"object","properties":{}}`)
		}
		out[i] = def.Function
	}
	return out, nil
}

// AddTools appends the tools that are not there yet: providers refuse two of one
// name.
func AddTools(tools, more []Tool) []Tool {
	for _, t := range more {
		if !slices.ContainsFunc(tools, func(o Tool) bool { return o.Name == t.Name }) {
			tools = append(tools, t)
		}
	}
	return tools
}

// Marshal writes a request's body. Equal values give equal bytes.
func Marshal(v any) ([]byte, error) {
	body, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.EscapeForHTML(false), json.Deterministic(true))
	if err != nil {
		return nil, &model.Error{Kind: model.BadRequest, Message: "the request cannot be written: " + err.Error()}
	}
	return body, nil
}
