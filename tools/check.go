package tools

import (
	"slices"
	"strings"
)

// DecideCheck returns policy's decision about the check after edits. Code are the
// edited files that it may run, manifests those that say how it runs, as paths relative
// to the root. The mode edits is no permission to run what was edited, and neither is
// any mode but all where checks are not confined wholly.
func (e *Executor) DecideCheck(code, manifests []string) Decision {
	about := code
	if !e.confinesWholly() {
		about = slices.Concat(code, manifests)
	}
	d := Decision{Verdict: Allow, Effect: Run, Executes: true, Title: "Check after an edit"}
	if len(about) == 0 {
		return d
	}
	d.Title = "Check after an edit of " + strings.Join(about, ", ")
	d.Detail = "The check runs the project's own tools, and with them what these files say:\n" + strings.Join(about, "\n")
	switch mode := e.policy().Mode; {
	case mode == ModeAll, mode == ModeAuto, mode != ModeEdits && e.confinesWholly():
	default:
		d.Verdict = Ask
	}
	return d
}
