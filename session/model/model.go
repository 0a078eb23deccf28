// Package model is the interface of a session to language models, and the error
// kinds that every provider maps its failures to. The providers are
// script (deterministic, built in), openai and anthropic.
package model

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Request is one request to a model. A caller gives Conversation, or Messages, or
// the same in both; a provider reads it with Typed.
type Request struct {
	Profile Profile
	// Messages are the conversation in chat-completions form.
	Messages []jsontext.Value
	// Conversation is what providers write in their own form.
	Conversation []*Message
	Tools        []jsontext.Value
	Step         string // "turn/round", keys a script
}

// Response is a complete reply.
type Response struct {
	Text       *string
	Reasoning  *string
	Calls      []FunctionCall
	Usage      Usage
	Finish     string
	ProviderID string
	// Sealed is the provider's own form of a reply's reasoning, as JSON, to be
	// given back to it in the message's "_sealed"; nil when there is none. Only
	// that provider reads it.
	Sealed jsontext.Value
}

// FunctionCall is a call as the provider sent it; Arguments is the model's own text.
type FunctionCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Usage counts tokens. Input includes CachedInput; Output includes Reasoning.
// Estimated says that the provider gave no figures.
type Usage struct {
	Input       uint64 `json:"input"`
	CachedInput uint64 `json:"cached_input"`
	Output      uint64 `json:"output"`
	Reasoning   uint64 `json:"reasoning"`
	Estimated   bool   `json:"estimated,omitzero"`
}

// Add adds other's tokens.
func (u *Usage) Add(other Usage) {
	u.Input += other.Input
	u.CachedInput += other.CachedInput
	u.Output += other.Output
	u.Reasoning += other.Reasoning
	u.Estimated = u.Estimated || other.Estimated
}

// Price is what a million tokens cost, in US dollars.
type Price struct {
	// Input is for a million tokens of a request.
	Input float64 `json:"input" min:"0"`
	// Cached is for a million tokens of a request that the provider had in its cache.
	Cached float64 `json:"cached" min:"0"`
	// Output is for a million tokens of a reply.
	Output float64 `json:"output" min:"0"`
}

// Of is what the tokens cost.
func (p Price) Of(u Usage) float64 {
	fresh := u.Input - min(u.CachedInput, u.Input)
	return (float64(fresh)*p.Input + float64(u.CachedInput)*p.Cached + float64(u.Output)*p.Output) / 1e6
}

// Known is what is known of a provider's model.
type Known struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Context int    `json:"context"` // its window in tokens
	Price   Price  `json:"price"`
}

// Delta is a piece of a reply while it streams. Restarted says that what was
// shown of this reply before is withdrawn.
type Delta struct {
	Text      string
	Reasoning string
	Restarted bool
}

// Model replies to requests. Implementations honour ctx and are safe for concurrent
// use; delta may be nil and is called from the calling goroutine's flow only.
type Model interface {
	Respond(ctx context.Context, req Request, delta func(Delta)) (Response, error)
}

// ErrorKind classifies a failed request.
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

// Error is a failed request. Message never contains a secret.
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

// Profile says which model to use and how. Its members are keys of the
// configuration; a provider's key is never stored, only the name of its
// environment variable. The enum and min tags say which values are valid.
type Profile struct {
	// Name is the key under which the profile stands in the configuration.
	Name string `json:"-"`
	// Provider is the kind of provider: script plays a file, openai is any server of OpenAI's chat API, anthropic is the Messages API.
	Provider string `json:"provider" enum:"script,openai,anthropic"`
	// Script is the file that provider script plays; the built-in demonstration when empty. A relative path starts at the directory of the file that names it, or at the workspace root.
	Script string `json:"script"`
	// Model is the provider's name of the model.
	Model string `json:"model"`
	// API selects between OpenAI's chat completions and its Responses API.
	API string `json:"api" enum:"chat,responses"`
	// BaseURL is the address of the server up to its version, e.g. http://127.0.0.1:11434/v1; the provider's own when empty.
	BaseURL string `json:"base_url"`
	// APIKeyEnv is the name of the environment variable that holds the API key. The key itself is never written in a configuration.
	APIKeyEnv string `json:"api_key_env"`
	// Context is the model's context window in tokens; 0 leaves it to the provider's default.
	Context int `json:"context" min:"0"`
	// MaxOutput is the most tokens of one reply; 0 leaves it to the provider's default.
	MaxOutput int `json:"max_output" min:"0"`
	// Price is what the model's tokens cost, in US dollars for a million; without it no cost is shown and no limit on cost holds.
	Price Price `json:"price"`
	// Vision says that the model takes images.
	Vision bool `json:"vision"`
	// PromptCache marks the unchanging part of each request for the provider's cache.
	PromptCache bool `json:"prompt_cache"`
	// ReasoningEcho says how the model's earlier reasoning is sent back to it: content as reasoning_content, both as reasoning besides, off not at all. What is signed or sealed goes back in any case, and none goes to the model of another profile.
	ReasoningEcho string `json:"reasoning_echo" enum:"content,both,off"`
	// Edits selects the tool that the model is offered for changing files besides write: replace is the tool edit, patch the tool patch, for models that were trained on patches; replace when empty.
	Edits string `json:"edits" enum:"replace,patch"`
	// Fallback names the profiles that are tried in order when this one is overloaded, unreachable or refuses the key.
	Fallback []string `json:"fallback"`
}
