package proc

import "sync/atomic"

// mainCalled says that Main was called, so that this file can be run again as a
// supervisor.
var mainCalled atomic.Bool

// Main must be called first by a program that uses Run, before anything else
// happens, flags and logs included; by a test binary in its TestMain. In the
// process that a person or an editor started it returns at once. Programs are run
// through another process of the same file, the supervisor, which outlives the
// process that started it only for the time that it takes to end its programs; in
// the supervisor, Main does this work and exits.
//
// Main also keeps the person's other processes from reading the memory and the
// environment of the process that it returns in: they contain the keys of models.
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
	mainCalled.Store(true)
}
