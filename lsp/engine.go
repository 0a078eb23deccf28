package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/google/uuid"
)

// Engine is what the commands need of the session engine. Its methods are safe
// for concurrent use and end when their context does. An argument that does not
// fit is answered with a *session.ArgumentError, which reaches the client as
// -32602 naming the member; any other error reaches it as -32803.
type Engine interface {
	// Prompt starts a turn and answers its session and number at once.
	Prompt(ctx context.Context, p session.Prompt) (id uuid.UUID, turn uint64, err error)
	// Wait answers after the turn's end.
	Wait(ctx context.Context, id uuid.UUID, turn uint64) (session.TurnResult, error)
	// Cancel stops a turn, the running one without a number; without a session it
	// stops whatever runs. It answers whether there was anything to stop.
	Cancel(ctx context.Context, id *uuid.UUID, turn *uint64) (bool, error)
	// New makes a session.
	New(ctx context.Context, n session.NewSession) (uuid.UUID, error)
	// List answers the sessions in order of creation, then id.
	List(ctx context.Context) (session.Listing, error)
	// Resume brings a stored session back.
	Resume(ctx context.Context, id uuid.UUID) (session.Resumed, error)
	// Close releases a session and keeps its record.
	Close(ctx context.Context, id uuid.UUID) error
	// Delete removes a session and its transcript.
	Delete(ctx context.Context, id uuid.UUID) error
	// Transcript answers the entries after an index, nil for all, and the next index.
	Transcript(ctx context.Context, id uuid.UUID, after *uint64) (entries []session.Entry, head uint64, err error)
	// Undo reverts a turn's edits, or one of them.
	Undo(ctx context.Context, r session.UndoRequest) (session.Undone, error)
	// Profiles lists the model profiles.
	Profiles() []session.ProfileInfo
	// SelectProfile sets the profile of new sessions.
	SelectProfile(ctx context.Context, name string) error
	// Check runs the checkers of a workspace folder now, one result for each root
	// in it, and reports them to Editor.Findings too.
	Check(ctx context.Context, folder string) ([]checker.Result, error)
	// Status describes the engine, without secrets.
	Status() session.Status
}
