//go:build race

package core

// hostRace says that the race detector watches, which sees no other process and
// makes compiling ten times as slow.
const hostRace = true
