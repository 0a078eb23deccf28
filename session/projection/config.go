// Package projection turns a folded history into the messages of a model request:
// typed, for each provider to write in its API's form, and in chat-completions form.
// It is pure but for its hooks: equal input gives equal bytes.
//
// Whatever is in the history, the messages are well formed: every call has one
// result, right after its message and in call order; no content is empty but that
// of an assistant that only calls; arguments are JSON objects; text is valid
// UTF-8; user messages never follow each other. While a turn goes on, the messages
// before the tail only grow: a provider's prompt cache keeps hitting.
package projection

import (
	"context"

	"github.com/agent-lsp/agent-lsp/session/history"
)

// System is the system text of a request. Blank layers are left out.
type System struct {
	Base    string   // first; the only layer that carries the cache breakpoint
	Static  []string // after Base, one message each
	Dynamic []string // after the conversation, joined into one message
	// Reminder is the very last message.
	Reminder *string
}

// Rendering is how a request presents tools that were activated during the
// conversation.
type Rendering int

const (
	// Inline says nothing in the messages: active tools are in the request's list.
	Inline Rendering = iota
	// DeferredToolReference names them in the result of the activating call, as
	// "_tool_references".
	DeferredToolReference
	// SystemToolBlock puts their definitions in a system message after the results.
	SystemToolBlock
)

// Model describes the model of the request, as far as the projection depends on it.
type Model struct {
	PromptCache  bool     // mark the end of the base layer
	Capabilities []string // "vision", "video", "document"
	Rendering    Rendering
	// Profile is whose reasoning is sent back: that of another one is left out, as
	// some servers refuse it. "" is for that of every profile.
	Profile string
	// Sealed sends a reply's recorded Sealed back with its calls, as "_sealed", for
	// a provider that reads it.
	Sealed bool
}

// ReasoningEcho is how recorded reasoning is sent back.
type ReasoningEcho int

const (
	// ContentOnly uses the key "reasoning_content".
	ContentOnly ReasoningEcho = iota
	// Both adds "reasoning" with the same value.
	Both
	// Off sends none back.
	Off
)

// ResultLimit shortens tool results.
type ResultLimit struct {
	MaxChars          int  // code points; the mark of a cut comes on top
	PreviousTurnsOnly bool // the current turn keeps its results whole
	// UpTo is the last message whose results are shortened, by its ID; 0 for no bound.
	UpTo uint64
}

// MediaBudget limits what is inlined in the current turn. Limits are inclusive and
// count bytes before encoding, except where stated.
type MediaBudget struct {
	MaxParts    int
	MaxImage    int64
	MaxVideo    int64
	MaxDocument int64
	MaxTotal    int64
	MaxEncoded  int64 // of one part's base64 text, 0 for no limit
	MaxSide     int   // of an image whose header tells its size, in pixels; 0 for no limit
	// Notes adds text that says which files are left out for their size or type, and
	// why. A user's message has the notes only without an Extras hook, which gets the
	// skipped files itself; the notes on a call's files are in the last result.
	Notes bool
}

// Config are the settings of a projection. Zero values are valid and turn a setting
// off.
type Config struct {
	SummaryPrefix string
	SummarySuffix *string
	MaxMessages   int          // 0 for no window
	MaxToolResult *ResultLimit // nil for no limit
	// What a result says when its call has none, or an empty one.
	InterruptedText  string
	RejectedDefault  string
	CancelledDefault string
	// ReasoningPlaceholder stands in for the reasoning of an assistant message that
	// has calls and recorded none.
	ReasoningPlaceholder *string
	ReasoningEcho        ReasoningEcho
	TailSeparator        string // between dynamic layers
	Media                MediaBudget
	// ActivationAnchorTool is the tool whose result carries tool references; "" for
	// the first result of the message.
	ActivationAnchorTool string
}

// Default is what fits most models.
func Default() Config {
	return Config{
		SummaryPrefix:   "[CONTEXT SUMMARY — earlier messages were compacted into this summary]",
		InterruptedText: "[interrupted: this tool call did not complete — the session restarted before a result was recorded]",
		TailSeparator:   "\n\n---\n",
		Media: MediaBudget{
			MaxParts: 4, MaxImage: 10 << 20, MaxVideo: 32 << 20, MaxDocument: 32 << 20,
			MaxTotal: 48 << 20, MaxSide: 8000,
		},
	}
}

// Blob is a file that may be shown to the model. Every method may return false,
// which leaves the file out. A blob's content should not change while its turn goes on.
type Blob interface {
	Name() string
	Size(context.Context) (int64, bool)
	Head(context.Context) ([]byte, bool) // at least the first 16 bytes, if there are
	ReadAll(context.Context) ([]byte, bool)
}

// Barred is an optional method of a Blob: the file is never shown, whatever its
// content, for a reason that the note gives.
type Barred interface {
	Barred(context.Context) (why string, barred bool)
}

// MediaSource finds the files of a user's message and those that calls produced.
// A file that may not be read keeps its place, as a blob whose methods return false.
type MediaSource interface {
	MessageMedia(context.Context, history.Message) []Blob
	CallMedia(context.Context, []history.Call) []Blob
}

// Digest shortens a result that is over the limit; false leaves it to be cut.
type Digest interface {
	Condense(ctx context.Context, name, arguments, result string) (string, bool)
}

// Extras adds text to a user's message, without a separator. prev is the user's
// message before it, nil for the first one shown; skipped are the positions of
// media that were not inlined.
type Extras interface {
	AppendedText(ctx context.Context, msg history.Message, prev *history.Message, skipped []int) (string, bool)
}

// Hooks are functions that the projection calls; each may be nil.
type Hooks struct {
	Media  MediaSource
	Digest Digest
	Extras Extras
}
