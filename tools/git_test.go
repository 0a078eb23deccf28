package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// git runs git for a test's own purposes.
func git(t *testing.T, w *world, argv ...string) string {
	t.Helper()
	r, err := proc.Run(t.Context(), proc.Spec{
		Argv: append([]string{"git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, argv...),
		Dir:  w.dir, Env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1"),
	})
	if err != nil || !r.OK() {
		t.Fatalf("git %v: %v, code %d\n%s", argv, err, r.Code, r.Stderr)
	}
	return r.Stdout.String()
}

// initRepo makes the world's files the first commit of a repository.
func initRepo(t *testing.T, w *world) {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	git(t, w, "init", "-q", "-b", "main")
	git(t, w, "config", "user.name", "t")
	git(t, w, "config", "user.email", "t@example.org")
	git(t, w, "add", ".")
	git(t, w, "commit", "-q", "-m", "first")
}

func TestGitKnowsWhatOnlyReads(t *testing.T) {
	reads := []string{
		"status", "status --short", "log -5 --oneline", "log -n5", "log -S foo", "log -SFOO", "log -GO", "diff", "diff HEAD~1 -- a.go", "diff --text", "diff --stat -U0",
		"show HEAD", "show HEAD:a.go", "blame -L1,5 a.go", "grep -n foo", "grep -eFOO", "ls-files", "rev-parse HEAD", "branch", "branch -a", "branch --list", "branch --show-current",
		"tag", "tag -l", "remote", "remote -v", "remote get-url origin", "stash list", "stash show", "reflog", "worktree list", "-C sub status", "git log", "--version",
		"--no-pager log", "describe --tags", "cat-file -p HEAD", "submodule status", "symbolic-ref HEAD", "diff --output-indicator-new=x", "log --format=%H",
	}
	changes := []string{
		"add .", "commit -m x", "push", "pull", "fetch", "checkout main", "branch x", "branch -d x", "branch -D x", "tag v1", "tag -d v1", "remote add x y", "remote set-url x y",
		"stash", "stash pop", "reset --hard", "clean -fd", "config user.name x", "config --get user.name", "rebase main", "merge x", "worktree add x", "reflog expire", "gc", "init",
		"ls-remote", "submodule update", "symbolic-ref HEAD refs/heads/x", "notes add", "bisect start", "restore .", "rm a.go", "remote show origin", "remote get-url --push x y", "update-ref x y",
	}
	refused := []string{
		"", "-c core.pager=x log", "-ccore.pager=x log", "--config-env=a=b log", "--exec-path=/x status", "--exec-path", "--git-dir=/x status", "--work-tree=/ status",
		"-C a -C b status", "-C", "--bare log", "-p log", "--namespace=x log", "nonsense", "daemon", "instaweb", "credential fill", "filter-branch", "difftool", "mergetool", "shell",
		"send-email", "gui", "help log", "var -l", "hook run x", "fast-import", "upload-pack .", "http-backend", "p4 clone x", "!sh",
		"log --output=/tmp/pwn", "log -1 --output /tmp/pwn", "diff --outp=/tmp/pwn", "show --ou=/tmp/pwn HEAD", "log -O./x", "diff -pO./x", "log --ext-diff -p", "diff --ext", "diff --textconv",
		"show --textc", "diff --no-index /etc/passwd x", "diff --no-i a b", "grep -O x", "grep -nOless x", "grep --open-files-in-pager=sh x", "grep --open x", "blame --contents /etc/passwd a",
		"blame -S x a", "fetch --upload-pack=x o", "fetch --upload x o", "ls-remote --upload-pack=x o", "ls-remote --exec=x o", "push --receive-pack=x o", "push --exec=x o", "clone -u x y", "clone --upload-pack=x y",
		"clone --config core.x=y z", "clone -c core.x=y z", "clone --template=x y", "init --template=x", "init --separate-git-dir=x", "rebase -x sh", "rebase --exec sh", "rebase -i main", "rebase --interactive",
		"bisect run sh", "submodule foreach sh", "archive --output=x HEAD", "archive -o x HEAD", "archive --exec=x HEAD", "format-patch -o /tmp", "format-patch --output-directory=/tmp", "fetch ext::sh", "clone fd::7 x",
		"ls-files -X /etc/passwd", "ls-files --exclude-from=/etc/passwd", "cat-file --textconv x", "cat-file --filters x", "rev-parse --resolve-git-dir x", "rev-parse --parseopt", "merge --no-ff --edit x",
	}
	for _, s := range reads {
		if c, err := parseGit(strings.Fields(s)); err != nil || !c.reads {
			t.Errorf("git %s: reads %t, %v; want that it only reads", s, c.reads, err)
		}
	}
	for _, s := range changes {
		if c, err := parseGit(strings.Fields(s)); err != nil || c.reads {
			t.Errorf("git %s: reads %t, %v; want that it changes something", s, c.reads, err)
		}
	}
	for _, s := range refused {
		if c, err := parseGit(strings.Fields(s)); err == nil {
			t.Errorf("git %s is not refused: %+v", s, c)
		}
	}
}

func TestGitRunsInsideAndWritesNoOtherFile(t *testing.T) {
	needs(t, "git")
	posix(t)
	w := newWorld(t, map[string]string{"a.txt": "a\n", "sub/b.txt": "b\n"})
	initRepo(t, w)
	w.put("a.txt", "changed\n")
	want(t, w.run(gitOp("status", "--short")), Completed, "exit code 0\n M a.txt")
	want(t, w.run(gitOp("-C", "sub", "log", "--oneline", "--", "b.txt")), Completed, "first")
	want(t, w.run(gitOp("diff")), Completed, "+changed")
	pwn := filepath.Join(t.TempDir(), "pwn")
	for _, sub := range []string{"log", "diff", "show", "diff-tree", "whatchanged", "shortlog", "rev-list", "blame", "grep", "branch", "tag", "describe", "for-each-ref", "stash"} {
		for _, o := range []string{"--output=" + pwn, "--outpu=" + pwn, "-O" + pwn} {
			want(t, w.run(gitOp(sub, o)), Failed)
			want(t, w.run(gitOp(sub, o, "HEAD")), Failed)
			w.run(gitOp(sub, "HEAD", "--", o)) // a path, which is no option
		}
	}
	if _, err := os.Stat(pwn); err == nil {
		t.Error("git wrote a file that an option named")
	}
	got := w.run(gitOp("checkout", "-q", "--", "a.txt"))
	want(t, got, Completed, "[changed files: a.txt]")
	want(t, w.run(gitOp("nonsense")), Failed, "not run: git nonsense is not among the subcommands")
}

func TestGitNeverWaitsForAPerson(t *testing.T) {
	needs(t, "git")
	posix(t)
	w := newWorld(t, map[string]string{"a.txt": "a\n"}, func(c *Config) {
		c.Exec.Timeout = time.Minute
		c.Exec.Env = append(os.Environ(), "EDITOR=sh -c 'sleep 100'", "VISUAL=sleep 100", "GIT_EDITOR=sleep 100", "PAGER=sleep 100", "GIT_PAGER=sleep 100", "GIT_CONFIG_GLOBAL="+os.DevNull)
	})
	initRepo(t, w)
	git(t, w, "config", "core.pager", "sh -c 'sleep 100'")
	git(t, w, "config", "core.editor", "sh -c 'sleep 100'")
	want(t, w.run(gitOp("log")), Completed, "first")
	w.put("a.txt", "b\n")
	want(t, w.run(gitOp("commit", "-a")), Failed, "empty commit message")
	want(t, w.run(gitOp("commit", "-q", "-a", "-m", "second")), Completed)
	want(t, w.run(gitOp("rebase", "--continue")), Failed, "No rebase in progress")
	want(t, w.run(gitOp("tag", "-a", "v1")), Failed)
	srv := newServer(t, map[string]string{"/": "401"})
	got := w.run(gitOp("ls-remote", srv+"/repo.git"))
	want(t, got, Failed, "exit code 128")
	if strings.Contains(got.Text, "timed out") {
		t.Error("git waited")
	}
}
