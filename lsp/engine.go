package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/google/uuid"
)

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
	// Profiles returns the model profiles.
	Profiles() []session.ProfileInfo
	// SelectProfile sets the profile of new sessions.
	SelectProfile(ctx context.Context, name string) error
	// Check runs the checkers of a workspace folder now, one result for each root
	// in it, and reports them to Editor.Findings too.
	Check(ctx context.Context, folder string) ([]checker.Result, error)
	// Status returns the state of the engine, without secrets.
	Status() session.Status
}
