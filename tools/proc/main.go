package proc

import "sync/atomic"

// armed says that Main was called, so that this file can be run again as a
// supervisor.
var armed atomic.Bool

// Main must be called first by a program that uses Run, before anything else
// happens, flags and logs included; by a test binary in its TestMain. In the
// process that a person or an editor started it returns at once. Programs are run
// through another process of the same file, the supervisor, which outlives the
// process that asked by just the time that it takes to end what it watches; in
// that one Main does this work and exits.
//
// In the other one, other processes of the person can from now on not look into
// it: its environment has the keys of models.
//
// Where Main was never called programs are run directly: what a program starts
// then outlives a server that is killed, and a Sandbox is refused.
func Main() {
	if isSupervisor() {
		supervise()
	}
	if name, ok := isHouse(); ok {
		keepHouse(name)
	}
	hideSelf()
	armed.Store(true)
}
