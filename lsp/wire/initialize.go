package wire

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// decodeInitialize reads the params of initialize. A client whose params the
// protocol's decoder refuses for a small fault is served all the same: a member
// that is null is as good as none, and a process id of 1.0 is one.
func decodeInitialize(raw []byte) (*protocol.InitializeParams, error) {
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	p := new(protocol.InitializeParams)
	first := protocol.Unmarshal(raw, p)
	if first == nil {
		return p, nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, InvalidParams("params of initialize: %s", explain(err))
	}
	for name, v := range members {
		if v.Kind() == 'n' {
			delete(members, name)
		}
	}
	if pid := processID(raw); pid > 0 {
		members["processId"] = jsontext.Value(strconv.Itoa(pid))
	} else {
		delete(members, "processId")
	}
	cleaned, err := json.Marshal(members)
	if err != nil {
		return nil, InvalidParams("params of initialize: %s", err)
	}
	p = new(protocol.InitializeParams)
	if err := protocol.Unmarshal(cleaned, p); err != nil {
		return nil, InvalidParams("params of initialize: %s", first)
	}
	return p, nil
}
