package session

import (
	"time"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// Prompt starts a turn. Without a Session the most recent one of Root is used,
// or a new one is made.
type Prompt struct {
	Session *uuid.UUID
	Root    string // absolute path of a workspace folder
	Text    string
	Context []event.Context
}

// TurnResult is how a turn ended.
type TurnResult struct {
	Outcome string // "complete", "cancelled" or "failed"
	Text    string // what the agent said last; the reason when it was cancelled by a failure
}

// NewSession makes a session. Empty members take their defaults.
type NewSession struct {
	Root    string
	Profile string
	Title   string
}

// Info is one session of a listing.
type Info struct {
	ID        uuid.UUID   `json:"session"`
	Root      string      `json:"root"`
	Title     string      `json:"title"`
	Profile   string      `json:"profile"`
	CreatedAt time.Time   `json:"createdAt"`
	UpdatedAt time.Time   `json:"updatedAt"`
	Turns     uint64      `json:"turns"`
	State     string      `json:"state"`           // "running", "waiting", "idle" or "stored"
	Mode      string      `json:"mode,omitempty"`  // of a session that is open here
	Jobs      []tools.Job `json:"jobs,omitempty"`  // what runs in the background
	Meter     *Meter      `json:"meter,omitempty"` // of a session that is open; in Status only
}

// Listing is all sessions that this client may see, ordered by creation, then
// id, and the records that could not be read.
type Listing struct {
	Sessions    []Info
	Undecodable []store.Undecodable
}

// Resumed says where a resumed session stands.
type Resumed struct {
	Head uint64
	// State is "idle", or "running" when a turn goes on.
	State string
	// Interrupted names the calls that were not run again, one sentence each.
	Interrupted []string
}

// Entry is one transcript event as clients see it.
type Entry struct {
	Index uint64         `json:"index"`
	At    time.Time      `json:"at"`
	Event jsontext.Value `json:"event"`
}

// ModeRequest switches the mode of a session, or of the most recent one of Root. An
// empty Mode switches nothing.
type ModeRequest struct {
	Session *uuid.UUID
	Root    string
	Mode    string
}

// AcceptRequest starts the work of a plan. An empty Mode is the one before the mode
// plan, and an empty Text the plan as the model gave it.
type AcceptRequest struct {
	Session *uuid.UUID
	Root    string
	Mode    string
	Text    string
}

// UndoRequest names what to revert: a turn's edits, or the one edit whose result
// has this transcript index. Without a turn the last one that edited is meant.
type UndoRequest struct {
	Session *uuid.UUID
	Root    string
	Turn    *uint64
	Edit    *uint64
}

// Undone says what an undo did.
type Undone struct {
	Session uuid.UUID `json:"session"`
	Turn    uint64    `json:"turn"`
	Files   []string  `json:"files"`
	// NotCovered are files that a command changed, which undo does not revert.
	NotCovered []string `json:"notCovered"`
}

// ProfileInfo is one model profile for a picker.
type ProfileInfo struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Selected bool   `json:"selected"`
	// Context is the model's window in tokens, 0 when unknown; Price is nil then.
	Context int          `json:"context,omitzero"`
	Price   *model.Price `json:"price,omitempty"`
	// Models are all of the provider's, where the provider is known.
	Models []model.Known `json:"models,omitempty"`
}

// Status is for a status bar and for bug reports. It has no secret in it.
type Status struct {
	Sessions []Info          `json:"sessions"`
	Turns    []RunningTurn   `json:"turns"`
	Checks   []CheckerStatus `json:"checks"`
	Core     string          `json:"core"`  // "ready" to be opened by the first session, or open; else why it could not be
	Store    string          `json:"store"` // "opening", "ready", or why sessions are not saved
	Usage    Usage           `json:"usage"` // of the sessions that are open
}

// RunningTurn is a turn that runs or waits.
type RunningTurn struct {
	Session uuid.UUID `json:"session"`
	Turn    uint64    `json:"turn"`
	Prompt  string    `json:"prompt"`
	Doing   string    `json:"doing"`
}

// CheckerStatus is the last check of a root.
type CheckerStatus struct {
	Root    string `json:"root"`
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
}

// Usage is what replies of models used.
type Usage struct {
	Input       uint64  `json:"input"` // cachedInput included
	CachedInput uint64  `json:"cachedInput"`
	Output      uint64  `json:"output"`             // reasoning included
	Reasoning   uint64  `json:"reasoning"`          // tokens, as the others
	Cost        float64 `json:"cost,omitzero"`      // US dollars, by the prices of the profiles
	Estimated   bool    `json:"estimated,omitzero"` // a provider gave no figures
}

func (u *Usage) add(other Usage) {
	u.Input += other.Input
	u.CachedInput += other.CachedInput
	u.Output += other.Output
	u.Reasoning += other.Reasoning
	u.Cost += other.Cost
	u.Estimated = u.Estimated || other.Estimated
}

// Meter is what a session used.
type Meter struct {
	Session uuid.UUID `json:"session"`
	Turn    uint64    `json:"turn"` // the last one that a model replied to
	Usage   Usage     `json:"usage"`
	Total   Usage     `json:"total"` // of the session
	Context Context   `json:"context"`
}

// Context is how much of the model's window the conversation fills, in tokens.
type Context struct {
	Used uint64 `json:"used"`          // by the last request and its reply
	Size uint64 `json:"size,omitzero"` // of the profile; 0: unknown
}

// ArgumentError is an argument that does not fit; Member names it.
type ArgumentError struct {
	Member string
	Text   string
}

func (e *ArgumentError) Error() string { return e.Member + ": " + e.Text }
