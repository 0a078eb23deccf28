package tools

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// localRemote returns git's directory of the repository on this machine that an allowed
// push, fetch or pull is about, when it lies outside of the workspace; "" for another
// remote. A push writes there what a push writes, and the question names it: the
// settings and hooks of that repository stay protected.
func (t gitTool) localRemote(c gitCommand) string {
	if c.name != "push" && c.name != "fetch" && c.name != "pull" && c.name != "ls-remote" {
		return ""
	}
	dir, err := t.cleanCwd(&c.dir)
	if err != nil {
		return ""
	}
	r, ok, err := t.repos.find(workspace.RealPath(dir))
	if err != nil || !ok {
		return ""
	}
	path := localPath(r.top, t.remoteURL(c, r))
	if path == "" {
		return ""
	}
	path = workspace.RealPath(path)
	if inner := filepath.Join(path, ".git"); isRepository(inner) {
		path = workspace.RealPath(inner)
	}
	home := t.repos.home()
	if _, inside := workspace.Below(workspace.RealPath(t.ws.Dir()), path); inside || !isRepository(path) || t.repos.encloses(path, r.top, home) {
		return ""
	}
	if t.cfg.Exec.Sandbox != nil {
		for _, secret := range t.cfg.Exec.Sandbox.Hidden {
			if within(secret, path) {
				return ""
			}
		}
	}
	return path
}

// remoteURL returns where a call connects to: the remote that its arguments name, or
// the repository's only one, or origin.
func (t gitTool) remoteURL(c gitCommand, r repository) string {
	run := func(argv ...string) string {
		_, res, err := t.repos.run(context.Background(), r, r.top, argv, statusTimeout, 0)
		if err != nil || !res.OK() {
			return ""
		}
		return strings.TrimSpace(res.Stdout.String())
	}
	names := strings.Fields(run("remote"))
	name := "origin"
	if len(names) == 1 {
		name = names[0]
	}
	for _, a := range c.args {
		if !strings.HasPrefix(a, "-") {
			name = a // what is no remote's name is an address
			break
		}
	}
	get := []string{"remote", "get-url", name}
	if c.name == "push" {
		get = []string{"remote", "get-url", "--push", name}
	}
	if address := run(get...); address != "" {
		return address
	}
	return name
}

// localPath returns the path that an address names, relative to dir, "" for an address
// of another machine.
func localPath(dir, address string) string {
	if rest, ok := strings.CutPrefix(address, "file://"); ok {
		path, err := url.PathUnescape(rest)
		if err != nil || !strings.HasPrefix(path, "/") {
			return ""
		}
		return filepath.Clean(path)
	}
	if strings.Contains(address, "://") || address == "" {
		return ""
	}
	if colon, slash := strings.IndexByte(address, ':'), strings.IndexByte(address, '/'); colon >= 0 && (slash < 0 || colon < slash) {
		return "" // host:path
	}
	return rooted(dir, address)
}
