package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// gitUntrusted are settings for git in a workspace of which nothing may run. A
// repository inside another one has a configuration of its own, so git does not
// look into any.
var gitUntrusted = []string{
	"-c", "core.hooksPath=/dev/null", "-c", "core.attributesFile=/dev/null",
	"-c", "submodule.recurse=false", "-c", "diff.submodule=short", "-c", "status.submoduleSummary=false",
}

// gitDescends are options that make git look into the repositories inside a
// repository, or may.
var gitDescends = []string{"--submodule", "--ignore-submodules", "--recurse-submodules", "--dirty", "--broken"}

// gitOnlyLooks refuses what may not be run in a workspace of which nothing is
// executed.
func gitOnlyLooks(c gitCommand) error {
	if !c.reads {
		return errors.New(untrusted)
	}
	if c.name == "submodule" {
		return fmt.Errorf("%s, and git submodule looks into other repositories", untrusted)
	}
	for _, a := range c.args {
		if o := abbreviates(a, gitDescends); o != "" {
			return fmt.Errorf("%s, and git %s %s looks into other repositories", untrusted, c.name, o)
		}
	}
	return nil
}

// gitStays are the options that keep a subcommand in its own repository.
func gitStays(c gitCommand) []string {
	if c.name == "status" || slices.Contains(gitDiffs, c.name) {
		return []string{"--ignore-submodules=all"}
	}
	return nil
}

// gitHarmless are names of settings in a repository that make git run nothing and
// look nowhere else: a section, a dot and the last part of the name.
var gitHarmless = []string{
	"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
	"core.autocrlf", "core.eol", "core.safecrlf", "core.quotepath", "core.abbrev", "core.longpaths", "core.protecthfs", "core.protectntfs",
	"core.fsmonitor", "core.hookspath", "core.pager", // these are overridden
	"remote.url", "remote.fetch", "remote.pushurl", "remote.tagopt", "remote.prune", "branch.remote", "branch.merge", "branch.rebase", "branch.description",
	"user.name", "user.email", "user.signingkey", "commit.gpgsign", "tag.gpgsign", "init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote",
	"submodule.url", "submodule.active", "gc.auto", "fetch.prune", "rerere.enabled", "color.ui", "extensions.objectformat", "status.showuntrackedfiles",
}

// harmlessConfig refuses the repository that git finds from dir if its own
// configuration could make git run a program while it reads, a filter or a monitor
// for instance.
func (e *Executor) harmlessConfig(ctx context.Context, dir string) error {
	r, err := proc.Run(ctx, proc.Spec{
		Argv: slices.Concat([]string{"git"}, gitSafe, []string{"config", "--list", "--show-scope", "--name-only", "-z"}),
		Dir:  dir, Env: e.gitEnv(), Timeout: statusTimeout, Policy: looking(),
	})
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimSuffix(string(r.Stdout.Bytes()), "\x00"), "\x00")
	if !r.OK() || r.Stdout.Elided > 0 || len(fields)%2 != 0 {
		return fmt.Errorf("%s, and its git configuration cannot be judged", untrusted)
	}
	for i := 0; i < len(fields); i += 2 {
		if scope := fields[i]; scope == "system" || scope == "global" || scope == "command" {
			continue // the person's own, or given here
		}
		name := strings.ToLower(fields[i+1])
		section, _, _ := strings.Cut(name, ".")
		if !slices.Contains(gitHarmless, section+name[strings.LastIndexByte(name, '.'):]) {
			return fmt.Errorf("%s, and its git configuration sets %s", untrusted, fields[i+1])
		}
	}
	return nil
}
