package wire

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// codec encodes payloads as the protocol's types require; the library's own codec is
// not exported. Encoded JSON is passed on unchanged.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case jsonrpc2.RawMessage:
		return orNull(v), nil
	case jsontext.Value:
		return orNull(v), nil
	}
	return protocol.Marshal(v)
}

func (codec) Unmarshal(data []byte, v any) error {
	switch v := v.(type) {
	case *jsonrpc2.RawMessage:
		*v = bytes.Clone(data)
		return nil
	case *jsontext.Value:
		*v = bytes.Clone(data)
		return nil
	}
	return protocol.Unmarshal(data, v)
}

func orNull(v []byte) []byte {
	if len(v) == 0 {
		return []byte("null")
	}
	return v
}
