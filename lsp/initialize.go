package lsp

import (
	"context"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// initialize handles initialize: it replies with the server's capabilities and
// starts nothing.
func (s *Server) initialize(_ context.Context, params jsontext.Value) (any, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(params, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, wire.InvalidParams("initialize: %v", err)
	}
	for name, v := range members {
		if v.Kind() == 'n' {
			delete(members, name)
		}
	}
	s.client = readClient(members)
	options := members["initializationOptions"].Clone()
	s.client.savesEdits = tree(options).flag("savesEdits")
	for _, name := range folderURIs(members) {
		if err := s.editor.Folders.Add(name); err != nil {
			s.log.Warn("a workspace folder is left out", "err", err)
		}
	}
	s.start(options)
	return &protocol.InitializeResult{
		Capabilities: s.capabilities(),
		ServerInfo:   protocol.ServerInfo{Name: "agent-lsp", Version: protocol.NewOptional(s.config.Version)},
	}, nil
}

// folderURIs returns the client's workspace folders, in its spelling. A client
// without workspace folders has a root instead.
func folderURIs(members map[string]jsontext.Value) []string {
	if list, ok := tree(members["workspaceFolders"]).v.([]any); ok {
		var uris []string
		for _, x := range list {
			if u := (node{x}).text("uri"); u != "" {
				uris = append(uris, u)
			}
		}
		return uris
	}
	if u := tree(members["rootUri"]).text(); u != "" {
		return []string{u}
	}
	if p := tree(members["rootPath"]).text(); p != "" {
		return []string{text.URI(p)}
	}
	return nil
}

// capabilities returns the server's capabilities for this client.
func (s *Server) capabilities() protocol.ServerCapabilities {
	c := protocol.ServerCapabilities{
		PositionEncoding: s.client.Encoding.Kind(),
		TextDocumentSync: &protocol.TextDocumentSyncOptions{
			OpenClose: new(true),
			Change:    new(protocol.TextDocumentSyncKindIncremental),
			Save:      &protocol.SaveOptions{IncludeText: new(false)},
		},
		ExecuteCommandProvider: protocol.ExecuteCommandOptions{Commands: commandNames()},
		CodeActionProvider:     protocol.Boolean(true),
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported: new(true), ChangeNotifications: protocol.Boolean(true),
			},
			TextDocumentContent: &protocol.TextDocumentContentOptions{Schemes: []string{scheme}},
		},
	}
	if s.client.actions {
		c.CodeActionProvider = &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{kindFix, kindAsk}}
	}
	if s.client.fileEvents {
		all := protocol.FileOperationRegistrationOptions{Filters: []protocol.FileOperationFilter{{
			Scheme: new("file"), Pattern: protocol.FileOperationPattern{Glob: "**/*"},
		}}}
		c.Workspace.FileOperations = &protocol.FileOperationOptions{DidRename: all, DidDelete: all}
	}
	return c
}

// initialized handles initialized: it starts what needs the client.
func (s *Server) initialized(context.Context, jsontext.Value) error {
	s.release()
	if !s.client.watchConfig && !s.client.watchFiles && !s.client.configuration {
		return nil
	}
	if !s.client.configuration {
		s.spawn("register capabilities", s.register)
		return nil
	}
	number := s.settingsChanges.Add(1)
	s.inLine("register capabilities", func(at *ticket) {
		replied := s.patience(at)
		s.register()
		s.pullConfiguration(number, replied)
	})
	return nil
}

// register registers for the notifications that a client only sends on request.
func (s *Server) register() {
	type registration struct {
		ID      string `json:"id"`
		Method  string `json:"method"`
		Options any    `json:"registerOptions"`
	}
	var list []registration
	if s.client.watchConfig {
		list = append(list, registration{
			"agent-lsp/configuration", protocol.MethodWorkspaceDidChangeConfiguration,
			map[string]string{"section": s.config.Section},
		})
	}
	if s.client.watchFiles {
		list = append(list, registration{
			"agent-lsp/files", protocol.MethodWorkspaceDidChangeWatchedFiles,
			map[string]any{"watchers": []any{map[string]any{"globPattern": "**/*", "kind": 4}}},
		}) // deletions
	}
	if len(list) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(s.ctx, s.config.Limits.Call)
	defer stop()
	params, err := json.Marshal(map[string]any{"registrations": list}, json.Deterministic(true))
	if err == nil {
		err = s.call(ctx, protocol.MethodClientRegisterCapability, jsontext.Value(params), nil)
	}
	if err != nil && s.ctx.Err() == nil {
		s.log.Warn("the editor did not register for events", "err", err)
	}
}

// didChangeWorkspaceFolders handles workspace/didChangeWorkspaceFolders.
func (s *Server) didChangeWorkspaceFolders(_ context.Context, params jsontext.Value) error {
	type named struct {
		URI string `json:"uri"`
	}
	p, err := wire.Decode[struct {
		Event struct {
			Added   []named `json:"added"`
			Removed []named `json:"removed"`
		} `json:"event"`
	}](params)
	if err != nil {
		return err
	}
	for _, r := range p.Event.Removed {
		if f := s.editor.Folders.Remove(r.URI); f != nil {
			s.spawn("close folder", func() {
				f.Close()
				s.findings.forget(f)
			})
		}
	}
	for _, a := range p.Event.Added {
		if err := s.editor.Folders.Add(a.URI); err != nil {
			s.log.Warn("a workspace folder is left out", "err", err)
		}
	}
	s.inLine("report folders", func(*ticket) {
		if _, err := s.agent(s.ctx); err == nil { // without an engine there is nothing to configure
			s.config.Host.SetFolders(s.editor.Folders.Dirs())
		}
	})
	return nil
}

// didDeleteFiles handles workspace/didDeleteFiles.
func (s *Server) didDeleteFiles(_ context.Context, params jsontext.Value) error {
	p, err := wire.Decode[struct {
		Files []struct {
			URI string `json:"uri"`
		} `json:"files"`
	}](params)
	for _, f := range p.Files {
		s.clearDeleted(f.URI)
	}
	return err
}

// didRenameFiles handles workspace/didRenameFiles.
func (s *Server) didRenameFiles(_ context.Context, params jsontext.Value) error {
	p, err := wire.Decode[struct {
		Files []struct {
			OldURI string `json:"oldUri"`
		} `json:"files"`
	}](params)
	for _, f := range p.Files {
		s.clearDeleted(f.OldURI)
	}
	return err
}

// didChangeWatchedFiles handles workspace/didChangeWatchedFiles, of which only
// deletions matter.
func (s *Server) didChangeWatchedFiles(_ context.Context, params jsontext.Value) error {
	p, err := wire.Decode[struct {
		Changes []struct {
			URI  string `json:"uri"`
			Type int    `json:"type"`
		} `json:"changes"`
	}](params)
	const deleted = 3
	for _, c := range p.Changes {
		if c.Type == deleted {
			s.clearDeleted(c.URI)
		}
	}
	return err
}

// clearDeleted clears the diagnostics of a deleted file.
func (s *Server) clearDeleted(name string) {
	path, err := text.Path(strings.Clone(name))
	if err != nil || !s.findings.some() {
		return
	}
	s.spawn("clear diagnostics", func() { s.findings.removeFile(path) })
}
