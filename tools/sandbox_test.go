package tools

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/tools/sandbox"
)

// confinedWorld is a repository whose commands run in a session's sandbox.
func confinedWorld(t *testing.T, network bool) *world {
	t.Helper()
	needs(t, "git")
	if s := proc.SandboxSupport(); s.Mechanism == proc.NoMechanism {
		if os.Getenv("CI") == "true" && os.Getenv("RUNNER_OS") != "macOS" && os.Getenv("RUNNER_OS") != "Windows" {
			t.Fatal(s)
		}
		t.Skip(s)
	}
	box := sandbox.Settings{Env: os.Environ(), Temp: t.TempDir(), Aside: filepath.Join(t.TempDir(), "aside"), Network: network}.Box()
	w := newWorld(t, map[string]string{"f": "a\n", ".vscode/tasks.json": "{}\n", "AGENTS.md": "be kind\n"}, func(c *Config) { c.Exec.Sandbox = &box })
	initRepo(t, w)
	git(t, w, "config", "user.name", "t")
	git(t, w, "config", "user.email", "t@example.org")
	git(t, w, "config", "commit.gpgsign", "false")
	return w
}

// TestCommandsDoNotChangeWhatIsObeyed has commands try, by writing and by making
// anew.
func TestCommandsDoNotChangeWhatIsObeyed(t *testing.T) {
	w := confinedWorld(t, false)
	before := w.get(".git/config")
	for _, script := range []string{
		"git config core.fsmonitor evil", "echo evil >>.git/config", "echo evil >.git/hooks/pre-commit", "mkdir -p .git/info; echo '* filter=x' >.git/info/attributes",
		"echo evil >.vscode/tasks.json", "echo evil >AGENTS.md", "rm -rf .vscode AGENTS.md", "mv .git g; mkdir .git; echo evil >.git/config; mv g .git/g",
		"mkdir .idea; echo evil >.idea/x", "echo evil >.envrc", "ln -s f CLAUDE.md",
	} {
		got := w.run(execOp("sh", "-c", script))
		if w.get(".git/config") != before || w.get(".vscode/tasks.json") != "{}\n" || w.get("AGENTS.md") != "be kind\n" || w.get(".git/hooks/pre-commit") != "<none>" ||
			w.get(".git/info/attributes") != "<none>" || w.get(".idea/x") != "<none>" || w.get(".envrc") != "<none>" || w.get("CLAUDE.md") != "<none>" {
			t.Fatalf("%s changed it: %s", script, got.Text)
		}
		if got.State == Completed && !strings.Contains(got.Text, "[put back: ") {
			t.Errorf("%s: nothing is said: %s", script, got.Text)
		}
	}
}

// TestGitWorksInTheSandbox is about calls of the git tool that somebody allowed.
func TestGitWorksInTheSandbox(t *testing.T) {
	w := confinedWorld(t, false)
	remote := filepath.Join(w.dir, "remote.git")
	git(t, w, "init", "-q", "--bare", remote)
	git(t, w, "remote", "add", "origin", remote)
	w.put("f", "b\n")
	w.put("AGENTS.md", "be kinder\n")
	for _, argv := range [][]string{
		{"add", "f", "AGENTS.md"},
		{"commit", "-q", "-m", "second"},
		{"push", "-q", "-u", "origin", "main"},
		{"switch", "-q", "-c", "other"},
		{"rm", "-q", "AGENTS.md"},
		{"commit", "-q", "-m", "third"},
		{"switch", "-q", "main"},
		{"merge", "-q", "other"},
		{"reset", "-q", "--hard", "HEAD~1"},
		{"branch", "-D", "other"},
		{"stash", "list"},
		{"pull", "-q", "--ff-only"},
	} {
		want(t, w.run(gitOp(argv...)), Completed, "exit code 0")
	}
	if !strings.Contains(w.get(".git/config"), "merge = refs/heads/main") {
		t.Error("the branch has no upstream")
	}
	// A hook that runs with it does no more than a command.
	w.put(".git/hooks/pre-commit", "#!/bin/sh\necho evil >.git/hooks/post-commit; echo evil >.git/config; true\n")
	if err := os.Chmod(filepath.Join(w.dir, ".git/hooks/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.run(gitOp("commit", "--allow-empty", "-q", "-m", "fourth"))
	if w.get(".git/hooks/post-commit") != "<none>" || strings.Contains(w.get(".git/config"), "evil") {
		t.Error("a hook changed git's settings or hooks")
	}
}

// TestStoppedCommandsSayWhy is for the model, which would try other ways.
func TestStoppedCommandsSayWhy(t *testing.T) {
	w := confinedWorld(t, false)
	got := w.run(execOp("env", "git", "ls-remote", "https://example.invalid/x.git"))
	want(t, got, Failed, "[no network in the sandbox]")
	got = w.run(execOp("sh", "-c", "echo x >.git/config"))
	if !strings.Contains(got.Text, "not to git's settings") && !strings.Contains(got.Text, "[put back: .git/config;") {
		t.Errorf("%+v", got)
	}
}

// TestTheNetworkIsAskedFor has a rule allow a command: not its network, too.
func TestTheNetworkIsAskedFor(t *testing.T) {
	w := confinedWorld(t, true)
	call := func(network bool) Op {
		if !network {
			return execOp("true")
		}
		return Op{Tool: &abi.Use{Name: "exec", Arguments: `{"argv":["true"],"network":true}`}}
	}
	for _, c := range []struct {
		name         string
		asks         bool
		mode         Mode
		rule, grant  bool
		plain, wants Verdict
	}{
		{name: "asked", asks: true, mode: ModeAsk, plain: Ask, wants: Ask},
		{name: "a rule", asks: true, mode: ModeAsk, rule: true, plain: Allow, wants: Ask},
		{name: "a rule, and granted", asks: true, mode: ModeAsk, rule: true, grant: true, plain: Allow, wants: Allow},
		{name: "all", asks: true, mode: ModeAll, plain: Allow, wants: Allow},
		{name: "on", mode: ModeAsk, rule: true, plain: Allow, wants: Allow},
	} {
		w.cfg.Exec.AskNetwork = c.asks
		p := Policy{Mode: c.mode}
		if c.rule {
			p.Allow = []Rule{{Family: FamilyExec, Match: []string{"true"}}}
		}
		if err := w.SetPolicy(p); err != nil {
			t.Fatal(err)
		}
		if c.grant {
			w.Grant(w.Decide(t.Context(), call(true)).Lasting)
		}
		if got := w.Decide(t.Context(), call(false)).Verdict; got != c.plain {
			t.Errorf("%s: without network it is %v, want %v", c.name, got, c.plain)
		}
		d := w.Decide(t.Context(), call(true))
		if d.Verdict != c.wants || c.asks != strings.Contains(d.Detail, "with network") {
			t.Errorf("%s: with network it is %v (%q), want %v", c.name, d.Verdict, d.Detail, c.wants)
		}
	}
}

// TestOnlyACallThatAsksConnects has a server count who comes.
func TestOnlyACallThatAsksConnects(t *testing.T) {
	w := confinedWorld(t, true)
	w.cfg.Exec.AskNetwork = true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var came atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close() })
	argv := []string{"env", "git", "ls-remote", "git://" + l.Addr().String() + "/x.git"}
	w.run(execOp(argv...))
	if n := came.Load(); n != 0 {
		t.Errorf("a call that did not ask connected %d times", n)
	}
	w.run(Op{Tool: &abi.Use{Name: "exec", Arguments: `{"argv":["` + strings.Join(argv, `","`) + `"],"network":true}`}})
	if came.Load() == 0 {
		t.Error("a call that asked did not connect")
	}
}
