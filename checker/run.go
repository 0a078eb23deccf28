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
	unsaved   map[string]string // texts of the root that the disk does not hold
	spent     time.Duration     // of the time limit, on finding the root
}

// left is what is left of a job's time, negative when that is nothing.
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

// plan is how a job is done: what to run, and how to read it.
type plan struct {
	argv  []string
	shown []string   // argv as it is told, without what differs from run to run
	then  [][]string // more commands of the same check, run after argv one by one
	dir   string     // where it runs and, unless base is set, where its paths start
	base  string
	parse parser
	// skip and fail, when set, are the answer: nothing is run.
	skip, fail string
	// readsDisk says that the tool cannot be told of unsaved texts.
	readsDisk bool
	// bom is the width of a byte order mark in the tool's columns, 0 when it does
	// not count one.
	bom int
	// outside are edited files that the command does not look at.
	outside []string
	where   string // where the program was looked for besides the PATH
	tidy    func(string) string
	release func()
}

// do makes one check from beginning to end. It answers the report as well, for
// what the next check compares itself with.
func (c *Checker) do(ctx context.Context, j job) (Result, *baseline) {
	began := time.Now()
	r := Result{Root: j.root, Ecosystem: j.tc.Ecosystem, New: -1, Began: began}
	j.unsaved = c.cfg.unsaved(j.root)
	p := c.plan(ctx, j)
	if p.release != nil {
		defer p.release()
	}
	r.Command = p.shown
	switch {
	case p.skip != "":
		r.Outcome, r.Text, r.Command = Skipped, p.skip, nil
		return r, nil
	case p.fail != "":
		r.Superseded = errors.Is(context.Cause(ctx), errSuperseded)
		return failed(r, p.fail), nil
	}
	j.spent += time.Since(began)
	ran, err := c.execute(ctx, p, c.left(j))
	r.Took = time.Since(began)
	if why := c.unanswered(ctx, j, p, ran, err); why != "" {
		r.Superseded = errors.Is(context.Cause(ctx), errSuperseded)
		return failed(r, why), nil
	}
	rep := p.parse(readOutput(ran, p.tidy))
	if n := ran.Stdout.Elided + ran.Stderr.Elided; n > 0 && rep.partial == "" {
		rep.partial = fmt.Sprintf("the tool printed so much that %d bytes of it were not read", n)
	}
	if why := verdict(j, p, ran.Code, &rep); why != "" {
		return failed(r, why), nil
	}
	return c.answer(j, p, rep, r)
}

// execute runs a plan's commands, all within one time limit, as if they were one.
// It stops at the first that gives no answer.
func (c *Checker) execute(ctx context.Context, p plan, limit time.Duration) (proc.Result, error) {
	began := time.Now()
	var all proc.Result
	for i, args := range slices.Concat([][]string{p.argv}, p.then) {
		left := limit
		if i > 0 {
			if left -= time.Since(began); left <= 0 {
				left = -1
			}
		}
		ran, err := proc.Run(ctx, proc.Spec{
			Argv: args, Dir: p.dir, Env: c.cfg.env(p.dir), Timeout: left,
			KeepHead: keep, KeepTail: 1 << 20, Policy: c.cfg.Policy,
		})
		if i == 0 {
			all = ran
		} else {
			code := max(all.Code, ran.Code)
			ran.Stdout = follow(all.Stdout, ran.Stdout)
			ran.Stderr = follow(all.Stderr, ran.Stderr)
			all, all.Code = ran, code
		}
		if err != nil || ran.NotFound || ran.TimedOut || ran.Cancelled || ran.Signal != "" {
			return all, err
		}
	}
	return all, nil
}

// follow puts a command's output behind that of the one before.
func follow(first, then proc.Output) proc.Output {
	return proc.Output{
		Head:   slices.Concat(first.Bytes(), then.Bytes()),
		Elided: first.Elided + then.Elided,
	}
}

// answer makes the Found or Clean of a tool that did check.
func (c *Checker) answer(j job, p plan, rep report, r Result) (Result, *baseline) {
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
	places := newPlaces(j.workspace)
	r.Findings = places.apply(&rep, base, p.bom, r.Unsaved)
	before := c.remember(j, p, len(rep.blocks) > 0)
	now := newBaseline(&rep)
	note := limits(j, p)
	if len(rep.blocks) == 0 {
		if stale := uncheckedEdits(j, p); stale != "" {
			return failed(r, stale), nil
		}
		r.Outcome, r.Note = Clean, note
		if before != nil {
			r.New = 0
		}
		return r, now
	}
	r.Outcome = Found
	t := telling{command: p.shown, root: j.root, edited: j.edited, rep: &rep, note: note, cap: c.cfg.cap()}
	r.Text, r.New = t.render(before)
	return r, now
}

// unanswered says why a run gave nothing to read, "" when it did.
func (c *Checker) unanswered(ctx context.Context, j job, p plan, ran proc.Result, err error) string {
	cmd := "`" + commandLine(p.shown) + "`"
	switch {
	case err != nil:
		return fmt.Sprintf("%s could not be started (%v), so %s", cmd, err, j.unchecked())
	case ran.NotFound:
		path, _ := proc.Getenv(c.cfg.env(p.dir), "PATH")
		where := p.where
		if where != "" {
			where += " or "
		}
		return fmt.Sprintf("%s could not run, because there is no program `%s` %son PATH (%s), so %s",
			cmd, filepath.Base(p.argv[0]), where, path, j.unchecked())
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

// blocked quotes the line by which cargo says that another one holds its lock.
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
	cmd := "`" + commandLine(p.shown) + "`"
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
func limits(j job, p plan) string {
	var notes []string
	if p.readsDisk && len(j.unsaved) > 0 {
		notes = append(notes, "checked the saved text: "+names(j.root, sorted(j.unsaved))+" not saved yet")
	}
	if len(p.outside) > 0 {
		notes = append(notes, names(j.root, p.outside)+" unchecked, being in no module that is built here")
	}
	return strings.Join(notes, "; ")
}

// uncheckedEdits says that a tool with nothing to report did not look at what was
// edited, "" when it did.
func uncheckedEdits(j job, p plan) string {
	cmd := "`" + commandLine(p.shown) + "`"
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
