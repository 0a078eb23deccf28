package proc

import "errors"

// errNoPolicy refuses a program of which nobody said what it may do.
var errNoPolicy = errors.New("no sandbox policy was given for it: proc.Confined or proc.Unconfined says what it may do")

// Policy says what a program may do, so that nobody starts one without having
// thought of it: the zero value says nothing, and Run refuses it.
type Policy struct {
	given   bool
	sandbox *Sandbox // nil: unconfined
}

// Confined is the policy of a program that runs in a sandbox. Where the system
// cannot confine it Run refuses to start it.
func Confined(s Sandbox) Policy { return Policy{given: true, sandbox: &s} }

// Unconfined is the policy of a program that may do what the server may do, for a
// reason that a reader of the source can judge: the person started it, or switched
// the sandbox off. A test of the module lists every use.
func Unconfined(reason string) Policy { return Policy{given: reason != ""} }

// IsZero reports whether the policy is the zero value, which Run refuses.
func (p Policy) IsZero() bool { return !p.given }
