package checker

import (
	"context"
	"fmt"
	"time"
)

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
