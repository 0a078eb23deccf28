// Package checker runs a project's own check command after an edit and turns its
// output into text for a model and findings for an editor. It never says clean
// when nothing looked.
//
// A Checker finds the roots that edited files belong to (Detect finds out what a root
// is), runs one check of each at a time and keeps what the last one found, so that
// the next can say what is new. A Watcher reports files that anybody else changes on
// the disk. The package is no client of language servers, formats nothing and writes
// nothing into a workspace itself; what a tool writes there is the tool's own (target
// directories, lock files).
//
//	c := checker.New(checker.Config{Trusted: true, Unsaved: unsavedTexts})
//	defer c.Close()
//	for _, r := range c.AfterEdit(ctx, workspace, edited) {
//		if text := r.ForModel(); text != "" {
//			observation += "\n" + text + "\n"
//		}
//		publish(r)
//	}
package checker

import (
	"time"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// Outcome is the outcome of a check.
type Outcome int

// The outcomes.
const (
	Found   Outcome = iota // it ran and said something
	Clean                  // it ran, exited 0 and said nothing
	Skipped                // there was nothing to run; no process was started
	Failed                 // a checker was chosen and gave no result: the edit is unchecked
)

// String is the outcome's name on the wire: found, clean, skipped or failed.
func (o Outcome) String() string {
	return [...]string{"found", "clean", "skipped", "failed"}[o]
}

// Result is one check of one root.
type Result struct {
	Outcome  Outcome
	Text     string    // Found: finished text for the model; Skipped, Failed: the reason
	Searched string    // the PATH without the tool, which only the person is told
	Findings []Finding // may be empty when Found: text that no parser understands is still shown
	Command  []string  // empty when Skipped
	Root     string    // absolute, as the caller spells its workspace
	Began    time.Time // zero when nothing was begun
	Took     time.Duration

	// Ecosystem is that of the root, "" when it has none. Root and Ecosystem
	// together name what was checked: the findings of the last complete check of a
	// pair (Found or Clean) replace those of the one before; a Failed or Skipped
	// one says nothing about them.
	Ecosystem string
	// Unsaved are the texts that the tool read in place of the files on the disk, by
	// absolute path: the places of Findings count in them. It is nil for a tool
	// that reads the disk.
	Unsaved map[string]string
	// Unseen are the edited source files of the ecosystem that this run did not look
	// at; for a check without edits those of earlier ones that still are not. Where
	// all edited files are unseen and nothing was found the Outcome is Skipped.
	Unseen []Unseen
	// Note limits what a Clean says, e.g. that a buffer of the root is not saved
	// and the saved text was checked; usually empty. A Found has it in its Text.
	Note string
	// New counts the findings that the previous check of the root did not have; it
	// is -1 when there was none to compare with.
	New int
	// Superseded says that a newer check of the same root took this one's place:
	// it is Failed, and the newer one has the result.
	Superseded bool
}

// ForModel returns what a model reads after the result of its edit. It is empty only
// for a check that ran and found nothing, unless it has a Note: that there was no
// check, or that it failed, is always said. It ends without a newline.
func (r Result) ForModel() string {
	switch r.Outcome {
	case Found:
		return r.Text
	case Failed:
		return "[check did not run] " + r.Text
	case Skipped:
		return "[check skipped] " + r.Text
	}
	return r.Note
}

// ForPerson returns the text for a person who requested the check: it is never empty,
// because silence would read as approval.
func (r Result) ForPerson() string {
	if r.Outcome != Clean {
		return r.ForModel()
	}
	said := "[check] `" + workspace.CommandLine(r.Command) + "` found nothing"
	if r.Note != "" {
		said += "; " + r.Note
	}
	return said
}

// PATH says, behind a Failed's text, where the tool was looked for; "" when it was
// found. It is for a person: texts for models have nothing of this machine.
func (r Result) PATH() string {
	if r.Searched == "" {
		return ""
	}
	return " (PATH is " + r.Searched + ")"
}

// Unseen is a file that a check did not look at.
type Unseen struct {
	Path   string // absolute
	Reason string // follows the name: "is not part of this build"
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

// Finding is a tool's message about one place.
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
