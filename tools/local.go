package tools

import (
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// local makes the absolute path in a call, of a file or a folder of the workspace,
// relative to it: the core knows no other. All else stays, a path that leads outside
// included, which the core refuses.
func (e *Executor) local(op Op, err error) (Op, error) {
	if err != nil {
		return op, err
	}
	name, arguments := Untyped(op)
	var members map[string]jsontext.Value
	if json.Unmarshal([]byte(arguments), &members) != nil {
		return op, nil
	}
	found := false
	for _, member := range []string{"path", "cwd"} {
		var given string
		if json.Unmarshal(members[member], &given) != nil || !filepath.IsAbs(given) {
			continue
		}
		p, err := relative(e.ws.Dir(), given)
		if err != nil {
			continue
		}
		if quoted, err := jsontext.AppendQuote(nil, p); err == nil {
			members[member], found = quoted, true
		}
	}
	if !found {
		return op, nil
	}
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return op, nil //nolint:nilerr // the call as it was given is refused by the core
	}
	return e.tools.Typed(name, string(text))
}
