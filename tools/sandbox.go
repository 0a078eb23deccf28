package tools

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/tools/sandbox"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// confinement returns the policy of commands: the session's sandbox with the
// workspace and its repository, except the files in them that programs obey. Network
// says that the call requests the network, which was then approved.
func (t execTool) confinement(network bool) proc.Policy {
	if t.cfg.Exec.Sandbox == nil {
		return switchedOff()
	}
	box := t.box()
	if t.cfg.Exec.AskNetwork {
		box.Network = network
	}
	box.Hidden = slices.Concat(box.Hidden, t.unread())
	root := workspace.RealPath(t.ws.Dir())
	sandbox.ProtectTree(&box, root)
	if r, ok, err := t.repos.find(root); ok && err == nil {
		if r.top != root {
			sandbox.ProtectTree(&box, r.top)
		}
		protectRepository(&box, r)
	}
	return proc.Confined(box)
}

// switchedOff is the policy where nothing confines commands.
func switchedOff() proc.Policy {
	return proc.Unconfined("the person switched the sandbox off, or the system has none")
}

func protectRepository(box *proc.Sandbox, r repository) {
	sandbox.ProtectGit(box, r.common)
	if r.dir != r.common {
		sandbox.ProtectGit(box, r.dir)
	}
}

// gitSettles are the subcommands that write a repository's settings by design, such
// as a branch's upstream. They need approval.
var gitSettles = []string{
	"push", "pull", "fetch", "branch", "switch", "checkout", "remote", "submodule", "config", "init", "clone", "worktree", "sparse-checkout", "subtree", "lfs",
}

// gitConnects are the subcommands that may connect to another machine.
var gitConnects = []string{"push", "fetch", "pull", "clone", "ls-remote", "remote", "submodule", "archive"}

// confinement returns the policy of an approved git call. It may write all files that
// git tracks, also those that programs obey, but no hooks; git's settings only for
// a subcommand that is meant to change them. A call that connects to another machine
// has the network and the person's SSH agent.
func (t gitTool) confinement(c gitCommand, env []string) proc.Policy {
	if t.cfg.Exec.Sandbox == nil {
		return switchedOff()
	}
	box := t.box()
	if r, ok, err := t.repos.find(workspace.RealPath(t.ws.Dir())); ok && err == nil {
		protectRepository(&box, r)
	}
	if t.Mode() == ModeAuto && c.runsUnasked() {
		sandbox.ProtectTree(&box, workspace.RealPath(t.ws.Dir())) // nobody saw the call
	}
	if slices.Contains(gitSettles, c.name) {
		box.Protected = slices.DeleteFunc(box.Protected, func(p string) bool { return strings.HasPrefix(filepath.Base(p), "config") })
	}
	if remote := t.localRemote(c); remote != "" {
		box.Readable = append(box.Readable, remote)
		if c.name == "push" {
			box.Writable = append(slices.Clone(box.Writable), remote)
			sandbox.ProtectGit(&box, remote)
		}
	}
	if slices.Contains(gitConnects, c.name) {
		box.Network = true
		if sock, ok := proc.Getenv(env, "SSH_AUTH_SOCK"); ok && filepath.IsAbs(sock) {
			box.Sockets = append(slices.Clone(box.Sockets), sock)
		}
		if home, ok := proc.Getenv(env, "HOME"); ok {
			for _, name := range []string{"known_hosts", "known_hosts2", "config"} { // which contain no keys
				box.Readable = append(box.Readable, filepath.Join(home, ".ssh", name))
			}
		}
	}
	return proc.Confined(box)
}

// looking returns the policy of the git that the server itself runs to inspect a
// repository: it writes nothing and connects to nothing.
func looking() proc.Policy {
	if proc.SandboxSupport().Mechanism == proc.NoMechanism {
		return proc.Unconfined("the system cannot confine it, and the configuration that it gets names no program")
	}
	return proc.Confined(proc.Sandbox{Writable: lookWrites})
}

// lookWrites is what such a git may write to. Tests add a place, so that a program
// that it runs leaves a trace.
var lookWrites = []string{os.DevNull}

// box returns the session's sandbox with the places of its workspace.
func (e *Executor) box() proc.Sandbox {
	box := *e.cfg.Exec.Sandbox
	box.Writable = e.writable()
	box.Readable = slices.Clone(box.Readable)
	return box
}

// writable returns the places that a confined command may write below: the workspace
// and the repository that it is part of, and the session's sandbox's own.
func (e *Executor) writable() []string {
	out := []string{e.ws.Dir()}
	if e.outer != "" {
		out = append(out, e.outer)
	}
	if e.cfg.Exec.Sandbox != nil {
		out = append(out, e.cfg.Exec.Sandbox.Writable...)
	}
	return out
}

// stopped are the messages of programs that the sandbox stopped, each with the
// explanation for the model, so that it does not try other ways.
var stopped = []struct {
	prints *regexp.Regexp
	says   string
}{
	{
		regexp.MustCompile(`Read-only file system|Device or resource busy|EROFS`),
		"[the sandbox: commands write inside the workspace, to temporary files and to caches; not to git's settings and hooks, nor to files that editors and agents obey]",
	},
	{
		regexp.MustCompile(`gpg failed to sign|gpg: signing failed|Couldn't load public key|No private key found for|failed to write commit object`),
		"[the sandbox: what signs a commit or tag needs keys that commands do not read; --no-gpg-sign makes it unsigned, for the person to sign later]",
	},
	{
		regexp.MustCompile(`on socket "|/run/(postgresql|mysqld|docker|podman|redis)|docker\.sock`),
		"[the sandbox: sockets of other programs are not there; a server of this machine is reached at a port of 127.0.0.1 that exec.loopback in the person's settings names]",
	},
	{
		regexp.MustCompile(`Host key verification failed`),
		"[the sandbox: ~/.ssh/known_hosts is read and not written; the person connects to that host once]",
	},
	{
		regexp.MustCompile(`could not read Username|Permission denied \(publickey`),
		"[the sandbox: keys and passwords are not read by commands; an SSH agent serves git, and sandbox.read in the person's settings shows files]",
	},
}

// stoppedText explains what the sandbox probably stopped, besides the network.
func (e *Executor) stoppedText(r proc.Result) string {
	if r.OK() || e.cfg.Exec.Sandbox == nil {
		return ""
	}
	var out string
	for _, s := range stopped {
		if prints(r, s.prints) {
			out += "\n" + s.says
		}
	}
	return out
}

// prints reports whether a program printed something like this.
func prints(r proc.Result, like *regexp.Regexp) bool {
	return like.Match(r.Stderr.Bytes()) || like.Match(r.Stdout.Bytes())
}

// putBackText lists the protected places that a command changed.
func putBackText(root string, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = p
		if rel, err := filepath.Rel(root, p); err == nil && filepath.IsLocal(rel) {
			names[i] = filepath.ToSlash(rel)
		}
	}
	return "\n[put back: " + strings.Join(names, ", ") + "; commands may not change what git, editors and agents obey]"
}
