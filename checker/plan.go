package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// plan is how a job is done: what to run, and how to read it.
type plan struct {
	argv  []string
	shown []string // argv as it is shown, without what differs from run to run
	also  []string // a further command that is shown if it found something
	dir   string   // where it runs and, unless base is set, where its paths start
	base  string
	parse parser
	// skip and fail, when set, are the result: nothing is run.
	skip, fail string
	// readsDisk says that the tool cannot read unsaved texts.
	readsDisk bool
	// bom is the width of a byte order mark in the tool's columns, 0 when it does
	// not count one.
	bom int
	// outside are edited files that the command does not look at.
	outside []string
	// beside are commands that are run after argv and read each for itself.
	beside []step
	// unseen says why the run did not look at an existing source file, "" when it
	// did; nil means that nobody knows. It is called when all commands have run.
	unseen func(path string) string
	// stale lists what was checked against outputs of an edited project that an
	// earlier build left; nil means nothing.
	stale func(edited []string) []Unseen
	// configured says that a person configured the command: what it prints may look
	// like a place and be none.
	configured bool
	changed    []string // files of the result that changed during the run
	formats    bool     // and with formats of its own
	where      string   // where the program was looked for besides the PATH
	tidy       func(string) string
	release    func()
}

// title names the commands of a plan that a report comes from.
func (p plan) title(rep *report) string {
	said := "`" + workspace.CommandLine(p.shown) + "`"
	if rep.also && len(p.also) > 0 {
		said += " and `" + workspace.CommandLine(p.also) + "`"
	}
	return said
}

// step is a command that is run beside a check's own.
type step struct {
	argv []string
	// skip, when set, reports that the command is not needed after what was found.
	skip func(rep *report) bool
	// read adds what the command printed to the report of the check.
	read func(rep *report, out output)
}

// plan decides how a job is done.
func (c *Checker) plan(ctx context.Context, j job) plan {
	custom, configured := c.cfg.command(j.root, j.tc.Ecosystem)
	if configured && custom.Off {
		return plan{skip: fmt.Sprintf("the check of %s is switched off by configuration", j.tc.Ecosystem)}
	}
	if configured && len(custom.Argv) > 0 {
		return customPlan(j, custom)
	}
	if e := ecosystemOf(j.tc.Ecosystem); e.plan != nil {
		return e.plan(c, ctx, j)
	}
	return plan{skip: fmt.Sprintf("%s projects (%s) have no check command that is cheap enough to run after every edit",
		j.tc.Ecosystem, j.tc.Marker)}
}

// promote moves a root up to the workspace of its own ecosystem that it is a
// member of, so that an edit which breaks another member is seen and two members
// are checked once.
func (c *Checker) promote(ctx context.Context, workspace, root string, tc Toolchain, limit time.Duration) (string, Toolchain) {
	e := ecosystemOf(tc.Ecosystem)
	if e.home == nil {
		return root, tc
	}
	up := e.home(c, ctx, workspace, root, limit)
	if up == root {
		return root, tc
	}
	for _, above := range detectAll(up) {
		if above.Ecosystem == tc.Ecosystem {
			return up, above
		}
	}
	return root, tc
}
