// Package history folds a session's transcript into the conversation that a
// model is shown: what people said, what the agent replied, and how each of its
// calls ended. It is pure: equal transcripts give equal histories.
//
// The order is the core's: a turn that waits in the queue is not part of the
// conversation until the turn before it has ended.
package history

import (
	"fmt"
	"iter"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json/jsontext"
)

// Role says who speaks in a message.
type Role string

// The roles. Agent is text from another agent or from the host; a model reads it
// as a user's.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Agent     Role = "agent"
)

// CallState says where a call stands.
type CallState string

// The states of a call. The first two are open; the others are final.
const (
	Running   CallState = "running"
	Awaiting  CallState = "awaiting"
	Done      CallState = "done"
	Failed    CallState = "failed"
	Cancelled CallState = "cancelled"
	Rejected  CallState = "rejected"
)

// Call is one tool call of an assistant message.
type Call struct {
	ID         uint64 // the core's; 0 when the reply never reached the core
	ProviderID string
	Name       string
	Arguments  string // exactly as the model wrote it; "" means {}
	State      CallState
	Result     *string // raw, without a prefix; nil until there is one
}

// Message is one entry of the conversation. An assistant message has its calls
// and their results, so that a cut between messages never parts the two.
type Message struct {
	ID        uint64 // the transcript index of its event
	Role      Role
	Text      string
	Reasoning *string
	// Metadata is for a projection's hooks: {"context":[…]}, the places that the
	// person pointed at, or nil.
	Metadata jsontext.Value
	Failed   bool // left out of everything that a model is shown
	Calls    []Call
	Turn     uint64         // the turn it belongs to, 0 when unknown
	Steer    bool           // said into its turn while that ran; the core does not know of it
	Sealed   jsontext.Value // the provider's own form of the reasoning, or nil
	Profile  string         // of the model that said it, "" when unknown
}

// Summary stands for the conversation up to and including the message
// CoveredUpTo, in conversation order.
type Summary struct {
	Text        string
	CoveredUpTo uint64
}

// Activation adds tool definitions at the message Anchor.
type Activation struct {
	Anchor uint64
	Defs   []jsontext.Value
}

// History is a whole conversation, messages that a summary covers included.
type History struct {
	Messages    []Message
	Summary     *Summary
	Activations []Activation
}

// Fold reads a transcript from its start. Events of unknown kinds are skipped; an
// event that cannot be read is an error that names its index.
func Fold(events iter.Seq2[store.Event, error]) (History, error) {
	var f Folder
	for e, err := range events {
		if err != nil {
			return History{}, fmt.Errorf("read transcript: %w", err)
		}
		p, err := decode(e.Payload.Data)
		if err != nil {
			return History{}, fmt.Errorf("fold transcript event %d: %w", e.Index, err)
		}
		if err := f.Add(e, p); err != nil {
			return History{}, err
		}
	}
	return f.History(), nil
}

// Started returns the place of the first message of a turn in h.Messages, or
// false when the turn has not started.
func (h History) Started(turn uint64) (int, bool) {
	for i, m := range h.Messages {
		if m.Turn == turn {
			return i, true
		}
	}
	return 0, false
}

// Before returns the CoveredUpTo of a summary of everything before a turn. It is
// false when there is nothing that an earlier summary does not cover already.
func (h History) Before(turn uint64) (uint64, bool) {
	i, ok := h.Started(turn)
	if !ok || i == 0 || i <= h.Covered() {
		return 0, false
	}
	return h.Messages[i-1].ID, true
}

// Until returns the conversation as it was before a turn, which is what a summary
// up to there is made from. It is all of it when the turn has not started.
func (h History) Until(turn uint64) History {
	if i, ok := h.Started(turn); ok {
		h.Messages = h.Messages[:i:i]
	}
	return h
}

// Covered counts the messages that the summary stands for: the model is shown
// h.Messages from there on. Without a summary, or with an empty one, it is 0.
//
// Ids rise within a turn but not across queued ones, so the cut is a place in the
// conversation: after the message with the highest covered id.
func (h History) Covered() int {
	if h.Summary == nil || h.Summary.Text == "" {
		return 0
	}
	cut, highest := 0, uint64(0)
	for i, m := range h.Messages {
		if m.ID <= h.Summary.CoveredUpTo && (cut == 0 || m.ID >= highest) {
			cut, highest = i+1, m.ID
		}
	}
	return cut
}

// decode reads a payload. Text that an earlier writer stored with an unpaired
// surrogate or a stray byte is mended, so that one such event does not end the
// session.
func decode(data []byte) (event.Payload, error) {
	p, err := event.Decode(data)
	if err == nil {
		return p, nil
	}
	mended := jsontext.Value(data).Clone()
	if mended.Format(jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(false)) != nil || !mended.IsValid() {
		return nil, err
	}
	return event.Decode(mended)
}
