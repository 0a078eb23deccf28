package model

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Definition is a tool as Request.Tools has it:
// {"type":"function","function":{name, description, parameters}}, where parameters
// is a JSON Schema. Equal arguments give equal bytes.
func Definition(name, description string, parameters jsontext.Value) jsontext.Value {
	type function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
	}
	out, err := json.Marshal(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{name, description, parameters}}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic("model: write the definition of " + name + ": " + err.Error())
	}
	return out
}
