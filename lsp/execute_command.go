package lsp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// command runs one of the commands of workspace/executeCommand on its argument
// and returns its result.
type command func(s commands, ctx context.Context, a *arguments) (any, error)

// commands implements the commands of workspace/executeCommand.
type commands struct{ *Server }

// commandTable is all commands by name. Each is in the file of its family.
var commandTable = map[string]command{
	"agent.prompt":          commands.prompt,
	"agent.cancel":          commands.cancel,
	"agent.fix":             commands.fix,
	"agent.steer":           commands.steer,
	"agent.queue":           commands.queue,
	"agent.session.new":     commands.sessionNew,
	"agent.session.list":    commands.sessionList,
	"agent.session.resume":  commands.sessionResume,
	"agent.session.close":   commands.sessionClose,
	"agent.session.delete":  commands.sessionDelete,
	"agent.transcript":      commands.transcript,
	"agent.transcript.open": commands.transcriptOpen,
	"agent.undo":            commands.undo,
	"agent.mode":            commands.mode,
	"agent.plan.accept":     commands.planAccept,
	"agent.profiles":        commands.profiles,
	"agent.rules":           commands.rules,
	"agent.profile.select":  commands.profileSelect,
	"agent.check":           commands.check,
	"agent.status":          commands.status,
}

// commandNames are the names of all commands, sorted.
func commandNames() []string { return slices.Sorted(maps.Keys(commandTable)) }

// empty is the result of a command without any.
type empty struct{}

// executeCommand handles workspace/executeCommand. A command sees the documents as
// they are when it arrives. It begins when the commands before it have returned, or
// have left the line because they only wait.
func (s *Server) executeCommand(params jsontext.Value) wire.Handler {
	docs := s.editor.Snapshot()
	if commandName(params) == "agent.status" { // a status bar must not wait
		return func(ctx context.Context, params jsontext.Value) (any, error) {
			return commands{s}.runCommand(ctx, params, docs, nil)
		}
	}
	at := s.line.join()
	return func(ctx context.Context, params jsontext.Value) (any, error) {
		defer at.leave()
		if err := at.reach(ctx); err != nil {
			return nil, err
		}
		return commands{s}.runCommand(ctx, params, docs, at)
	}
}

// commandName returns the command of the params of workspace/executeCommand, "" if
// they are invalid.
func commandName(params jsontext.Value) string {
	p, _ := wire.Decode[struct {
		Command string `json:"command"`
	}](params)
	return p.Command
}

func (s commands) runCommand(ctx context.Context, params jsontext.Value, docs editor.Snapshot, at *ticket) (any, error) {
	var p struct {
		Command   string           `json:"command"`
		Arguments []jsontext.Value `json:"arguments"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.InvalidParams("workspace/executeCommand: %v", err)
	}
	run, ok := commandTable[p.Command]
	if !ok {
		return nil, wire.InvalidParams("command: there is no %q, only %s", p.Command, strings.Join(commandNames(), ", "))
	}
	a := readArguments(p.Arguments)
	a.docs, a.ticket = docs, at
	result, err := run(s, ctx, a)
	if err != nil {
		return nil, commandError(p.Command, err)
	}
	raw, err := json.Marshal(result, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode the result of %s: %w", p.Command, err)
	}
	return jsontext.Value(raw), nil
}

// commandError converts an error to the one that the client gets.
func commandError(name string, err error) error {
	var bad *session.ArgumentError
	if errors.As(err, &bad) {
		return wire.InvalidParams("%s: %v", name, bad)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// root returns the folder that a member names, nil when it is absent.
func (s commands) rootArgument(a *arguments) *editor.Folder {
	name, ok := a.optionalText("root")
	if !ok {
		return nil
	}
	x := s.editor.Folders.Named(name)
	if x == nil {
		a.fail("root", "%q is not a workspace folder of this editor: it has %s", name, s.folderNames())
	}
	return x
}

// defaultRoot returns the folder for a command that names none.
func (s commands) defaultRoot() (*editor.Folder, error) {
	if all := s.editor.Folders.All(); len(all) > 0 {
		return all[0], nil
	}
	return nil, &session.ArgumentError{Member: "root", Text: "the editor has no workspace folder open: open one"}
}

// folderNames returns the client's workspace folders, for an error message.
func (s commands) folderNames() string {
	if dirs := s.editor.Folders.Dirs(); len(dirs) > 0 {
		return strings.Join(dirs, ", ")
	}
	return "none"
}

// own returns nil if this client may use a session: it belongs to one of the
// client's folders, or its folder is not known, which the engine then judges.
func (s commands) own(ctx context.Context, engine Engine, id uuid.UUID) error {
	root, ok := s.roots.of(id)
	if !ok || root != "" && s.editor.Folders.Named(root) == nil { // it may have been moved since
		l, err := engine.List(ctx)
		if err != nil {
			return err
		}
		for _, info := range l.Sessions {
			s.roots.learn(info.ID, info.Root)
		}
		if root, ok = s.roots.of(id); !ok {
			return nil
		}
	}
	if root != "" && s.editor.Folders.Named(root) == nil {
		return &session.ArgumentError{Member: "session", Text: fmt.Sprintf("%s belongs to %s, which is not a workspace folder of this editor; to go on with it in another one: agent-lsp sessions move %s FOLDER", id, root, id)}
	}
	return nil
}

// on checks that a command's argument is read completely, and returns the engine.
func (s commands) on(ctx context.Context, a *arguments) (Engine, error) {
	if err := a.done(); err != nil {
		return nil, err
	}
	return s.agent(ctx)
}
