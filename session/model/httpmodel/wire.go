package httpmodel

import (
	"fmt"
	"slices"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

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
