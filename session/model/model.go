// Package model is the port through which a session asks a language model, and
// the error kinds that every provider maps its failures to. The providers are
// script (deterministic, built in), openai and anthropic.
package model

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Request is one ask, already projected to wire messages.
type Request struct {
	Profile  Profile
	Messages []jsontext.Value
	Tools    []jsontext.Value
	Step     string // "turn/round", keys a script
}

// Response is a whole answer.
type Response struct {
	Text       *string
	Reasoning  *string
	Calls      []FunctionCall
	Usage      Usage
	Finish     string
	ProviderID string
}

// FunctionCall is a call as the provider sent it; Arguments is the model's own text.
type FunctionCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Usage counts tokens. Input includes CachedInput; Output includes Reasoning.
type Usage struct {
	Input       uint64 `json:"input"`
	CachedInput uint64 `json:"cached_input"`
	Output      uint64 `json:"output"`
	Reasoning   uint64 `json:"reasoning"`
}

// Delta is a piece of an answer while it streams. Restarted says that what was
// shown of this answer before is withdrawn.
type Delta struct {
	Text      string
	Reasoning string
	Restarted bool
}

// Model answers asks. Implementations honour ctx and are safe for concurrent
// use; delta may be nil and is called from the calling goroutine's flow only.
type Model interface {
	Respond(ctx context.Context, req Request, delta func(Delta)) (Response, error)
}

// ErrorKind classifies a failed ask.
type ErrorKind string

// The kinds of failure. Rate, Overloaded, Timeout and Network may pass.
const (
	Rate            ErrorKind = "rate"
	Overloaded      ErrorKind = "overloaded"
	Auth            ErrorKind = "auth"
	ContextOverflow ErrorKind = "context_overflow"
	BadRequest      ErrorKind = "bad_request"
	Timeout         ErrorKind = "timeout"
	Network         ErrorKind = "network"
	Cancelled       ErrorKind = "cancelled"
)

// Error is a failed ask. Message never holds a secret.
type Error struct {
	Kind       ErrorKind
	RetryAfter time.Duration // zero when the provider named none
	Status     int           // HTTP status, zero when there was none
	Message    string
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model answered %s (status %d): %s", e.Kind, e.Status, e.Message)
	}
	return fmt.Sprintf("model answered %s: %s", e.Kind, e.Message)
}

// Profile says which model to ask and how. Keys are those of the configuration
// file; a key itself is never held, only the name of its environment variable.
type Profile struct {
	Name          string   `json:"-"`
	Provider      string   `json:"provider"` // script, openai or anthropic
	Script        string   `json:"script"`   // path of a script, for provider script
	Model         string   `json:"model"`
	API           string   `json:"api"` // "" or "chat", or "responses"
	BaseURL       string   `json:"base_url"`
	APIKeyEnv     string   `json:"api_key_env"`
	Context       int      `json:"context"`    // context window in tokens, 0 for the default
	MaxOutput     int      `json:"max_output"` // tokens, 0 for the default
	Vision        bool     `json:"vision"`
	PromptCache   bool     `json:"prompt_cache"`
	ReasoningEcho string   `json:"reasoning_echo"` // "" or "content", or "both"
	Fallback      []string `json:"fallback"`       // names of profiles to try in order
}
