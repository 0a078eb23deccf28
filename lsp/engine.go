package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// Host is what the server needs of the agent behind it: its settings, and the engine
// that follows them. What the settings are warned about goes to the log. A call that
// changes settings returns when they are in effect, because a command that the client
// sent afterwards begins then; calls may overlap.
type Host interface {
	// Start takes the client's initializationOptions, nil when there are none, and the
	// absolute paths of its workspace folders, and makes the engine that the commands
	// run on. It is called once, before Configure and SetFolders, on its own goroutine:
	// requests that need the engine wait for it, the reply to initialize does not. Its
	// error is what those requests return. The host's owner ends the engine as soon as
	// Serve has returned: calls that wait for the client, in Approve and
	// Workspace.Apply, wait for that end then.
	Start(editor session.Editor, options jsontext.Value, folders []string) (Engine, error)
	// Configure takes the client's settings for this server, the JSON of its section
	// agentLsp, whenever they are read or change. Number grows with each change that
	// the client told: settings that come after newer ones are stale.
	Configure(number uint64, settings jsontext.Value)
	// SetFolders takes the workspace folders after they changed.
	SetFolders(folders []string)
	// SavesEdits reports whether the settings, of which layer ever, have the client
	// save what an edit touched before it replies; a client that says so in its
	// initializationOptions needs no settings.
	SavesEdits() bool
	// AllowRules returns the rules of the settings by which calls run unasked.
	AllowRules() []Rule
	// RemoveRule takes such a rule, as AllowRules spells it, out of the person's own
	// file. It returns a *session.ArgumentError for a rule that is not there.
	RemoveRule(rule string) error
}

// Rule is a rule of the settings as it is written there, and where that is.
type Rule struct {
	Rule   string `json:"rule"`
	Origin string `json:"origin"`
}

// Engine is the session engine as the commands call it. Its methods are safe for
// concurrent use and return when their context ends. For an invalid argument they
// return a *session.ArgumentError, which reaches the client as -32602 and names the
// member; any other error reaches it as -32803.
type Engine interface {
	// Prompt starts a turn and returns its session and number at once.
	Prompt(ctx context.Context, p session.Prompt) (id uuid.UUID, turn uint64, err error)
	// Wait returns after the turn's end.
	Wait(ctx context.Context, id uuid.UUID, turn uint64) (session.TurnResult, error)
	// Cancel stops a turn, the running one without a number; without a session it
	// stops whatever runs. It reports whether there was anything to stop.
	Cancel(ctx context.Context, id *uuid.UUID, turn *uint64) (bool, error)
	// Steer says something into the turn that runs, whose number it returns. Without an
	// id the session of root that was used last is meant.
	Steer(ctx context.Context, id *uuid.UUID, root, text string) (session uuid.UUID, turn uint64, err error)
	// Queue changes the prompts that wait in a session, found like Steer's, and returns
	// those that are left, the next one first.
	Queue(ctx context.Context, id *uuid.UUID, root string, c session.QueueChange) (uuid.UUID, []session.QueueEntry, error)
	// New creates a session.
	New(ctx context.Context, n session.NewSession) (uuid.UUID, error)
	// List returns the sessions in order of creation, then id.
	List(ctx context.Context) (session.Listing, error)
	// Resume loads a stored session.
	Resume(ctx context.Context, id uuid.UUID) (session.Resumed, error)
	// Close releases a session and keeps its record.
	Close(ctx context.Context, id uuid.UUID) error
	// Delete removes a session and its transcript.
	Delete(ctx context.Context, id uuid.UUID) error
	// Transcript returns the entries after an index, nil for all, and the next index.
	Transcript(ctx context.Context, id uuid.UUID, after *uint64) (entries []session.Entry, head uint64, err error)
	// Undo reverts a turn's edits, or one of them.
	Undo(ctx context.Context, r session.UndoRequest) (session.Undone, error)
	// Mode switches a session's mode if the request names one, for the calls that
	// follow, and returns the session and the mode that is in force.
	Mode(ctx context.Context, r session.ModeRequest) (id uuid.UUID, mode string, err error)
	// AcceptPlan starts a turn that carries out a session's plan.
	AcceptPlan(ctx context.Context, r session.AcceptRequest) (id uuid.UUID, turn uint64, err error)
	// Profiles returns the model profiles.
	Profiles() []session.ProfileInfo
	// SelectProfile sets the profile of new sessions, and of those that run from their
	// next turn on.
	SelectProfile(ctx context.Context, sel session.Selection) error
	// Check runs the checkers of a workspace folder now, one result for each root
	// in it, and reports them to Editor.Findings too.
	Check(ctx context.Context, folder string) ([]checker.Result, error)
	// Status returns the state of the engine, without secrets.
	Status() session.Status
}
