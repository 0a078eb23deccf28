// Package session is the engine that performs what the core asks: it runs turns,
// keeps the transcript, asks models, runs tools and the checker, and survives
// crashes. It knows no editor protocol: what it needs of an editor is Editor.
package session

import (
	"context"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/google/uuid"
)

// Editor is what the engine needs of whoever owns the documents. The lsp package
// implements it. Event, Delta, Findings and Progress must not block for long:
// they are called from the session's own goroutine, in order.
type Editor interface {
	// Workspace returns the root's documents and files. The editor owns it.
	Workspace(root string) (tools.Workspace, error)
	// Approve asks the person; an unanswerable question is a Deny.
	Approve(ctx context.Context, q Question) Answer
	// Ask asks the person what the model wants to know; a question that cannot be
	// asked or that nobody answers is dismissed.
	Ask(ctx context.Context, q Inquiry) Reply
	// State describes the editor now, for the model: open and unsaved documents and
	// the root's current findings. What is selected comes with a prompt's context,
	// as editors report it to no server otherwise. Empty when there is nothing to say.
	State(root string) string
	// Event reports a transcript entry after it was stored.
	Event(session uuid.UUID, root string, e store.Event, p event.Payload)
	// Usage reports what a session used, after each reply of a model.
	Usage(m Meter)
	// Delta reports streamed text that is not stored.
	Delta(session uuid.UUID, turn uint64, text string)
	// Findings replaces what is shown for a root by the result's findings, unless
	// its outcome is Failed or Skipped, which are only said.
	Findings(workspace string, r checker.Result)
	// Unsaved returns the texts of open, unsaved documents below a directory by
	// absolute path, for checkers that can take them.
	Unsaved(root string) map[string]string
}

// Question is a call that needs a person's word. One without an ID asks whether
// the session may go on: although it cannot be saved, or beyond what it may cost.
type Question struct {
	Session uuid.UUID
	Turn    uint64
	ID      uint64 // the core's call, from 1
	Title   string
	Detail  string // the whole command with its cwd, or the diff, and what lasting decisions cover
	// Plain says that the question is about no call and is put as a message in every
	// client.
	Plain bool
	// Decisions are those that the person may make, in the order to show them.
	Decisions []Decision
	// Choices say what each of Decisions is called; none means the usual names.
	Choices []Choice
}

// Choice is a decision as a person is offered it.
type Choice struct {
	Decision Decision
	Label    string
}

// Decision is what a person decided.
type Decision string

// The decisions.
const (
	AllowOnce    Decision = "allow_once"
	AllowSession Decision = "allow_session" // what the question says of the session
	AllowAlways  Decision = "allow_always"  // the rule that the question shows, from now on
	Deny         Decision = "deny"
)

// Answer is a decision with a reason, which may be empty.
type Answer struct {
	Decision Decision
	Reason   string
}
