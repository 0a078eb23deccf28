package checker

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// The causes by which a Checker ends a check that it started.
var (
	errSuperseded = errors.New("superseded by a newer check of the root")
	errClosed     = errors.New("the checker is closed")
)

// Checker runs checks. One check of a root runs at a time: a newer one cancels
// the running one and takes its place. It is safe for concurrent use; Close ends
// it.
type Checker struct {
	cfg  Config
	work chan struct{} // as many tokens as checks may run at once

	life context.Context // done when the Checker is closed
	end  context.CancelCauseFunc

	mu     sync.Mutex // guards the rest
	closed bool
	wait   sync.WaitGroup
	roots  map[rootKey]*rootState
	homes  map[string]home // where cargo says that a package's workspace is

	unparsed map[string]bool // data files that do not parse
}

type rootKey struct{ root, ecosystem string }

// rootState is the state of a root between checks.
type rootState struct {
	workspace string                  // that the root was last checked in
	cancel    context.CancelCauseFunc // of the newest check, nil when it ended
	done      chan struct{}           // closed when the newest check ended
	before    map[string]*baseline    // of the last complete check, by its command line
	unseen    []string                // edited files that the last complete check did not read
}

// New returns a Checker. It starts nothing.
func New(cfg Config) *Checker {
	life, end := context.WithCancelCause(context.Background())
	return &Checker{
		life: life, end: end,
		cfg:   cfg,
		work:  make(chan struct{}, max(2, runtime.NumCPU())),
		roots: make(map[rootKey]*rootState),
		homes: make(map[string]home),

		unparsed: make(map[string]bool),
	}
}

// Close cancels every check, waits for the last one to end and makes later ones
// Failed. It is safe to call more than once.
func (c *Checker) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end(errClosed)
	c.wait.Wait()
	return nil
}

// enter starts a call: its context is done when the Checker is closed as well, and
// leave ends it. ok is false when the Checker is closed already.
func (c *Checker) enter(ctx context.Context) (_ context.Context, leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, false
	}
	c.wait.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(errClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		c.wait.Done()
	}, true
}

// AfterEdit checks every root that the edited files belong to, each once, and
// returns the results in the order of the roots. The paths are absolute or relative to the
// workspace; those outside it are left out. It is called once for all edits of a
// reply, after the last of them is on the disk. It never fails: what went wrong
// is a Result. Files that belong to no root give one Skipped together. Edited data
// files (JSON, YAML, TOML, notebooks) are parsed wherever they are: while one cannot
// be, a Found of the ecosystem Data says so, whose root is the file.
func (c *Checker) AfterEdit(ctx context.Context, workspace string, edited []string) []Result {
	workspace = absolute(workspace)
	data := c.data(workspace, inside(workspace, edited))
	if !c.mayRun(ctx, func() bool { return c.runs(workspace, edited) }) {
		return append([]Result{untrusted(workspace)}, data...)
	}
	ctx, leave, ok := c.enter(ctx)
	if !ok {
		return []Result{closed(job{root: workspace, edited: edited})}
	}
	defer leave()
	jobs, homeless := c.jobs(ctx, workspace, edited)
	results := make([]Result, len(jobs))
	var group sync.WaitGroup
	for i, j := range jobs {
		group.Go(func() { results[i] = c.schedule(ctx, j) })
	}
	group.Wait()
	if homeless {
		results = append(results, noMarker(workspace))
	}
	return append(results, data...)
}

// Check checks one root now. Findings outside the root are dropped, unless the
// root was checked by AfterEdit before: then its workspace is the bound.
func (c *Checker) Check(ctx context.Context, root string) Result {
	root = absolute(root)
	c.mu.Lock()
	isData := c.unparsed[root]
	c.mu.Unlock()
	if isData {
		dir := filepath.Dir(root)
		r, _ := c.datum(dir, root, c.cfg.unsaved(dir))
		return r
	}
	tc, known := c.cfg.checkable(root)
	if named := c.cfg.named(); len(named) > 0 && (!known || !c.cfg.checks(root, tc)) {
		tc, known = named[0], true
	}
	if !c.mayRun(ctx, func() bool { return known }) {
		return untrusted(root)
	}
	ctx, leave, ok := c.enter(ctx)
	if !ok {
		return closed(job{root: root})
	}
	defer leave()
	if !known {
		return noMarker(root)
	}
	workspace := root
	c.mu.Lock()
	if st := c.roots[rootKey{root, tc.Ecosystem}]; st != nil {
		workspace = st.workspace
	}
	c.mu.Unlock()
	return c.schedule(ctx, job{workspace: workspace, root: root, tc: tc})
}

// mayRun reports whether a check may start programs; a person is only asked when it
// would start any.
func (c *Checker) mayRun(ctx context.Context, starts func() bool) bool {
	if !c.cfg.Trusted {
		return false
	}
	return c.cfg.Trust == nil || !starts() || c.cfg.Trust(ctx)
}

// runs reports whether the check of edited files starts programs: one of them belongs
// to a root, or there are commands for the whole workspace.
func (c *Checker) runs(workspace string, edited []string) bool {
	edited = inside(workspace, edited)
	return len(edited) > 0 && len(c.cfg.named()) > 0 || slices.ContainsFunc(edited, func(path string) bool {
		_, _, ok := c.cfg.rootOf(workspace, path)
		return ok
	})
}

// wouldRun reports whether the check of edited files runs a command.
func (c *Checker) wouldRun(workspace string, edited []string) bool {
	workspace = absolute(workspace)
	edited = inside(workspace, edited)
	if !c.cfg.Trusted || len(edited) == 0 {
		return false
	}
	return len(c.cfg.named()) > 0 || slices.ContainsFunc(edited, func(path string) bool {
		root, tc, ok := c.cfg.rootOf(workspace, path)
		return ok && c.cfg.checks(root, tc)
	})
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

func untrusted(root string) Result {
	return Result{Outcome: Skipped, Root: root, New: -1, Text: "the workspace is not trusted, and a check runs the project's own code"}
}

func closed(j job) Result {
	return failed(Result{Root: j.root, New: -1}, "the checker is closed, so "+j.unchecked())
}

func noMarker(root string) Result {
	return Result{
		Outcome: Skipped, Root: root, New: -1,
		Text: "no project marker (Cargo.toml, package.json, go.mod, pyproject.toml and the like) is in this root",
	}
}

// inside makes the edited paths absolute and leaves those outside the workspace out.
func inside(workspace string, edited []string) []string {
	var all []string
	for _, path := range edited {
		if !filepath.IsAbs(path) {
			path = filepath.Join(workspace, filepath.FromSlash(path))
		}
		path = filepath.Clean(path)
		if !within(workspace, path) {
			spelled, inside := newPlaces(workspace).resolve(workspace, path)
			if !inside {
				continue
			}
			path = spelled
		}
		all = append(all, path)
	}
	return all
}

// jobs groups the edited files by the roots that they are checked in; homeless
// reports whether some belong to none.
func (c *Checker) jobs(ctx context.Context, workspace string, edited []string) (jobs []job, homeless bool) {
	began := time.Now()
	edited = inside(workspace, edited)
	named := c.cfg.named()
	for _, tc := range named {
		if len(edited) > 0 {
			jobs = append(jobs, job{workspace: workspace, root: workspace, tc: tc, edited: edited})
		}
	}
	for _, path := range edited {
		root, tc, ok := c.cfg.rootOf(workspace, path)
		if !ok {
			homeless = len(named) == 0
			continue
		}
		root, tc = c.promote(ctx, workspace, root, tc, c.left(job{spent: time.Since(began)}))
		at := slices.IndexFunc(jobs, func(j job) bool {
			return j.root == root && j.tc.Ecosystem == tc.Ecosystem
		})
		if at < 0 {
			at = len(jobs)
			jobs = append(jobs, job{workspace: workspace, root: root, tc: tc})
		}
		if !slices.Contains(jobs[at].edited, path) {
			jobs[at].edited = append(jobs[at].edited, path)
		}
	}
	for i := range jobs {
		jobs[i].spent = time.Since(began)
	}
	slices.SortStableFunc(jobs, func(a, b job) int {
		if a.root != b.root {
			if a.root < b.root {
				return -1
			}
			return 1
		}
		return 0
	})
	return jobs, homeless
}

// schedule makes a check the newest of its root: the one that runs is cancelled
// and waited for, which takes no longer than ending a process group.
func (c *Checker) schedule(ctx context.Context, j job) Result {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	key := rootKey{j.root, j.tc.Ecosystem}

	c.mu.Lock()
	st := c.roots[key]
	if st == nil {
		st = &rootState{before: make(map[string]*baseline)}
		c.roots[key] = st
	}
	previous := st.done
	if st.cancel != nil {
		st.cancel(errSuperseded)
	}
	st.cancel, st.done, st.workspace = cancel, done, j.workspace
	c.mu.Unlock()

	if previous != nil {
		<-previous
	}
	defer close(done)
	select {
	case c.work <- struct{}{}:
		defer func() { <-c.work }()
	case <-ctx.Done():
	}
	r := c.do(ctx, j)

	c.mu.Lock()
	defer c.mu.Unlock()
	if st.done == done {
		st.cancel = nil
	}
	return r
}
