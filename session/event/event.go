// Package event defines the payloads of a session's transcript: one struct a
// kind, and their JSON form {"kind": …, members…}. The transcript is the one
// source of truth of a session; everything else is a fold over these.
package event

import (
	"maps"
	"slices"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind names a payload.
type Kind string

// The kinds of event. A reader keeps unknown ones and skips them in folds.
const (
	KindUser       Kind = "user"
	KindQueued     Kind = "queued"
	KindSteer      Kind = "steer"
	KindAsk        Kind = "ask"
	KindMessage    Kind = "message"
	KindCall       Kind = "call"
	KindApproval   Kind = "approval"
	KindIntent     Kind = "intent"
	KindResult     Kind = "result"
	KindCheck      Kind = "check"
	KindSummary    Kind = "summary"
	KindUsage      Kind = "usage"
	KindActivation Kind = "activation"
	KindEmit       Kind = "emit"
	KindDone       Kind = "done"
	KindError      Kind = "error"
	KindNote       Kind = "note"
	KindMode       Kind = "mode"
	KindPlan       Kind = "plan"
)

// kinds are all kinds of event, with what an event of each is read into.
var kinds = map[Kind]func() Payload{
	KindUser:       func() Payload { return new(User) },
	KindQueued:     func() Payload { return new(Queued) },
	KindSteer:      func() Payload { return new(Steer) },
	KindAsk:        func() Payload { return new(Ask) },
	KindMessage:    func() Payload { return new(Message) },
	KindCall:       func() Payload { return new(Call) },
	KindApproval:   func() Payload { return new(Approval) },
	KindIntent:     func() Payload { return new(Intent) },
	KindResult:     func() Payload { return new(Result) },
	KindCheck:      func() Payload { return new(Check) },
	KindSummary:    func() Payload { return new(Summary) },
	KindUsage:      func() Payload { return new(Usage) },
	KindActivation: func() Payload { return new(Activation) },
	KindEmit:       func() Payload { return new(Emit) },
	KindDone:       func() Payload { return new(Done) },
	KindError:      func() Payload { return new(Error) },
	KindNote:       func() Payload { return new(Note) },
	KindMode:       func() Payload { return new(Mode) },
	KindPlan:       func() Payload { return new(Plan) },
}

// Kinds are the kinds of event that this program knows, in order.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

// Payload is one event's content.
type Payload interface{ Kind() Kind }

// User is a prompt whose turn begins. (In transcripts of before also one that waits
// for the turn under way.)
type User struct {
	Turn    uint64    `json:"turn"`
	Text    string    `json:"text"`
	Context []Context `json:"context,omitempty"`
	// Core is the turn's number in the core, which takes only rising ones, where it
	// is another: the person had a later prompt begin first.
	Core uint64 `json:"core,omitzero"`
}

// InCore is the turn's number in the core.
func (u *User) InCore() uint64 {
	if u.Core != 0 {
		return u.Core
	}
	return u.Turn
}

// Queued is a prompt that waits for the turn under way. The same turn again has
// another text or place; its user event says that it begins, its done event that it
// was withdrawn.
type Queued struct {
	Turn    uint64    `json:"turn"`
	Text    string    `json:"text"`
	Context []Context `json:"context,omitempty"`
	First   bool      `json:"first,omitzero"` // it is the next one to begin
	// Steered says that it is made of what was said into a turn that ended without
	// another request.
	Steered bool `json:"steered,omitzero"`
}

// Steer is what the person said into a turn that runs. The turn's next request has
// it, behind all results.
type Steer struct {
	Turn uint64 `json:"turn"`
	Text string `json:"text"`
}

// Context is a place that the person pointed at. Lines are 1-based, both
// inclusive; zero lines mean the whole file. Text is what stood there.
type Context struct {
	Path  string `json:"path" text:"name"` // relative to the root, with slashes
	First int    `json:"first,omitzero"`
	Last  int    `json:"last,omitzero"`
	Text  string `json:"text,omitempty"`
}

// Ask says that a model call was started.
type Ask struct {
	Turn    uint64 `json:"turn"`
	ID      uint64 `json:"id"`      // the core's action
	Round   int    `json:"round"`   // of the turn, from 1
	Attempt int    `json:"attempt"` // within the ask, from 1: above 1 after calls that did not fit
	Profile string `json:"profile"`
	// Messages counts the conversation in the core's ask, and Digest is the hex
	// SHA-256 of the digest of the ask before it and the encoded messages since,
	// for resume to compare.
	Messages int    `json:"messages"`
	Digest   string `json:"digest"`
}

// Message is a model's whole reply. Calls are as the provider sent them, made
// unique (model.Normalize).
type Message struct {
	Turn       uint64               `json:"turn"`
	Ask        uint64               `json:"ask"`
	Text       *string              `json:"text"`
	Reasoning  *string              `json:"reasoning,omitempty"`
	Calls      []model.FunctionCall `json:"calls"`
	Usage      model.Usage          `json:"usage"`
	Finish     string               `json:"finish"`
	ProviderID string               `json:"provider_id,omitempty"`
	Profile    string               `json:"profile,omitempty"` // which profile replied
	// Sealed is the provider's own form of the reasoning (model.Response).
	Sealed jsontext.Value `json:"sealed,omitzero"`
	// Refused says that the reply never reached the core, because a call in it
	// names no tool or does not fit its schema: its calls get results
	// and another request is made within the same ask.
	Refused bool `json:"refused,omitzero"`
}

// Call is one call of the message before it, in order.
type Call struct {
	Turn       uint64    `json:"turn"`
	ID         uint64    `json:"id"` // the core's id, 0 when the reply never reached the core
	ProviderID string    `json:"provider_id"`
	Name       string    `json:"name"`
	Arguments  string    `json:"arguments"` // as received
	Call       *abi.Call `json:"call"`      // typed; null when it did not fit
	// Dispatched says that the core made an action of it; a refused one it did not.
	Dispatched bool `json:"dispatched"`
	// Title says in one line what the call is about, and Effect what it can do:
	// none, read, write or run. Both are written once, with the call; they are empty
	// for a call that fits no tool and in transcripts of before.
	Title  string `json:"title,omitempty"`
	Effect string `json:"effect,omitempty"`
}

// Approval is a question to the person about a call, or its answer.
type Approval struct {
	Turn     uint64 `json:"turn"`
	ID       uint64 `json:"id"`                 // the core's call
	State    string `json:"state"`              // "asked" or "answered"
	Title    string `json:"title,omitempty"`    // what is asked
	Detail   string `json:"detail,omitempty"`   // the whole command or diff
	Decision string `json:"decision,omitempty"` // "allow_once", "allow_session" or "deny"
	Reason   string `json:"reason,omitempty"`
	// Again says that the call has run already, and the question is whether it runs once
	// more with what the sandbox kept from it.
	Again bool `json:"again,omitzero"`
}

// Intent is an edit that is about to be made, recorded before it is: from the
// hashes a resume after a crash sees whether it was.
type Intent struct {
	Turn uint64 `json:"turn"`
	ID   uint64 `json:"id"` // the core's call
	// Text is what the call's result says when the edit was made.
	Text string `json:"text,omitempty"`
	Edit *Edit  `json:"edit"`
}

// State is how a call ended.
type State string

// The states of a result.
const (
	Completed   State = "completed"
	Failed      State = "failed"
	Rejected    State = "rejected"
	Cancelled   State = "cancelled"
	Interrupted State = "interrupted"
)

// Result ends a call, exactly one each; a later second one is ignored.
type Result struct {
	Turn uint64 `json:"turn"`
	ID   uint64 `json:"id"`   // the core's call, 0 when the reply never reached the core
	Call uint64 `json:"call"` // the transcript index of the call's event
	// For the core State completed is Failed=false, every other true.
	State State  `json:"state"`
	Text  string `json:"text"`
	Edit  *Edit  `json:"edit,omitempty"`
	// More are the edits of further files that the call made together with Edit.
	More []*Edit `json:"more,omitempty"`
	// Read is the hash of a file's text that this call showed to the model.
	Read string `json:"read,omitempty"`
	// Changed names files that a command was seen to change.
	Changed []string `json:"changed,omitempty" text:"name"`
}

// Edits returns the edits of all files.
func (r *Result) Edits() []*Edit {
	if r.Edit == nil {
		return nil
	}
	return append([]*Edit{r.Edit}, r.More...)
}

// Edit is what a call with the effect write did to a file. Hashes are hex SHA-256 of
// whole texts; Before is empty for a file that did not exist, After for one that was
// deleted.
type Edit struct {
	Path   string `json:"path" text:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Read is Result.Read for one of several files.
	Read string `json:"read,omitempty"`
	// Diff is a unified diff of the edit; results have it.
	Diff string `json:"diff,omitempty"`
	// Bytes is the diff, deflated and base64, where it is not UTF-8 and Diff shows
	// less than what was edited.
	Bytes string `json:"bytes,omitempty"`
	// Base is the whole text before, deflated and base64, for undo and resume; empty
	// when the file did not exist or the text was over the cap. The intent of an
	// edit has it, and nothing else does.
	Base string `json:"base,omitempty"`
}

// Check is one run of a project's checker.
type Check struct {
	Turn     uint64    `json:"turn"`
	Root     string    `json:"root" text:"name"` // relative to the workspace root, "." for itself
	Outcome  string    `json:"outcome"`          // found, clean, skipped, failed
	Text     string    `json:"text"`
	Command  []string  `json:"command"`
	Findings []Finding `json:"findings"`
	Unseen   []Unseen  `json:"unseen,omitempty"`
	// Title says the outcome in one line; it is empty in transcripts of before.
	Title string `json:"title,omitempty"`
}

// Unseen is an edited file that a check did not look at. The reason follows the
// name: "is not part of this build".
type Unseen struct {
	Path   string `json:"path" text:"name"`
	Reason string `json:"reason"`
}

// Finding is a checker's word about one place. Lines and columns are 1-based, the
// column in the unit that the tool counts; zero means unknown.
type Finding struct {
	Path     string `json:"path" text:"name"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Code     string `json:"code,omitempty"`
	Message  string `json:"message"`
}

// Summary stands for all messages up to and including CoveredUpTo.
type Summary struct {
	Text        string      `json:"text"`
	CoveredUpTo uint64      `json:"covered_up_to"`
	Turn        uint64      `json:"turn,omitzero"` // the one before which it was written
	Usage       model.Usage `json:"usage,omitzero"`
	Profile     string      `json:"profile,omitempty"`
	ProviderID  string      `json:"provider_id,omitempty"`
}

// Usage is what a reply used that is in no other event, because it was not taken.
type Usage struct {
	Turn    uint64      `json:"turn,omitzero"`
	Profile string      `json:"profile,omitempty"`
	Usage   model.Usage `json:"usage"`
}

// Activation adds tool definitions from Anchor on.
type Activation struct {
	Anchor uint64           `json:"anchor"`
	Defs   []jsontext.Value `json:"defs"`
}

// Emit is text for the person.
type Emit struct {
	Turn uint64 `json:"turn"`
	ID   uint64 `json:"id"`
	Text string `json:"text"`
}

// Done ends a turn.
type Done struct {
	Turn    uint64 `json:"turn"`
	ID      uint64 `json:"id"`      // the core's action, 0 when the host ended the turn without it
	Outcome string `json:"outcome"` // "complete", "cancelled" or "failed"
}

// Error is a failure that the person must see, e.g. a model call spent for good.
type Error struct {
	Turn    uint64 `json:"turn,omitzero"`
	Source  string `json:"error"` // e.g. a model.ErrorKind, "core", "store"
	Message string `json:"message"`
	// Cancels says that the turn was cancelled in the core because of this.
	Cancels bool `json:"cancels,omitzero"`
}

// Note is said to the person by the host.
type Note struct {
	Turn uint64 `json:"turn,omitzero"`
	Text string `json:"text"`
	// Model says that the model reads the note too, in its next turn.
	Model bool `json:"model,omitzero"`
	// Cancels says that the turn was cancelled in the core because of this.
	Cancels bool `json:"cancels,omitzero"`
	// Undid are the transcript indices of the results whose edits were reverted.
	Undid []uint64 `json:"undid,omitempty"`
	// Refused are files that a profile's provider did not take.
	Refused *Refused `json:"refused,omitzero"`
}

// Mode says that the session's mode was switched; it holds from the next call on.
type Mode struct {
	Mode   string `json:"mode"`   // plan, ask, edits, auto or all
	Before string `json:"before"` // the mode until then
	// Why says why the host switched it; empty when the person did.
	Why string `json:"why,omitempty"`
}

// Plan is a plan that the model gave, for the person to edit and accept.
type Plan struct {
	Turn uint64 `json:"turn"`
	Text string `json:"text"` // Markdown
}

// Refused names files that are not sent to a profile any more.
type Refused struct {
	Profile string   `json:"profile"`
	Files   []string `json:"files"` // the hex SHA-256 of their bytes
}

// Unknown is an event of a kind that this program does not know, kept as it is.
type Unknown struct {
	Name Kind
	Raw  jsontext.Value
}

func (*User) Kind() Kind       { return KindUser }
func (*Queued) Kind() Kind     { return KindQueued }
func (*Steer) Kind() Kind      { return KindSteer }
func (*Ask) Kind() Kind        { return KindAsk }
func (*Message) Kind() Kind    { return KindMessage }
func (*Call) Kind() Kind       { return KindCall }
func (*Approval) Kind() Kind   { return KindApproval }
func (*Intent) Kind() Kind     { return KindIntent }
func (*Result) Kind() Kind     { return KindResult }
func (*Check) Kind() Kind      { return KindCheck }
func (*Summary) Kind() Kind    { return KindSummary }
func (*Usage) Kind() Kind      { return KindUsage }
func (*Activation) Kind() Kind { return KindActivation }
func (*Emit) Kind() Kind       { return KindEmit }
func (*Done) Kind() Kind       { return KindDone }
func (*Error) Kind() Kind      { return KindError }
func (*Note) Kind() Kind       { return KindNote }
func (*Mode) Kind() Kind       { return KindMode }
func (*Plan) Kind() Kind       { return KindPlan }

// Kind is the name the event came with.
func (u *Unknown) Kind() Kind { return u.Name }
