// Package checker runs a project's own check command after an edit and turns its
// output into text for a model and findings for an editor. It never says clean
// when nothing looked.
package checker

import "time"

// Outcome is what a check came to. The four stay apart everywhere.
type Outcome int

// The outcomes.
const (
	Found   Outcome = iota // it ran and said something
	Clean                  // it ran, exited 0 and said nothing
	Skipped                // there was nothing to run; no process was started
	Failed                 // a checker was chosen and gave no answer: the edit is unchecked
)

// String is the outcome's name on the wire: found, clean, skipped or failed.
func (o Outcome) String() string {
	return [...]string{"found", "clean", "skipped", "failed"}[o]
}

// Result is one check of one root.
type Result struct {
	Outcome  Outcome
	Text     string    // Found: finished text for the model; Skipped, Failed: the reason, one sentence
	Findings []Finding // may be empty when Found
	Command  []string
	Root     string // absolute
	Took     time.Duration
}

// Severity of a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
	Hint    Severity = "hint"
)

// ColumnUnit says what a tool counts columns in.
type ColumnUnit int

// The units.
const (
	Bytes ColumnUnit = iota // UTF-8 bytes
	UTF16                   // UTF-16 code units
	Runes                   // Unicode code points
)

// Position is a place as the tool counts it: line and column 1-based, 0 for
// unknown.
type Position struct{ Line, Column int }

// Range is where a finding stands; End is the zero Position when the tool named
// none, otherwise exclusive.
type Range struct{ Start, End Position }

// Related is another place that a finding points at.
type Related struct {
	Path    string
	Range   Range
	Message string
}

// Finding is a tool's word about one place.
type Finding struct {
	Path     string // absolute
	Range    Range
	Unit     ColumnUnit // of Range's and Related's columns
	Severity Severity
	Code     string
	Message  string
	Related  []Related
	Tool     string // e.g. "go build"
}
