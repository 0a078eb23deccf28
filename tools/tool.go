package tools

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// Tool is one thing that a model may call. Implementations are safe for
// concurrent use.
type Tool interface {
	// Definition returns what models, people and rules know of the tool. It is the
	// same at every call.
	Definition() Definition
	// Decide says what the call would do and whether the tool itself refuses it; it
	// performs nothing. The executor applies the person's rules and the session's mode
	// afterwards, by the Decision's Effect.
	Decide(ctx context.Context, c Call) Decision
	// Run performs the call. What fails is text for the model.
	Run(ctx context.Context, c Call) Outcome
}

// Definition is a tool's name, description and parameters. Define makes one from
// the struct that the tool decodes its arguments into.
type Definition struct {
	Name, Description string
	Parameters        jsontext.Value // a JSON Schema
	Effect            Effect         // the widest that a call can have

	members []member // of Parameters, when Define made them
}

// Effect is what a call can do to the world. A later one includes those before it.
type Effect int

// The effects.
const (
	None  Effect = iota // it concerns the session alone
	Read                // it looks at the workspace
	Write               // it changes files of the workspace, as an edit
	Run                 // it may do anything
)

// String returns the effect as the transcript names it.
func (e Effect) String() string { return [...]string{"none", "read", "write", "run"}[e] }

// changes reports whether a call with this effect may change something.
func (e Effect) changes() bool { return e >= Write }

// Call is one call of a tool, whose arguments fit its definition.
type Call struct {
	Name      string
	Arguments string // a JSON object: members in the order of the definition, absent ones left out
	Label     string // names the turn, for the editor's undo list
}
