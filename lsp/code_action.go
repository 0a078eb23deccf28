package lsp

import (
	"context"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The kinds of the server's code actions.
const (
	kindFix = "quickfix"
	kindAsk = "agent.ask"
)

// lspCommand and codeAction are those of the protocol, with the client's own
// spelling of URIs and its diagnostics as they came.
type lspCommand struct {
	Title     string           `json:"title"`
	Command   string           `json:"command"`
	Arguments []jsontext.Value `json:"arguments"`
}

type codeAction struct {
	Title       string           `json:"title"`
	Kind        string           `json:"kind"`
	Diagnostics []jsontext.Value `json:"diagnostics,omitempty"`
	Command     lspCommand       `json:"command"`
}

// codeAction handles textDocument/codeAction: a fix for the problems at the
// place, and a question about the selection.
func (s *Server) codeAction(_ context.Context, params jsontext.Value) (any, error) {
	p, err := wire.Decode[struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
		Range   checkRange `json:"range"`
		Context struct {
			Diagnostics []jsontext.Value `json:"diagnostics"`
			Only        []string         `json:"only"`
		} `json:"context"`
	}](params)
	if err != nil {
		return nil, err
	}
	uri := p.TextDocument.URI
	var actions []codeAction
	if len(p.Context.Diagnostics) > 0 && wanted(p.Context.Only, kindFix) {
		actions = append(actions, codeAction{
			Title: "Fix with agent", Kind: kindFix, Diagnostics: p.Context.Diagnostics,
			Command: lspCommand{Title: "Fix with agent", Command: "agent.fix", Arguments: argument(fixArgument{uri, p.Context.Diagnostics})},
		})
	}
	if p.Range.Start != p.Range.End && wanted(p.Context.Only, kindAsk) {
		actions = append(actions, codeAction{
			Title: "Ask agent about this", Kind: kindAsk,
			Command: lspCommand{Title: "Ask agent about this", Command: "agent.prompt", Arguments: argument(askArgument{
				Text: askText, Context: []askContext{{uri, p.Range}},
			})},
		})
	}
	return s.encodeActions(actions)
}

// askText is the prompt about a selection: in a plain client the person cannot type
// a question.
const askText = "Explain the selected lines: what they do, and what is wrong or surprising in them. Change nothing."

type fixArgument struct {
	URI         string           `json:"uri"`
	Diagnostics []jsontext.Value `json:"diagnostics"`
}

type askArgument struct {
	Text    string       `json:"text"`
	Context []askContext `json:"context"`
}

type askContext struct {
	URI   string     `json:"uri"`
	Range checkRange `json:"range"`
}

// argument returns a command's one argument as JSON; its types always encode.
func argument(v any) []jsontext.Value {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return []jsontext.Value{raw}
}

// encodeActions returns the actions as commands to a client without code actions.
func (s *Server) encodeActions(actions []codeAction) (any, error) {
	list := []any{}
	for _, a := range actions {
		if s.client.actions {
			list = append(list, a)
		} else {
			list = append(list, a.Command)
		}
	}
	raw, err := json.Marshal(list, json.Deterministic(true))
	return jsontext.Value(raw), err
}

// wanted reports whether a client's filter of kinds includes a kind: each kind
// stands for those below it, too.
func wanted(only []string, kind string) bool {
	if len(only) == 0 {
		return true
	}
	for _, o := range only {
		if o == "" || o == kind || strings.HasPrefix(kind, o+".") {
			return true
		}
	}
	return false
}
