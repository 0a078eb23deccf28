package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// execTool is the tool exec.
type execTool struct{ *Executor }

type execArgs struct {
	Argv commandLine `json:"argv" about:"program and arguments; one string is split as a shell would, and given to sh -c where it has shell syntax"`
	Cwd  *string     `json:"cwd,omitzero" about:"directory relative to the workspace root; the root when absent"`
	// Timeout and Background exclude each other: what runs in the background has none.
	Timeout    int  `json:"timeout,omitzero" about:"seconds until it is ended"`
	Background bool `json:"background,omitzero" about:"let it run on, a server for instance, and look at it with job"`
	// Network is only looked at where commands have none by themselves.
	Network bool `json:"network,omitzero" about:"true when it must reach other machines, to install packages for instance; the person is asked"`
}

func (execTool) Definition() Definition {
	return Define[execArgs]("exec", "Run a program. Its output and exit code come back. A list is run without a shell: no pipes, globs or redirection.", Run)
}

func (t execTool) Decide(_ context.Context, c Call) Decision {
	return t.decide(Arguments[execArgs](c))
}

func (t execTool) Run(ctx context.Context, c Call) Outcome {
	return t.run(ctx, Arguments[execArgs](c))
}

func (t execTool) decide(op execArgs) Decision {
	cwd := op.dir()
	line := workspace.CommandLine(op.Argv)
	if c, ok := t.asGit(op); ok {
		return gitTool(t).decideCommand(c, line, cwd)
	}
	title := "Run " + clip(line)
	if op.Background {
		title += " in the background"
	}
	d := Decision{Title: title, Detail: line + "\nin " + cwd, Effect: Run, Verdict: Ask, Executes: true, Lasting: lastingCommand(op.Argv, cwd)}
	if mode := t.policy().Mode; mode == ModeAll || mode == ModeAuto && t.runsUnasked(op) {
		d.Verdict = Allow
	}
	if t.policy().Untrusted {
		d.Verdict, d.Reason = Deny, Untrusted
	}
	s := subject{family: FamilyExec, argv: op.Argv, unfolded: unfold(op.Argv), dir: cwd}
	if t.connects(op) && t.cfg.Exec.AskNetwork {
		d.Title, d.Detail = d.Title+" with network", d.Detail+"\nwith network"
		s.network, d.Lasting.Network, d.Lasting.SessionOnly = true, true, true
		d.Lasting.Words += ", with network"
	}
	always := ""
	if t.policy().doubts(s.unfolded) {
		always = "it cannot be told whether it runs what a rule denies"
	}
	if name, ok := t.decider().namesUnread(s.unfolded, cwd); ok && d.Verdict != Deny {
		d.Verdict, d.Reason = Deny, "a rule of the configuration denies reading "+clip(name)
	}
	return t.decider().applyRules(d, s, always)
}

// connects reports whether a call is to run with network: it says so, or the person
// allowed that for all such commands.
func (t execTool) connects(op execArgs) bool {
	return op.Network || t.decider().covers(subject{family: FamilyExec, argv: op.Argv, dir: op.dir(), network: true})
}

// dir is the working directory that a call names, the root's when it names none.
func (op execArgs) dir() string {
	if op.Cwd == nil || *op.Cwd == "" {
		return "."
	}
	return path.Clean(filepath.ToSlash(*op.Cwd))
}

// asGit returns the call as one of the tool git, whose rules and ways then apply to
// it, and false for what that tool does not run.
func (t execTool) asGit(op execArgs) (gitCommand, bool) {
	if len(op.Argv) < 2 || op.Argv[0] != "git" {
		return gitCommand{}, false
	}
	c, err := parseGit(op.Argv[1:])
	if err != nil || strings.HasPrefix(c.dir, "/") {
		return c, false
	}
	c.dir = path.Join(op.dir(), filepath.ToSlash(c.dir))
	_, err = gitTool(t).inside(c)
	return c, err == nil
}

func (t execTool) run(ctx context.Context, op execArgs) Outcome {
	if c, ok := t.asGit(op); ok {
		return gitTool(t).runCommand(ctx, c)
	}
	if t.policy().Untrusted {
		return failf("not run: %s", Untrusted)
	}
	if len(op.Argv) == 0 || op.Argv[0] == "" {
		return failf("no program is named: argv needs at least one argument")
	}
	for _, a := range op.Argv {
		if strings.IndexByte(a, 0) >= 0 {
			return failf("an argument has a NUL byte in it")
		}
	}
	dir, err := t.cleanCwd(op.Cwd)
	if err != nil {
		return failf("not run: the working directory: %s", err)
	}
	limit, err := t.limit(op)
	if err != nil {
		return failed(err)
	}
	spec := proc.Spec{Argv: op.Argv, Dir: dir, Env: t.env(), Timeout: limit}
	connects := t.connects(op)
	box := t.cfg.Exec.Sandbox
	if box != nil && (!box.Network || t.cfg.Exec.AskNetwork && !connects) {
		spec.Env = withoutRetries(spec.Env)
	}
	if box != nil && installs(op.Argv) {
		spec.Env = withoutHooks(spec.Env)
	}
	spec.Policy = t.confinement(connects)
	if op.Background {
		return t.background(spec)
	}
	out, r := t.command(ctx, spec, true)
	if t.cfg.Exec.AskNetwork && box != nil && !connects && wasOffline(r) {
		out.Again = withNetwork(op, out)
	}
	if box != nil {
		out.Text += t.advice(op, dir, r)
	}
	return out
}

// longest is how long a command may take whose call asks for more than the setting.
const longest = 10 * time.Minute

// limit returns how long a command may take.
func (t execTool) limit(op execArgs) (time.Duration, error) {
	most := max(longest, t.cfg.Exec.Timeout)
	asked := time.Duration(op.Timeout) * time.Second
	switch {
	case op.Timeout == 0:
		return t.cfg.Exec.Timeout, nil
	case op.Timeout < 0 || op.Timeout > int(most/time.Second):
		return 0, fmt.Errorf("not run: the timeout is %d seconds, and at most %d are given; background: true runs it without one", op.Timeout, int(most/time.Second))
	}
	return asked, nil
}

// background starts a command that runs on.
func (t execTool) background(spec proc.Spec) Outcome {
	if _, err := proc.Look(spec.Argv[0], spec.Dir, spec.Env); err != nil {
		return failf("%s was not found", spec.Argv[0])
	}
	j, err := t.jobs.start(spec)
	if err != nil {
		return failf("not run: %s", err)
	}
	return Outcome{State: Completed, Text: fmt.Sprintf("started in the background as job %d: job {\"id\": %d, \"action\": \"output\"} shows what it prints; it ends with the session", j.id, j.id)}
}

// env returns the environment of a command: no secrets, and settings that keep
// programs from prompting and from decorating their output.
func (t execTool) env() []string {
	env := t.cfg.Exec.env()
	for _, kv := range []string{"PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "NO_COLOR=1", "TERM=dumb"} {
		name, value, _ := strings.Cut(kv, "=")
		env = proc.Setenv(env, name, value)
	}
	return env
}

// command runs a program. The outcome's text reports how it ended, what it printed
// and which files it changed.
func (e *Executor) command(ctx context.Context, spec proc.Spec, mutates bool) (Outcome, proc.Result) {
	var detector *changeDetector
	if mutates {
		detector = newChangeDetector(ctx, e)
	}
	r, err := proc.Run(ctx, spec)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return failf("%s may not be run: permission denied", spec.Argv[0]), r
		}
		return failf("%s could not be started: %s", spec.Argv[0], err), r
	}
	out := Outcome{State: stateOf(r), Text: ended(spec, r, e.cfg.Exec.Output) + putBackText(workspace.RealPath(e.ws.Dir()), r.PutBack)}
	if spec.Policy.Offline() {
		out.Text += e.offlineText(r)
	}
	out.Text += e.stoppedText(r)
	// What is done is done, also when the turn was cancelled meanwhile.
	if detector != nil {
		out.Touched = detector.changed(context.WithoutCancel(ctx))
		out.Text += touchedText(out.Touched)
	}
	return out, r
}

// stateOf returns the state of a call whose program ended with this result.
func stateOf(r proc.Result) State {
	switch {
	case r.Cancelled:
		return Cancelled
	case !r.OK():
		return Failed
	}
	return Completed
}

// ended describes how a program ended and what it printed, at most keep characters
// of each stream.
func ended(spec proc.Spec, r proc.Result, keep int) string {
	var head string
	switch {
	case r.NotFound:
		if strings.ContainsRune(spec.Argv[0], '/') {
			return spec.Argv[0] + " was not found"
		}
		return spec.Argv[0] + " was not found on the PATH"
	case r.TimedOut:
		head = fmt.Sprintf("timed out: it did not end within %gs and was killed", spec.Timeout.Seconds())
	case r.Cancelled:
		head = "cancelled: it was killed"
	case r.Signal != "":
		head = "killed by " + r.Signal
	default:
		head = fmt.Sprintf("exit code %d", r.Code)
	}
	if r.LeftRunning {
		head += "; what it left running in the background was ended"
	}
	stdout := shownOutput(r.Stdout, keep)
	stderr := shownOutput(r.Stderr, keep)
	var b strings.Builder
	b.WriteString(head)
	if strings.TrimSpace(stdout) == "" && strings.TrimSpace(stderr) == "" {
		b.WriteString("\n" + NoOutput)
		return b.String()
	}
	if strings.TrimSpace(stdout) != "" {
		b.WriteString("\n" + strings.TrimRight(stdout, "\n"))
	}
	if strings.TrimSpace(stderr) != "" {
		b.WriteString("\n[stderr]\n" + strings.TrimRight(stderr, "\n"))
	}
	return b.String()
}

// NoOutput ends the text of a command that printed nothing and changed no file.
const NoOutput = "[no output]"

// touchedText lists the files that a command changed, for the model.
func touchedText(paths []string) string {
	const most = 50
	if len(paths) == 0 {
		return ""
	}
	more := ""
	if len(paths) > most {
		more = fmt.Sprintf(" and %d more", len(paths)-most)
		paths = paths[:most]
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = workspace.Listed(p)
	}
	return "\n[changed files: " + strings.Join(names, ", ") + more + "]"
}
