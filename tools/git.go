package tools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// gitSafe are settings for every run of git: nothing waits, nothing stays behind
// in the background, and no program is started merely to look at the work tree.
var gitSafe = []string{
	"-c", "core.fsmonitor=false", "-c", "core.pager=cat", "-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false",
	"-c", "credential.interactive=never", "-c", "protocol.ext.allow=never", "-c", "grep.fallbackToNoIndex=false",
}

// env returns the environment of a subcommand of git: no secrets, no prompts, no
// editor, no screen. Those that connect to remotes get the socket of an SSH agent.
func (t gitTool) env(name string) []string {
	var env []string
	for _, kv := range t.cfg.Exec.env() {
		variable, _, _ := strings.Cut(kv, "=")
		if !slices.Contains([]string{"DISPLAY", "WAYLAND_DISPLAY", "GPG_TTY"}, variable) { // though kept for commands
			env = append(env, kv)
		}
	}
	if sock, ok := proc.Getenv(t.cfg.Exec.baseEnv(), "SSH_AUTH_SOCK"); ok && slices.Contains(gitConnects, name) {
		env = append(env, "SSH_AUTH_SOCK="+sock)
	}
	if _, ok := proc.Getenv(env, "GIT_SSH_COMMAND"); !ok {
		env = append(env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes")
	}
	for _, kv := range []string{
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_PAGER=cat",
		"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "GCM_INTERACTIVE=never", "GIT_MERGE_AUTOEDIT=no", "TERM=dumb",
	} {
		name, value, _ := strings.Cut(kv, "=")
		env = proc.Setenv(env, name, value)
	}
	return env
}

// gitTool is the tool git.
type gitTool struct{ *Executor }

type gitArgs struct {
	Argv []string `json:"argv" about:"arguments after git, e.g. [\"diff\",\"--stat\"]"`
}

func (gitTool) Definition() Definition {
	return Define[gitArgs]("git", "Run git in the workspace root.", Run)
}

func (t gitTool) Decide(_ context.Context, c Call) Decision {
	return t.decide(Arguments[gitArgs](c))
}

func (t gitTool) Run(ctx context.Context, c Call) Outcome { return t.run(ctx, Arguments[gitArgs](c)) }

func (t gitTool) decide(op gitArgs) Decision {
	line := workspace.CommandLine(append([]string{"git"}, op.Argv...))
	c, err := parseGit(op.Argv)
	if err == nil {
		_, err = t.inside(c)
	}
	if err != nil {
		return Decision{Title: "Run " + clip(line), Detail: line + "\nin .", Verdict: Deny, Effect: Run, Reason: err.Error()}
	}
	return t.decideCommand(c, line, ".")
}

// decideCommand is decide for a call that may be run at all; line and cwd are shown.
func (t gitTool) decideCommand(c gitCommand, line, cwd string) Decision {
	d := Decision{Title: "Run " + clip(line), Detail: line + "\nin " + cwd, Verdict: Ask, Effect: Run, Executes: !c.reads, Lasting: lastingGit(c)}
	if c.reads {
		d.Effect = Read
	}
	if mode := t.policy().Mode; c.reads || mode == ModeAll || mode == ModeAuto && c.runsUnasked() {
		d.Verdict = Allow
	}
	if t.policy().Untrusted && !c.reads {
		d.Verdict, d.Reason = Deny, Untrusted
	}
	if remote := t.localRemote(c); remote != "" {
		d.Detail += "\nthe remote is " + remote
	}
	return t.decider().applyRules(d, subject{family: FamilyGit, argv: append([]string{c.name}, c.args...), dir: path.Clean(c.dir)}, "")
}

// inside returns the directory that a command is to run in. It fails for a directory
// outside the workspace, for a repository that git must not use, and for a git diff
// of files outside: git diff compares any two files when one of them lies outside.
func (t gitTool) inside(c gitCommand) (dir string, err error) {
	dir, err = t.cleanCwd(&c.dir)
	if err != nil {
		return "", fmt.Errorf("git -C: %w", err)
	}
	if _, _, err := t.repos.find(workspace.RealPath(dir)); err != nil {
		return "", err
	}
	if c.name != "diff" {
		return dir, nil
	}
	for _, a := range c.args {
		if leadsOut(t.ws, dir, a) { // options too: behind -- they are paths
			return "", fmt.Errorf("git diff %s is not allowed: that is outside the workspace", clip(a))
		}
	}
	return dir, nil
}

func (t gitTool) run(ctx context.Context, op gitArgs) Outcome {
	c, err := parseGit(op.Argv)
	if err != nil {
		return failf("not run: %s", err)
	}
	return t.runCommand(ctx, c)
}

func (t gitTool) runCommand(ctx context.Context, c gitCommand) Outcome {
	dir, err := t.inside(c)
	if err != nil {
		return failf("not run: %s", err)
	}
	if c.reads && c.name != "version" { // which needs no repository and reads none
		return t.runReading(ctx, c, dir)
	}
	if !c.reads && t.policy().Untrusted {
		return failf("not run: %s", Untrusted)
	}
	env := t.env(c.name)
	out, _ := t.command(ctx, proc.Spec{
		Argv: slices.Concat([]string{"git"}, gitSafe, []string{c.name}, c.flags, c.args), Dir: dir, Env: env,
		Timeout: t.cfg.Exec.Timeout, Policy: t.confinement(c, env),
	}, !c.reads)
	return out
}

// runReading performs a call that only reads, which needs no approval.
func (t gitTool) runReading(ctx context.Context, c gitCommand, dir string) Outcome {
	r, ok, err := t.repos.find(workspace.RealPath(dir))
	if err == nil && !ok {
		err = errors.New("the workspace is in no git repository")
	}
	if err != nil {
		return failf("not run: %s", err)
	}
	if c, err = t.withoutDenied(ctx, c, r, dir); err != nil {
		return failf("not run: %s", err)
	}
	spec, res, err := t.repos.run(ctx, r, dir, slices.Concat([]string{c.name}, c.flags, c.args), t.cfg.Exec.Timeout, 0)
	if err != nil {
		return failf("not run: %s", err)
	}
	return Outcome{State: stateOf(res), Text: ended(spec, res, t.cfg.Exec.Output)}
}
