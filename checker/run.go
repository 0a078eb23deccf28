package checker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// keep is how many bytes of each of a tool's streams are kept from its start:
// enough for the JSON of a large project, and a bound for one that never stops.
const keep = 16 << 20

// job is one check to make.
type job struct {
	workspace string
	root      string
	tc        Toolchain
	edited    []string          // absolute; empty when nobody edited anything
	unsaved   map[string]string // texts of the root that differ from the disk
	spent     time.Duration     // of the time limit, on finding the root
	attempt   int               // of the same check: 1 after files changed during the first
}

// left returns the rest of a job's time limit, negative when it is used up.
func (c *Checker) left(j job) time.Duration {
	if left := c.cfg.timeout() - j.spent; left > 0 {
		return left
	}
	return -1
}

// unchecked ends the sentence of every failure.
func (j job) unchecked() string {
	if len(j.edited) == 0 {
		return "this root is unchecked"
	}
	return "this edit is unchecked"
}

// do makes one check from beginning to end.
func (c *Checker) do(ctx context.Context, j job) Result {
	began, before := time.Now(), infoOf(j.edited)
	r := Result{Root: j.root, Ecosystem: j.tc.Ecosystem, New: -1, Began: began}
	j.unsaved = c.cfg.unsaved(j.root)
	p := c.plan(ctx, j)
	defer func() {
		if p.release != nil {
			p.release()
		}
	}()
	r.Command = p.shown
	switch {
	case p.skip != "":
		r.Outcome, r.Text, r.Command = Skipped, p.skip, nil
		return r
	case p.fail != "":
		r.Superseded = errors.Is(context.Cause(ctx), errSuperseded)
		return failed(r, p.fail)
	}
	j.spent += time.Since(began)
	rep, why := c.look(ctx, j, p)
	changed := c.changedMeanwhile(j, p, &rep, began, before)
	if again := time.Now(); why == "" && len(changed) > 0 && j.attempt == 0 && ctx.Err() == nil {
		// The findings are of texts that no longer exist.
		j.attempt, j.spent = 1, j.spent+again.Sub(began)
		if p.release != nil {
			p.release()
			p.release = nil
		}
		return c.do(ctx, j)
	}
	p.changed = changed
	r.Took = time.Since(began)
	if why != "" {
		r.Superseded, r.Searched = errors.Is(context.Cause(ctx), errSuperseded), rep.searched
		return failed(r, why)
	}
	return c.checked(j, p, rep, r)
}

// look runs a plan's commands and parses their output; why is set if they did not
// check.
func (c *Checker) look(ctx context.Context, j job, p plan) (rep report, why string) {
	began := time.Now()
	ran, err := c.execute(ctx, p.dir, p.argv, c.left(j))
	if why := c.noOutput(ctx, j, p, ran, err); why != "" {
		return c.searched(p, ran), why
	}
	out := readOutput(ran, p.tidy)
	if p.configured {
		rep = newPlaces(j.workspace).read(p, out, began, c.cfg.unsaved(j.root))
	} else {
		rep = p.parse(out)
	}
	rep.noteCrash(out)
	if n := ran.Stdout.Elided + ran.Stderr.Elided; n > 0 && rep.partial == "" {
		rep.partial = fmt.Sprintf("the tool printed so much that %d bytes of it were not read", n)
	}
	if why := verdict(j, p, ran.Code, &rep); why != "" {
		return rep, why
	}
	for _, s := range p.beside {
		if s.skip != nil && s.skip(&rep) {
			continue
		}
		left := j
		left.spent += time.Since(began)
		ran, err := c.execute(ctx, p.dir, s.argv, c.left(left))
		q := p
		q.argv, q.shown = s.argv, s.argv
		if why := c.noOutput(ctx, j, q, ran, err); why != "" {
			return c.searched(q, ran), why
		}
		s.read(&rep, readOutput(ran, p.tidy))
	}
	return rep, ""
}

// execute runs one command of a check.
func (c *Checker) execute(ctx context.Context, dir string, argv []string, limit time.Duration) (proc.Result, error) {
	return proc.Run(ctx, proc.Spec{
		Argv: argv, Dir: dir, Env: c.cfg.env(dir), Timeout: limit,
		KeepHead: keep, KeepTail: 1 << 20, Policy: c.cfg.Policy,
	})
}

// checked makes the result of a tool that did check.
func (c *Checker) checked(j job, p plan, rep report, r Result) Result {
	base := p.base
	if base == "" {
		base = p.dir
	}
	if p.readsDisk {
		// What was saved meanwhile, or typed, may have been read as it was before.
		maps.Copy(j.unsaved, c.cfg.unsaved(j.root))
	} else {
		r.Unsaved = j.unsaved
	}
	r.Findings = newPlaces(j.workspace).apply(&rep, base, p.bom, r.Unsaved)
	rep.withoutOutside(base, j.workspace)
	before := c.remember(j, p, newBaseline(&rep))
	r.Findings = rep.dropKnown(before, j.edited, r.Findings)
	r.Unseen = c.unseen(j, p)
	note := limits(j, p, r.Unseen)
	if len(rep.blocks) > 0 {
		r.Outcome = Found
		t := rendering{command: p.title(&rep), root: j.root, edited: j.edited, rep: &rep, note: note, cap: c.cfg.cap()}
		r.Text, r.New = t.render(before)
		return r
	}
	if stale := uncheckedEdits(j, p); stale != "" {
		return failed(r, stale)
	}
	if before != nil {
		r.New = 0
	}
	if len(j.edited) > 0 && !slices.ContainsFunc(j.edited, func(path string) bool { return !isUnseen(r.Unseen, path) }) {
		r.Outcome, r.Text, r.Command = Skipped, note, nil
		return r
	}
	r.Outcome, r.Note = Clean, note
	return r
}

// searched is the report of a run that gave nothing: where its program was looked for
// in vain, if that is why.
func (c *Checker) searched(p plan, ran proc.Result) (rep report) {
	if ran.NotFound {
		rep.searched, _ = proc.Getenv(c.cfg.env(p.dir), "PATH")
	}
	return rep
}

// noOutput returns why a run gave nothing to read, "" when it did.
func (c *Checker) noOutput(ctx context.Context, j job, p plan, ran proc.Result, err error) string {
	cmd := "`" + workspace.CommandLine(p.shown) + "`"
	switch {
	case err != nil:
		return fmt.Sprintf("%s could not be started (%v), so %s", cmd, err, j.unchecked())
	case ran.NotFound:
		where := p.where
		if where != "" {
			where += " or "
		}
		return fmt.Sprintf("%s could not run, because there is no program `%s` %son PATH, so %s",
			cmd, filepath.Base(p.argv[0]), where, j.unchecked())
	case ran.TimedOut && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Sprintf("%s did not finish before its caller's deadline, so %s", cmd, j.unchecked())
	case ran.TimedOut:
		return fmt.Sprintf("%s did not finish within %s%s, so %s", cmd, seconds(c.cfg.timeout()), blocked(ran), j.unchecked())
	case ran.Cancelled && errors.Is(context.Cause(ctx), errSuperseded):
		return fmt.Sprintf("%s was stopped because a newer check of the same root took its place, so %s by this one", cmd, j.unchecked())
	case ran.Cancelled && errors.Is(context.Cause(ctx), errClosed):
		return fmt.Sprintf("%s was stopped because the checker is closed, so %s", cmd, j.unchecked())
	case ran.Cancelled:
		return fmt.Sprintf("%s was cancelled, so %s", cmd, j.unchecked())
	case ran.Signal != "":
		return fmt.Sprintf("%s was ended by a signal (%s), so %s", cmd, ran.Signal, j.unchecked())
	}
	return ""
}

// blocked quotes the line by which cargo says that another process has its lock.
func blocked(ran proc.Result) string {
	for line := range lines(plain(ran.Stderr.String())) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Blocking waiting for file lock") {
			return " (" + line + ")"
		}
	}
	return ""
}

// verdict decides whether a tool that ran did check: "" when it did, else why
// not. What a tool that succeeded printed without finding anything is chatter.
func verdict(j job, p plan, code int, rep *report) string {
	cmd := "`" + workspace.CommandLine(p.shown) + "`"
	switch {
	case rep.broken != "":
		return fmt.Sprintf("%s could not check, so %s: %s", cmd, j.unchecked(), headAndTail(rep.broken, 2000))
	case rep.findings("") > 0:
		return ""
	case code == 0:
		rep.blocks = nil
		return ""
	case code == 126 || code == 127:
		// So end the shells and wrappers that tools are started through when the
		// program behind them cannot be run.
		return fmt.Sprintf("%s could not be started (exit code %d), so %s: %s", cmd, code, j.unchecked(), headAndTail(rep.text(), 2000))
	case rep.text() == "":
		return fmt.Sprintf("%s exited with %d and reported nothing, so %s", cmd, code, j.unchecked())
	}
	return ""
}

// limits says what the check did not look at.
func limits(j job, p plan, unseen []Unseen) string {
	var notes []string
	if len(unseen) > 0 {
		notes = append(notes, notLookedAt(j.root, unseen))
	}
	if p.readsDisk && len(j.unsaved) > 0 {
		notes = append(notes, "checked the saved text: "+names(j.root, sorted(j.unsaved))+" not saved yet")
	}
	if len(p.changed) > 0 {
		notes = append(notes, changedNote(j.root, p.changed))
	}
	if len(p.outside) > 0 {
		notes = append(notes, names(j.root, p.outside)+" unchecked, being in no module that is built here")
	}
	return strings.Join(notes, "; ")
}

// uncheckedEdits says that a tool with nothing to report did not look at what was
// edited, "" when it did.
func uncheckedEdits(j job, p plan) string {
	cmd := "`" + workspace.CommandLine(p.shown) + "`"
	if len(p.outside) > 0 {
		return fmt.Sprintf("%s does not look at %s, being in no module that is built here, so %s",
			cmd, workspace.Relative(j.root, p.outside[0]), j.unchecked())
	}
	if !p.readsDisk {
		return ""
	}
	for _, path := range j.edited {
		if _, is := j.unsaved[path]; is {
			return fmt.Sprintf("%s checked the saved text and %s is not saved, so %s",
				cmd, workspace.Relative(j.root, path), j.unchecked())
		}
	}
	return ""
}

func failed(r Result, why string) Result {
	r.Outcome, r.Text, r.Findings = Failed, why, nil
	return r
}

func readOutput(ran proc.Result, tidy func(string) string) output {
	out := output{stdout: plain(ran.Stdout.String()), stderr: plain(ran.Stderr.String()), code: ran.Code}
	if tidy != nil {
		out.stdout, out.stderr = tidy(out.stdout), tidy(out.stderr)
	}
	return out
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(max(d, 0).Seconds(), 'f', -1, 64) + "s"
}

func sorted(texts map[string]string) []string {
	paths := make([]string, 0, len(texts))
	for path := range texts {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// names lists files with the verb that fits their number.
func names(root string, paths []string) string {
	const shown = 5
	list := make([]string, 0, shown)
	for _, path := range paths[:min(len(paths), shown)] {
		list = append(list, workspace.Relative(root, path))
	}
	if more := len(paths) - shown; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	if len(paths) == 1 {
		return list[0] + " is"
	}
	return strings.Join(list, ", ") + " are"
}
