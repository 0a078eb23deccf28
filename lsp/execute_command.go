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
// and answers its result.
type command func(s commands, ctx context.Context, a *arguments) (any, error)

// commands run the commands of workspace/executeCommand over what the server has.
type commands struct{ *Server }

// commandTable is all commands by name. Each is in the file of its family.
var commandTable = map[string]command{
	"agent.prompt":          commands.prompt,
	"agent.cancel":          commands.cancel,
	"agent.fix":             commands.fix,
	"agent.session.new":     commands.sessionNew,
	"agent.session.list":    commands.sessionList,
	"agent.session.resume":  commands.sessionResume,
	"agent.session.close":   commands.sessionClose,
	"agent.session.delete":  commands.sessionDelete,
	"agent.transcript":      commands.transcript,
	"agent.transcript.open": commands.transcriptOpen,
	"agent.undo":            commands.undo,
	"agent.profiles":        commands.profiles,
	"agent.profile.select":  commands.profileSelect,
	"agent.check":           commands.check,
	"agent.status":          commands.status,
}

// commandNames are sorted.
func commandNames() []string { return slices.Sorted(maps.Keys(commandTable)) }

// empty is the result of a command that has nothing to say.
type empty struct{}

// executeCommand handles workspace/executeCommand. A command sees the documents as
// they are when it arrives, and begins after those before it took effect: when they
// have returned, or have left their place in the line because what remains is to
// wait.
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

// commandName is the command of the params of workspace/executeCommand; "" where
// they do not fit.
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

// commandError gives an error the form that a client gets.
func commandError(name string, err error) error {
	var bad *session.ArgumentError
	if errors.As(err, &bad) {
		return wire.InvalidParams("%s: %v", name, bad)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// root is the folder that a member names; nil when it is absent.
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

// defaultRoot is the folder for a command that names none.
func (s commands) defaultRoot() (*editor.Folder, error) {
	if all := s.editor.Folders.All(); len(all) > 0 {
		return all[0], nil
	}
	return nil, &session.ArgumentError{Member: "root", Text: "the editor has no workspace folder open: open one"}
}

// folderNames are the client's workspace folders, for a message.
func (s commands) folderNames() string {
	if dirs := s.editor.Folders.Dirs(); len(dirs) > 0 {
		return strings.Join(dirs, ", ")
	}
	return "none"
}

// own answers nil if a session may be used from here: it belongs to one of the
// client's folders, or to none that is known, which is for the engine to judge.
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

// on reads a command's argument and gets the engine for it.
func (s commands) on(ctx context.Context, a *arguments) (Engine, error) {
	if err := a.done(); err != nil {
		return nil, err
	}
	return s.agent(ctx)
}
