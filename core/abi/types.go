// Package abi defines the messages that the agent's core and its host exchange,
// their codec, and the version of the interface between them. It is pure data:
// it performs no I/O and imports nothing of this module, so that the guest
// (compiled to wasm) and the host share one definition.
//
// A union is a struct whose fields are its variants: a pointer for a variant
// with a value, a bool for one without; exactly one is set. Encoded, it is
// {"Turn":{…}} or the bare string "Timer". Options are pointers and encode as
// null; every member is always written, in declaration order.
package abi

// ABI is the version of the interface between host and guest. The host refuses
// a module that returns another one.
const ABI = 1

// Config is what a session starts from.
type Config struct {
	Model   *string `json:"model"`
	Prelude *string `json:"prelude"`
}

// Event is what the host passes to the core. Exactly one variant is set.
type Event struct {
	Turn   *Turn
	Model  *Answer
	Exec   *Output
	File   *Output
	Git    *Output
	Browse *Output
	Tool   *Output
	Timer  bool
	Cancel *Cancel
	Rebase *Rebase
}

// Turn is a person's prompt. Ids rise within a session and are never zero.
type Turn struct {
	ID     uint64 `json:"id"`
	Prompt string `json:"prompt"`
}

// Cancel asks for a running or queued turn to end.
type Cancel struct {
	Turn uint64 `json:"turn"`
}

// Rebase replaces the conversation by Messages, between turns only, and is
// followed by Save. NextID is the id that this Save gets, and Turn the highest
// turn that counts as accepted from now on. Neither may go back: a Rebase with a
// NextID that was given already, with a Turn below the highest accepted one, or
// during a turn changes nothing and has no actions, so that one that is
// delivered twice counts once. What stands in Messages is the host's affair; no
// id in them is awaited.
type Rebase struct {
	NextID   uint64    `json:"next_id"`
	Turn     uint64    `json:"turn"`
	Messages []Message `json:"messages"`
}

// Answer is a model's reply to the ask with this id.
type Answer struct {
	ID    uint64 `json:"id"`
	Reply Reply  `json:"reply"`
}

// Reply is what a model said: text, calls, both or neither.
type Reply struct {
	Text  *string `json:"text"`
	Calls []Call  `json:"calls"`
}

// Call is one tool call of a model. Exactly one variant is set.
type Call struct {
	Read   *Read
	Write  *Write
	Patch  *Patch
	Exec   *Exec
	Git    *Git
	Browse *Browse
	Tool   *Use
}

// Output is what performing the call with this id gave.
type Output struct {
	ID     uint64 `json:"id"`
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
}

// Action is what the core wants performed. Ids count from 1 within a session.
type Action struct {
	ID uint64 `json:"id"`
	Op Op     `json:"op"`
}

// Op is the operation of an action. Exactly one variant is set.
type Op struct {
	Model  *Ask
	Read   *Read
	Write  *Write
	Patch  *Patch
	Exec   *Exec
	Git    *Git
	Browse *Browse
	Tool   *Use
	Emit   *string
	Save   bool
	Done   *Done
}

// Ask wants a model's reply to the conversation so far.
type Ask struct {
	Model    *string   `json:"model"`
	Prelude  *string   `json:"prelude"`
	Messages []Message `json:"messages"`
}

// Read wants a file's text or a directory's listing.
type Read struct {
	Path string `json:"path"`
}

// Write wants a file to hold exactly this text.
type Write struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Patch wants a unified diff applied to one file.
type Patch struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
}

// Exec wants a program run without a shell.
type Exec struct {
	Argv []string `json:"argv"`
	Cwd  *string  `json:"cwd"`
}

// Git wants git run with these arguments.
type Git struct {
	Argv []string `json:"argv"`
}

// Browse wants a URL fetched: GET, or POST when there is a body.
type Browse struct {
	URL  string  `json:"url"`
	Body *string `json:"body"`
}

// Use wants the tool of this name run; Arguments is a JSON object as text. The
// core looks into neither: whether what it names is inside the workspace is for
// the host to judge.
type Use struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Done says that a turn has ended.
type Done struct {
	Turn    uint64  `json:"turn"`
	Outcome Outcome `json:"outcome"`
}

// Outcome is how a turn ended. Exactly one variant is set.
type Outcome struct {
	Complete  bool
	Cancelled bool
}

// Message is one entry of the conversation. Exactly one variant is set.
type Message struct {
	User  *string
	Agent *Agent
	Tool  *Tool
}

// Agent is what the model said, its calls with the ids they were given.
type Agent struct {
	Text  *string    `json:"text"`
	Calls []Dispatch `json:"calls"`
}

// Dispatch is a call with the id under which its result is awaited.
type Dispatch struct {
	ID   uint64 `json:"id"`
	Call Call   `json:"call"`
}

// Tool is the result of the call with this id.
type Tool struct {
	ID     uint64 `json:"id"`
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
}
