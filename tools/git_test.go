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
		Policy: proc.Unconfined("a test's own program"),
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
		"--no-pager log", "describe --tags", "cat-file -p HEAD", "symbolic-ref HEAD", "diff --output-indicator-new=x", "log --format=%H",
		"log --stat -- a.go", "diff --cached -- a.go", "grep -e foo -- --output", "log -- --output=x",
	}
	changes := []string{
		"add .", "commit -m x", "push", "pull", "fetch", "checkout main", "branch x", "branch -d x", "branch -D x", "tag v1", "tag -d v1", "remote add x y", "remote set-url x y",
		"stash", "stash pop", "reset --hard", "clean -fd", "config user.name x", "config --get user.name", "rebase main", "merge x", "worktree add x", "reflog expire", "gc", "init",
		"ls-remote", "submodule update", "submodule status", "describe --dirty", "diff --submodule=diff", "grep --recurse-submodules a", "status --ignore-submodules=none", "verify-commit HEAD", "symbolic-ref HEAD refs/heads/x", "notes add", "bisect start", "restore .", "rm a.go", "remote show origin", "remote get-url --push x y", "update-ref x y",
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
		"archive --o=x HEAD", "ls-remote --e=x o", "grep -f /etc/passwd", "grep -if/etc/passwd",
		// What an option takes for its value ends no options.
		"grep -e -- --open-files-in-pager=x", "grep -e -- -Ox", "grep -n -e -- -O x", "log --grep -- --output=x", "diff -S -- --output=x", "commit -m -- --template=x",
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
		for _, o := range []string{"--output=" + pwn, "--open-files-in-pager=touch " + pwn, "-Otouch " + pwn} {
			for _, valued := range []string{"-e", "-S", "--grep", "--format"} {
				want(t, w.run(gitOp(sub, valued, "--", o)), Failed)
			}
		}
	}
	if _, err := os.Stat(pwn); err == nil {
		t.Error("git wrote a file that an option named")
	}
	got := w.run(gitOp("checkout", "-q", "--", "a.txt"))
	want(t, got, Completed, "[changed files: a.txt]")
	want(t, w.run(gitOp("nonsense")), Failed, "not run: git nonsense is not among the subcommands")
}

// TestGitDiffComparesNothingOutside holds in a repository and in none: git diff
// compares plain files as soon as one of them lies outside.
func TestGitDiffComparesNothingOutside(t *testing.T) {
	needs(t, "git")
	posix(t)
	for _, repository := range []bool{true, false} {
		w := newWorld(t, map[string]string{"a.txt": "a\n", "d/e/f.txt": "f\n", "-x/y": "y\n"})
		if repository {
			initRepo(t, w)
		}
		secret := filepath.Join(filepath.Dir(w.dir), "secret")
		if err := os.WriteFile(secret, []byte("the secret\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		link(t, w, "out", "..")
		link(t, w, "d/e/top", "../..")
		link(t, w, "d/file", secret)
		for _, p := range []string{
			secret, "../secret", "d/../../secret", w.dir + "/../secret", w.dir + "/d/../../secret", "out/secret", "d/../out/secret", "d/e/top/../secret", "-x/../../secret", "missing/../../secret",
		} {
			for _, argv := range [][]string{{"diff", p, "a.txt"}, {"diff", "a.txt", p}, {"diff", "--", p, "/dev/null"}, {"diff", "--stat", "-p", "--", "a.txt", p}} {
				got := w.run(gitOp(argv...))
				want(t, got, Failed, "outside the workspace")
				if d := w.Decide(t.Context(), gitOp(argv...)); d.Verdict != Deny || strings.Contains(got.Text, "the secret") {
					t.Errorf("git %v: %+v\n%s", argv, d, got.Text)
				}
			}
		}
		// From a directory the same path is another one.
		want(t, w.run(gitOp("-C", "d", "diff", "../../secret", "/dev/null")), Failed, "outside the workspace")
		if got := w.run(gitOp("diff", "d/file", "a.txt")); strings.Contains(got.Text, "the secret") {
			t.Errorf("a link's file is shown: %s", got.Text)
		}
		inside := w.run(gitOp("-C", "d", "diff", "../a.txt", "e/f.txt"))
		if repository == (inside.State == Failed) || strings.Contains(inside.Text, "not allowed") {
			t.Errorf("files inside: %+v", inside)
		}
		if repository {
			w.put("a.txt", "b\n")
			want(t, w.run(gitOp("diff", "HEAD", "--", w.dir+"/a.txt")), Completed, "+b")
			want(t, w.run(gitOp("diff", "HEAD:a.txt", "HEAD:d/e/f.txt")), Completed, "+f")
			want(t, w.run(gitOp("diff", "HEAD...main", "--")), Completed)
		}
	}
}

// TestNothingOfANestedRepositoryRunsInAnUntrustedWorkspace has a repository in the
// repository, of which git would run the programs.
func TestNothingOfANestedRepositoryRunsInAnUntrustedWorkspace(t *testing.T) {
	needs(t, "git")
	posix(t)
	w := newWorld(t, map[string]string{"f": "a\n", "sub/g": "a\n", "bare/g": "a\n"}, func(c *Config) { c.Policy = Policy{Mode: ModeAll, Untrusted: true} })
	initRepo(t, w)
	marker := filepath.Join(w.dir, "ran")
	nested := func(where ...string) {
		git(t, w, append(where, "config", "filter.x.clean", "touch "+marker+"; cat")...)
		git(t, w, append(where, "config", "diff.x.textconv", "touch "+marker+"; cat")...)
	}
	w.put("sub/.gitattributes", "* filter=x diff=x\n")
	git(t, w, "-C", "sub", "init", "-q", "-b", "main")
	git(t, w, "-C", "sub", "add", ".")
	git(t, w, "-C", "sub", "commit", "-q", "-m", "first")
	nested("-C", "sub")
	git(t, w, "rm", "-q", "-r", "--cached", "sub")
	git(t, w, "add", "sub")
	w.put(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n")
	git(t, w, "add", ".gitmodules")
	git(t, w, "commit", "-q", "-m", "nested")
	// What looks like git's own directory is a repository, too.
	git(t, w, "clone", "-q", "--bare", "sub", "bare/repo")
	for _, kv := range [][2]string{{"core.bare", "false"}, {"core.worktree", ".."}} {
		git(t, w, "-C", "bare/repo", "config", kv[0], kv[1])
	}
	w.put("bare/.gitattributes", "* filter=x diff=x\n")
	nested("-C", "bare/repo")

	for i, argv := range [][]string{
		{"status"},
		{"status", "-v", "-v"},
		{"diff"},
		{"diff", "HEAD"},
		{"diff-index", "HEAD"},
		{"diff-files", "-p"},
		{"show"},
		{"log", "-p"},
		{"ls-files", "-m"},
		{"describe", "--always"},
		{"grep", "a"},
		{"status", "--ignore-submodules=none"},
		{"diff", "--submodule=diff"},
		{"log", "-p", "--subm=diff"},
		{"show", "--submodule", "diff"},
		{"describe", "--always", "--dirty"},
		{"describe", "--always", "--broken"},
		{"submodule", "status"},
		{"submodule"},
		{"grep", "--recurse-submodules", "a"},
		{"ls-files", "--recurse-submodules"},
		{"diff", "-S", "--", "--submodule=diff"},
		{"-C", "sub", "status"},
		{"-C", "sub", "diff"},
		{"-C", "sub", "log", "-p"},
		{"-C", "bare/repo", "status"},
		{"-C", "bare/repo", "diff"},
	} {
		w.put("f", strings.Repeat("b\n", i+2))
		w.put("sub/g", strings.Repeat("b\n", i+2))
		w.put("bare/g", strings.Repeat("b\n", i+2))
		got := w.run(gitOp(argv...))
		if w.get("ran") != "<none>" {
			t.Errorf("git %v ran a program of the nested repository: %s", argv, got.Text)
			os.Remove(marker)
		}
		if d := w.Decide(t.Context(), gitOp(argv...)); d.Verdict == Deny && (got.State != Failed || got.Text != "not run: "+d.Reason) {
			t.Errorf("git %v is denied but runs: %+v, %+v", argv, d, got)
		}
	}
	want(t, w.run(gitOp("status", "--short")), Completed, " M f")
	want(t, w.run(gitOp("-C", "sub", "status", "--short")), Completed, " M g")
	want(t, w.run(gitOp("submodule", "status")), Failed, "not trusted")
}

// TestARepositoryThatWritesMakeIsNoRepository has the model write what git takes for
// a repository's own directory, with objects borrowed from the real one, in a mode
// in which writing is not asked about.
func TestARepositoryThatWritesMakeIsNoRepository(t *testing.T) {
	needs(t, "git")
	posix(t)
	for _, where := range []string{"", "x/", "x/y/"} {
		for _, split := range []bool{false, true} {
			w := newWorld(t, map[string]string{"real/a.txt": "a\n"}, func(c *Config) { c.Policy.Mode = ModeEdits })
			git(t, w, "init", "-q", "-b", "main", "real")
			git(t, w, "-C", "real", "add", ".")
			git(t, w, "-C", "real", "commit", "-q", "-m", "first")
			marker := filepath.Join(w.dir, "ran")
			at, common := where, where
			if split {
				common = "common/"
			}
			files := map[string]string{
				at + "HEAD":                        git(t, w, "-C", "real", "rev-parse", "HEAD"),
				common + "objects/info/alternates": filepath.Join(w.dir, "real/.git/objects") + "\n",
				common + "refs/heads/none":         git(t, w, "-C", "real", "rev-parse", "HEAD"),
				common + "config":                  "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[diff \"x\"]\n\ttextconv = touch " + marker + "; cat\n",
				common + "info/attributes":         "* diff=x\n",
			}
			if split {
				files[at+"commondir"] = filepath.Join(w.dir, "common") + "\n"
			}
			for p, text := range files {
				if d := w.Decide(t.Context(), writeOp(p, text)); d.Verdict == Allow {
					want(t, w.run(writeOp(p, text)), Completed)
				}
			}
			for _, argv := range [][]string{{"log", "-p"}, {"show"}, {"status"}} {
				if where != "" {
					argv = append([]string{"-C", where}, argv...)
				}
				got := w.run(gitOp(argv...))
				if d := w.Decide(t.Context(), gitOp(argv...)); w.get("ran") != "<none>" || d.Verdict != Deny {
					t.Errorf("git %v in what was written to %q: %+v, %+v", argv, where, d, got)
					os.Remove(marker)
				}
				want(t, got, Failed, "looks like git's own directory")
			}
			want(t, w.run(gitOp("-C", "real", "log", "--format=%s")), Completed, "first")
		}
	}
}

func TestGitNeverWaitsForAPerson(t *testing.T) {
	needs(t, "git")
	posix(t)
	w := newWorld(t, map[string]string{"a.txt": "a\n"}, func(c *Config) {
		c.Exec.Timeout = time.Minute
		c.Exec.Env = append(os.Environ(), "EDITOR=sh -c 'sleep 100'", "VISUAL=sleep 100", "GIT_EDITOR=sleep 100", "PAGER=sleep 100", "GIT_PAGER=sleep 100", "GIT_SEQUENCE_EDITOR=sleep 100",
			"GIT_ASKPASS=sleep 100", "SSH_ASKPASS=sleep 100", "DISPLAY=:0", "WAYLAND_DISPLAY=x", "GPG_TTY=/dev/tty", "GIT_CONFIG_GLOBAL="+os.DevNull)
	})
	initRepo(t, w)
	git(t, w, "branch", "start")
	git(t, w, "config", "core.pager", "sh -c 'sleep 100'")
	git(t, w, "config", "core.editor", "sh -c 'sleep 100'")
	want(t, w.run(gitOp("log")), Completed, "first")
	w.put("a.txt", "b\n")
	want(t, w.run(gitOp("commit", "-a")), Failed, "empty commit message")
	want(t, w.run(gitOp("commit", "-q", "-a", "-m", "second")), Completed)
	want(t, w.run(gitOp("rebase", "--continue")), Failed, "No rebase in progress")
	want(t, w.run(gitOp("tag", "-a", "v1")), Failed)
	for _, argv := range [][]string{{"commit", "--allow-empty", "-F", "-"}, {"commit", "--allow-empty", "--amend"}, {"commit", "--allow-empty", "--edit", "-m", "third"}, {"am"}, {"apply"}, {"notes", "add"}, {"branch", "--edit-description"}, {"config", "--edit"}, {"add", "--patch"}, {"clean", "-i"}} {
		if got := w.run(gitOp(argv...)); strings.Contains(got.Text, "timed out") {
			t.Errorf("git %v waited: %s", argv, got.Text)
		}
	}
	// In the middle of a rebase its message is to be edited.
	git(t, w, "checkout", "-q", "-b", "side", "start")
	w.put("a.txt", "side\n")
	git(t, w, "commit", "-q", "-a", "-m", "side")
	want(t, w.run(gitOp("rebase", "main")), Failed, "CONFLICT")
	w.put("a.txt", "both\n")
	want(t, w.run(gitOp("add", "a.txt")), Completed)
	want(t, w.run(gitOp("rebase", "--continue")), Completed)
	if got := git(t, w, "log", "-1", "--format=%s"); got != "side\n" {
		t.Errorf("the rebase left %q", got)
	}
	// A passphrase is asked for on a screen or a terminal, which there is none of.
	w.put("gpg", "#!/bin/sh\nif test -n \"$DISPLAY$WAYLAND_DISPLAY$GPG_TTY\" || : <>/dev/tty; then sleep 100; fi 2>/dev/null\necho no way to ask >&2\nexit 2\n")
	if err := os.Chmod(filepath.Join(w.dir, "gpg"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, w, "config", "gpg.program", filepath.Join(w.dir, "gpg"))
	git(t, w, "config", "commit.gpgsign", "true")
	want(t, w.run(gitOp("commit", "--allow-empty", "-m", "signed")), Failed, "failed to sign")
	git(t, w, "config", "commit.gpgsign", "false")
	srv := newServer(t, map[string]string{"/": "401"})
	for _, argv := range [][]string{{"ls-remote"}, {"fetch"}, {"pull"}, {"push", "--all"}, {"clone"}} {
		want(t, w.run(gitOp(append(argv, srv+"/repo.git")...)), Failed, "Authentication failed")
	}
}

// shell runs a script in dir for a test's own purposes.
func shell(t *testing.T, dir, script string) {
	t.Helper()
	r, err := proc.Run(t.Context(), proc.Spec{Argv: []string{"sh", "-ec", script}, Dir: dir, Env: os.Environ(), Policy: proc.Unconfined("a test's own program")})
	if err != nil || !r.OK() {
		t.Fatalf("%s: %v, code %d\n%s%s", script, err, r.Code, r.Stdout, r.Stderr)
	}
}
