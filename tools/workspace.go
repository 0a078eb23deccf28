// Package tools performs the core's actions inside one workspace root: it reads
// and edits files through a Workspace that sees the editor's unsaved buffers,
// runs programs and git, and fetches pages. It never talks to the editor or to a
// model; its outcomes are texts for the model, failures included.
package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// Document is the text of an open buffer, which overlays the file on disk.
type Document struct{ Text string }

// Edit replaces the text of one file.
type Edit struct {
	Path   string // relative to the root, slash separated, clean
	Create bool   // nothing exists at Path yet
	Delete bool   // nothing is to exist at Path afterwards; After is empty
	Before string // the text that After was computed from: the buffer's, else the file's bytes
	After  string
	Open   bool   // Before was taken from a buffer
	Label  string // names the turn, for the editor's undo list
	Told   string // the result's text for the model once the edit is applied and saved
}

// ErrStale says that the text is no longer the edit's Before: nothing was
// changed, and the edit may be computed again.
var ErrStale = errors.New("the text changed meanwhile")

// Applied says how an edit reached the disk.
type Applied struct {
	// Unsaved says that the new text is in the editor's buffer and not on disk.
	Unsaved bool
	// Further says that the text is on disk as it was changed again after the edit,
	// by a formatter for instance that runs when the editor saves.
	Further bool
}

// Workspace is one root as the tools see it: open buffers over the disk. An
// implementation is safe for concurrent use.
type Workspace interface {
	// Dir is the absolute path of the root, as the editor spells it.
	Dir() string
	// Root confines every path. The workspace owns and closes it.
	Root() *os.Root
	// Buffer returns the open document at a clean, slash separated path relative
	// to the root; ok is false when it is not open.
	Buffer(path string) (doc Document, ok bool)
	// Apply performs an edit and returns nil only after it saw the new text in
	// the buffer or in the file. On any error nothing is recorded as written:
	// ErrStale when the text was not Before, else the cause.
	Apply(ctx context.Context, e Edit) (Applied, error)
}

// Opener is what a Workspace implements that knows which documents are open.
type Opener interface {
	// Opened returns the paths of the open documents, as Buffer takes them, in any
	// order. Buffer returns a path's text.
	Opened() []string
}

// Batcher is what a Workspace implements that can perform several edits as one
// step of the editor's undo list: all of them or none.
type Batcher interface {
	ApplyAll(ctx context.Context, edits []Edit) error
}

// ApplyAll performs several edits, all of them or none: as one step where the workspace
// is a Batcher, else one after the other, and those before one that fails are taken
// back.
func ApplyAll(ctx context.Context, ws Workspace, edits []Edit) error {
	if b, ok := ws.(Batcher); ok {
		return b.ApplyAll(ctx, edits)
	}
	for i, e := range edits {
		_, err := ws.Apply(ctx, e)
		if err == nil {
			continue
		}
		err = fmt.Errorf("%s: %w", e.Path, err)
		for _, done := range slices.Backward(edits[:i]) {
			back := Edit{Path: done.Path, Create: done.Delete, Delete: done.Create, Before: done.After, After: done.Before, Open: done.Open, Label: done.Label}
			if _, berr := ws.Apply(context.WithoutCancel(ctx), back); berr != nil {
				err = errors.Join(err, fmt.Errorf("%s keeps the change: %w", done.Path, berr))
			}
		}
		return err
	}
	return nil
}

// State is how a call ended; the values are those of the transcript's results.
type State string

// The states of an outcome.
const (
	Completed State = "completed"
	Failed    State = "failed"
	Rejected  State = "rejected"
	Cancelled State = "cancelled"
)

// Outcome is the result of a call.
type Outcome struct {
	State State
	Text  string // for the model
	// Edit is set when the call changed a file, and More are the further files of one
	// that changed several.
	Edit *Change
	More []*Change
	// ReadHash is the hex SHA-256 of the whole text that the model knows a file to
	// have by this call: what a Read or a refusal showed. With an Edit it is set
	// only where that is not the Edit's After: to the model's own view of a file in
	// which the edit met others' changes, or to Unread. It wins over the Edit.
	ReadHash string
	// Again is set when the sandbox stopped a command that may be run again with what it
	// lacked, once that is allowed.
	Again *Again
	// Touched are files that a command was seen to change, relative to the root.
	Touched []string
	// Plan is the text of a plan for the person, by the tool plan.
	Plan string
}

// Unread is the ReadHash of an edit to a file that the model has not seen whole.
const Unread = "unread"

// Changes returns the changes of all files of the call.
func (o Outcome) Changes() []*Change {
	if o.Edit == nil {
		return nil
	}
	return append([]*Change{o.Edit}, o.More...)
}

// Change is a landed edit with its whole texts.
type Change struct {
	Path          string
	Created       bool
	Deleted       bool // After is empty
	Before, After string
	Unsaved       bool
	// ReadHash is Outcome.ReadHash for one of several files.
	ReadHash string
}

// Verdict is policy's decision about a call before it is performed.
type Verdict int

// The verdicts.
const (
	Allow Verdict = iota
	Ask
	Deny
)

// Decision is a verdict with what a person needs to know to judge the call.
type Decision struct {
	Verdict Verdict
	Title   string // one line, e.g. "Run go test ./..."
	Detail  string // the whole command with its cwd, or the diff
	Reason  string // for Deny: why, one sentence
	// Lasting is what "for this session" and "always" cover.
	Lasting Lasting
	// Effect is this call's own, where that depends on its arguments. Order, modes
	// and what a resume does go by it.
	Effect Effect
	// Mutates says that the effect may change something: such calls run in order,
	// the others of a reply in parallel. The executor sets it.
	Mutates bool
	// Path is the file or directory that the call names, which rules with paths are
	// compared with; "" for none.
	Path string
	// Executes says that the call runs programs in the workspace, for which a person
	// must trust it.
	Executes bool
}

// Op is a call to perform: exactly one variant is set, as in abi.Call.
type Op = abi.Call
