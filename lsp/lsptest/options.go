package lsptest

import (
	"path/filepath"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Options say which editor is played. The zero value is one that can do
// everything of the protocol, counts in UTF-16, knows nothing of agents, applies
// edits to its buffers and saves nothing by itself.
type Options struct {
	// Folders are the absolute paths of the workspace folders.
	Folders []string
	// Encodings are offered in this order; none says nothing.
	Encodings []text.Encoding

	NoApplyEdit       bool // cannot take edits
	NoDocumentChanges bool // as Neovim: takes only "changes", or does not say so
	NoCreate          bool // as eglot: no resource operations
	NoProgress        bool // no window/workDoneProgress
	NoShowDocument    bool
	NoContent         bool // no workspace/textDocumentContent
	NoConfiguration   bool // no workspace/configuration
	NoRegistration    bool // nothing is registered dynamically

	Transcript bool // declares experimental.agent.transcript
	Approvals  bool // declares experimental.agent.approvals
	// SavesEdits is told to the server, and done: what an edit touched is saved
	// before the edit is replied to.
	SavesEdits bool

	// Behaviour is how the server's requests are replied to at first.
	Edits     EditAnswer
	Questions []QuestionAnswer // of one question each; then they are dismissed
	Creates   ProgressAnswer

	// Silent are requests that never have a reply, by method, as Neovim leaves those
	// whose handler returns nothing.
	Silent []string

	// VersionStep is what a change adds to a version, 1 by default.
	VersionStep int32
	// ZeroVersion opens documents as version 0 instead of 1.
	ZeroVersion bool
	// EmptyLine has an empty document sent as one empty line, "\n".
	EmptyLine bool
	// ProcessID is told in initialize, 0 as null.
	ProcessID int
	// InitializationOptions are a JSON object for the server. savesEdits is added, and
	// trusted, unless they say otherwise.
	InitializationOptions jsontext.Value
	// Settings are the replies to workspace/configuration, by section.
	Settings map[string]jsontext.Value
	// Capabilities are merged into those that the above makes, member by member,
	// and win; a null takes a member away.
	Capabilities jsontext.Value
	// Timeout of each wait, 30 s by default.
	Timeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.VersionStep == 0 {
		o.VersionStep = 1
	}
	if o.Timeout == 0 {
		o.Timeout = Timeout
	}
	return o
}

type object = map[string]any

// initializeParams are what the editor says of itself.
func (o Options) initializeParams() object {
	folders := []object{}
	for _, f := range o.Folders {
		folders = append(folders, object{"uri": text.URI(f), "name": filepath.Base(f)})
	}
	p := object{
		"processId": nil, "rootUri": nil,
		"clientInfo":       object{"name": "lsptest", "version": "1"},
		"capabilities":     o.capabilities(),
		"workspaceFolders": folders,
	}
	if o.ProcessID != 0 {
		p["processId"] = o.ProcessID
	}
	if len(o.Folders) > 0 {
		p["rootUri"] = text.URI(o.Folders[0])
	}
	options := object{"trusted": true} // a null among the options takes it away
	if o.InitializationOptions != nil {
		merge(options, o.InitializationOptions)
	}
	if o.SavesEdits {
		options["savesEdits"] = true
	}
	p["initializationOptions"] = options
	return p
}

func (o Options) capabilities() object {
	edit := object{"metadataSupport": true, "normalizesLineEndings": true, "failureHandling": "abort"}
	if !o.NoDocumentChanges {
		edit["documentChanges"] = true
		if !o.NoCreate {
			edit["resourceOperations"] = []string{"create", "rename", "delete"}
		}
	}
	dynamic := object{"dynamicRegistration": !o.NoRegistration}
	workspace := object{
		"applyEdit": !o.NoApplyEdit, "workspaceEdit": edit, "workspaceFolders": true, "configuration": !o.NoConfiguration,
		"didChangeConfiguration": dynamic, "didChangeWatchedFiles": dynamic, "executeCommand": object{},
	}
	if !o.NoContent {
		workspace["textDocumentContent"] = object{"dynamicRegistration": false}
	}
	caps := object{
		"workspace": workspace,
		"window":    object{"workDoneProgress": !o.NoProgress, "showDocument": object{"support": !o.NoShowDocument}, "showMessage": object{}},
		"textDocument": object{
			"synchronization":    object{"didSave": true},
			"publishDiagnostics": object{"relatedInformation": true, "versionSupport": true, "codeDescriptionSupport": true},
			"codeAction":         object{"codeActionLiteralSupport": object{"codeActionKind": object{"valueSet": []string{"quickfix", "refactor"}}}},
		},
	}
	if len(o.Encodings) > 0 {
		names := []string{}
		for _, e := range o.Encodings {
			names = append(names, e.String())
		}
		caps["general"] = object{"positionEncodings": names}
	}
	if o.Transcript || o.Approvals {
		caps["experimental"] = object{"agent": object{"transcript": o.Transcript, "approvals": o.Approvals}}
	}
	if o.Capabilities != nil {
		merge(caps, o.Capabilities)
	}
	return caps
}

// merge puts the members of a JSON object into another, deeply.
func merge(into object, from jsontext.Value) {
	var members object
	if err := json.Unmarshal(from, &members); err != nil {
		panic("lsptest: options that are no JSON object: " + err.Error())
	}
	mergeObject(into, members)
}

func mergeObject(into, from object) {
	for name, v := range from {
		if v == nil {
			delete(into, name)
			continue
		}
		old, ok := into[name].(object)
		if sub, isObject := v.(object); ok && isObject {
			mergeObject(old, sub)
			continue
		}
		into[name] = v
	}
}

// Initialize sends initialize and initialized, and returns the result.
func (e *Editor) Initialize() jsontext.Value {
	result, err := e.Call("initialize", e.options.initializeParams())
	if err != nil {
		e.fatalf("initialize was refused: %v", err)
	}
	encoding, perr := text.ParseEncoding(get[protocolEncoding](result, "capabilities", "positionEncoding"))
	if perr != nil {
		e.fatalf("initialize: %v", perr)
	}
	if encoding != text.UTF16 && !contains(e.options.Encodings, encoding) {
		e.fatalf("the server counts in %s, which was not offered", encoding)
	}
	e.mu.Lock()
	e.encoding = encoding
	e.mu.Unlock()
	e.Notify("initialized", object{})
	return result
}
