//go:build unix

package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// TestOnlyARepositoryOutsideIsALocalRemote has addresses that a hostile configuration
// may name.
func TestOnlyARepositoryOutsideIsALocalRemote(t *testing.T) {
	needs(t, "git")
	home := t.TempDir()
	t.Setenv("HOME", home)
	w := newWorld(t, map[string]string{"f": "a\n"}, func(c *Config) {
		c.Exec.Sandbox = &proc.Sandbox{Hidden: []string{filepath.Join(home, ".ssh")}}
	})
	initRepo(t, w)
	bare := func(dir string) string {
		git(t, w, "init", "-q", "--bare", dir)
		return dir
	}
	good := bare(filepath.Join(home, "srv", "my repo.git"))
	secret := bare(filepath.Join(home, ".ssh", "x.git"))
	inside := bare(filepath.Join(w.dir, "inside.git"))
	git(t, w, "init", "-q", filepath.Join(home, "other"))
	if err := os.Symlink(home, filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	git(t, w, "remote", "add", "origin", "x")
	real := func(p string) string {
		p, err := filepath.EvalSymlinks(p)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for address, want := range map[string]string{
		good: real(good),
		"file://" + strings.ReplaceAll(good, " ", "%20"): real(good),
		filepath.Join(w.dir, "link/srv/my repo.git"):     real(good),
		filepath.Join(home, "other"):                     real(filepath.Join(home, "other/.git")),
		inside:                                           "",
		secret:                                           "",
		home:                                             "",
		"/":                                              "",
		filepath.Join(home, "srv"):                       "",
		"host:" + good:                                   "",
		"git@host:x.git":                                 "",
		"ssh://host" + good:                              "",
		"https://host/x.git":                             "",
		"":                                               "",
	} {
		git(t, w, "config", "remote.origin.url", address)
		for _, argv := range [][]string{{"push"}, {"push", "-u", "origin", "main"}, {"fetch", "origin"}, {"pull"}} {
			c, err := parseGit(argv)
			if err != nil {
				t.Fatal(err)
			}
			if got := (gitTool{w.Executor}).localRemote(c); got != want {
				t.Errorf("git %v at %q: %q, want %q", argv, address, got, want)
			}
		}
		git(t, w, "config", "remote.origin.url", "x")
	}
	git(t, w, "config", "remote.origin.url", good)
	if d := w.Decide(t.Context(), gitOp("push")); !strings.Contains(d.Detail, "the remote is "+real(good)) {
		t.Errorf("the question is %q", d.Detail)
	}
}
