package lsp

import (
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// client is the capabilities and settings that the client declared in initialize.
// What it did not declare is not used.
type client struct {
	name, version string
	editor.Features

	savesEdits bool // saves the files of an edit before it replies

	progress      bool // accepts window/workDoneProgress/create and $/progress
	showDocument  bool
	content       bool // can show agent: documents
	related       bool // shows a diagnostic's related information
	actions       bool // accepts code actions, not only commands
	configuration bool // replies to workspace/configuration
	watchConfig   bool // registers for configuration changes
	watchFiles    bool // registers for file events
	fileEvents    bool // reports its own renames and deletes

	transcript bool // experimental.agent.transcript
	approvals  bool // experimental.agent.approvals
	questions  bool // experimental.agent.questions
}

// readClient reads the params of initialize. A member of a wrong shape counts as not
// declared: clients deviate from the protocol.
func readClient(params map[string]jsontext.Value) client {
	caps := tree(params["capabilities"])
	info := tree(params["clientInfo"])
	c := client{
		name:    info.text("name"),
		version: info.text("version"),

		Features: editor.Features{
			ApplyEdit:    caps.flag("workspace", "applyEdit"),
			EditMetadata: caps.flag("workspace", "workspaceEdit", "metadataSupport"),
		},

		progress:      caps.flag("window", "workDoneProgress"),
		showDocument:  caps.flag("window", "showDocument", "support"),
		content:       caps.has("workspace", "textDocumentContent"),
		related:       caps.flag("textDocument", "publishDiagnostics", "relatedInformation"),
		actions:       caps.has("textDocument", "codeAction", "codeActionLiteralSupport"),
		configuration: caps.flag("workspace", "configuration"),
		watchConfig:   caps.flag("workspace", "didChangeConfiguration", "dynamicRegistration"),
		watchFiles:    caps.flag("workspace", "didChangeWatchedFiles", "dynamicRegistration"),
		fileEvents:    caps.flag("workspace", "fileOperations", "didDelete") || caps.flag("workspace", "fileOperations", "didRename"),

		transcript: caps.flag("experimental", "agent", "transcript"),
		approvals:  caps.flag("experimental", "agent", "approvals"),
		questions:  caps.flag("experimental", "agent", "questions"),
	}
	versions := caps.flag("workspace", "workspaceEdit", "documentChanges")
	c.Several = versions || caps.text("workspace", "workspaceEdit", "failureHandling") != ""
	operations := caps.texts("workspace", "workspaceEdit", "resourceOperations")
	// Resource operations are sent in documentChanges: a client that supports the
	// former supports the latter, whether or not it declares that.
	c.DocumentChanges = versions || len(operations) > 0
	c.Create = c.ApplyEdit && slices.Contains(operations, string(protocol.ResourceOperationKindCreate))
	c.Remove = c.ApplyEdit && slices.Contains(operations, string(protocol.ResourceOperationKindDelete))
	var offered []protocol.PositionEncodingKind
	for _, k := range caps.texts("general", "positionEncodings") {
		offered = append(offered, protocol.PositionEncodingKind(k))
	}
	c.Encoding = text.Negotiate(offered)
	return c
}

// node is decoded JSON of any shape.
type node struct{ v any }

func tree(raw jsontext.Value) node {
	var n node
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, &n.v) // a value that does not decode declares nothing
	}
	return n
}

func (n node) at(path ...string) any {
	v := n.v
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (n node) flag(path ...string) bool {
	v, _ := n.at(path...).(bool)
	return v
}

func (n node) has(path ...string) bool {
	_, ok := n.at(path...).(map[string]any)
	return ok
}

func (n node) text(path ...string) string {
	v, _ := n.at(path...).(string)
	return strings.Clone(v)
}

func (n node) texts(path ...string) []string {
	list, _ := n.at(path...).([]any)
	var out []string
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// title returns the client's name and version.
func (c client) title() string { return strings.TrimSpace(c.name + " " + c.version) }
