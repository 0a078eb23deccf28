package lsp

import (
	"github.com/go-json-experiment/json"
)

func unmarshal(s string, v any) error { return json.Unmarshal([]byte(s), v) }

func marshal(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(b)
}
