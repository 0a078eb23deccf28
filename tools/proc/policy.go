package proc

import (
	"errors"
	"path/filepath"
)

// errNoPolicy is the error for a Spec without a Policy.
var errNoPolicy = errors.New("no sandbox policy was given for it: proc.Confined or proc.Unconfined says what it may do")

// Policy says what a program may do. Run refuses the zero value, so that every
// caller must choose one.
type Policy struct {
	given   bool
	sandbox *Sandbox // nil: unconfined
}

// Confined returns the policy of a program that runs in a sandbox. Where the system
// cannot confine it Run refuses to start it. Links in the sandbox's paths are
// followed now, so that none that is changed later leads elsewhere.
func Confined(s Sandbox) Policy {
	s.Writable, s.Readable, s.Hidden = followed(s.Writable), followed(s.Readable), followed(s.Hidden)
	s.Pinned, s.Protected, s.Sockets = followedTo(s.Pinned), followedTo(s.Protected), followed(s.Sockets)
	if dir, err := filepath.EvalSymlinks(s.Temp); err == nil && s.Temp != "" {
		s.Temp = dir
	}
	return Policy{given: true, sandbox: &s}
}

// followed returns paths with all links followed; one that does not exist stays as
// it is.
func followed(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = filepath.Clean(p)
		if to, err := filepath.EvalSymlinks(p); err == nil {
			out[i] = to
		}
	}
	return out
}

// followedTo returns paths with the links in their directories followed, but not the
// last element: a protected place may itself be a link, which is then protected.
func followedTo(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = filepath.Clean(p)
		if dir, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
			out[i] = filepath.Join(dir, filepath.Base(p))
		}
	}
	return out
}

// Unconfined returns the policy of a program that may do what the server may do, for a
// reason that a reader of the source can judge: the person started it, or switched
// the sandbox off. A test of the module lists every use.
func Unconfined(reason string) Policy { return Policy{given: reason != ""} }

// Offline reports whether it confines a program that has no network.
func (p Policy) Offline() bool { return p.sandbox != nil && !p.sandbox.Network }

// IsZero reports whether the policy is the zero value, which Run refuses.
func (p Policy) IsZero() bool { return !p.given }
