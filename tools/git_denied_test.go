package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsNotToBeReadIsNotShownByGit has git show denied files in every way.
func TestWhatIsNotToBeReadIsNotShownByGit(t *testing.T) {
	needs(t, "git")
	posix(t)
	rules := []Rule{{Family: FamilyRead, Match: []string{".env", "secrets", "*.pem"}}}
	w := newWorld(t, map[string]string{".env": "HIDDEN=1\n", "secrets/a": "HIDDEN=1\n", "d/k.pem": "HIDDEN=1\n", "f": "shown one\n", "d/g": "shown\n"},
		func(c *Config) { c.Policy.Deny = rules })
	initRepo(t, w)
	blob := strings.TrimSpace(git(t, w, "rev-parse", "HEAD:.env"))
	git(t, w, "tag", "tagged", blob)
	git(t, w, "tag", "-m", "x", "annotated", blob)
	for _, p := range []string{".env", "secrets/a", "d/k.pem", "f", "d/g"} {
		w.put(p, w.get(p)+"again\n")
	}
	git(t, w, "add", ".")
	git(t, w, "stash")
	git(t, w, "stash", "apply", "-q")
	if err := os.Link(filepath.Join(w.dir, ".env"), filepath.Join(w.dir, "linked")); err != nil {
		t.Fatal(err)
	}
	if d := w.Decide(t.Context(), readOp("linked")); d.Verdict != Deny {
		t.Errorf("another name of a denied file: %+v", d)
	}
	if d := w.Decide(t.Context(), readOp("f")); d.Verdict != Allow {
		t.Errorf("a file that is not denied: %+v", d)
	}
	w.put("over", "x\n")
	git(t, w, "add", "over")
	git(t, w, "commit", "-q", "-m", "second", "over")
	if err := os.Remove(filepath.Join(w.dir, "over")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(w.dir, ".env"), filepath.Join(w.dir, "over")); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"blame over", "diff over", "diff HEAD -- over", "grep HIDDEN over",
		"grep HIDDEN", "grep -a HIDDEN HEAD", "grep --untracked --no-exclude-standard HIDDEN", "grep --cached HIDDEN", "grep HIDDEN HEAD:", "grep HIDDEN HEAD:secrets", "grep HIDDEN BLOB", "grep -e HIDDEN -- .env",
		"grep HIDDEN HEAD^{tree}", "grep --untracked HIDDEN -- linked", "blame linked", "-C secrets grep HIDDEN", "-C d grep HIDDEN -- .", "grep HIDDEN tagged",
		"show HEAD:.env", "show :.env", "show :0:.env", "show HEAD:./.env", "show BLOB", "show HEAD", "show tagged", "show annotated", "show HEAD:d/k.pem", "-C d show HEAD:./k.pem", "-C d show HEAD:../.env", "show stash@{0}:secrets/a",
		"cat-file -p HEAD:.env", "cat-file blob BLOB", "cat-file -p BLOB", "cat-file -p tagged", "cat-file --batch-all-objects --batch", "cat-file -p :.env", "cat-file -p annotated^{}",
		"diff", "diff HEAD", "diff --cached", "diff HEAD -- .env", "diff HEAD:.env HEAD:f", "diff BLOB HEAD:f", "diff HEAD:f..BLOB", "diff HEAD -- secrets", "diff-index -p HEAD", "diff-files -p", "diff-tree -p --root HEAD", "diff HEAD:secrets HEAD:d",
		"log -p", "log -p --all", "log -p -- .env", "log -L1,1:.env", "log -L 1,1:.env", "log -p -m --root -- .ENV", "log -S HIDDEN -p", "log -p -g stash", "whatchanged -p --root",
		"blame .env", "blame HEAD -- .env", "blame ./.env", "-C d blame k.pem", "annotate secrets/a", "blame secrets/../.env",
		"stash show -p", "status -v -v", "status --verbose -v", "range-diff HEAD~1..HEAD HEAD~1..HEAD", "for-each-ref --format=%(raw)",
	} {
		got := w.run(gitOp(strings.Fields(strings.ReplaceAll(s, "BLOB", blob))...))
		if strings.Contains(got.Text, "HIDDEN=1") {
			t.Errorf("git %s shows it: %s", s, got.Text)
		}
	}
	for s, shown := range map[string]string{
		"diff HEAD": "+again", "diff HEAD -- f": "+again", "diff f": "", "log -p": "+shown one", "show HEAD~1": "+shown one", "show HEAD:f": "shown one", "cat-file -p HEAD": "second", "cat-file -p HEAD:f": "shown one",
		"grep shown": "d/g:shown", "grep shown HEAD": "HEAD:f:shown one", "blame f": "shown one", "status --short": " M .env", "log --oneline": "first", "ls-files": ".env", "stash list": "WIP", "-C d diff HEAD": "+again",
	} {
		want(t, w.run(gitOp(strings.Fields(s)...)), Completed, shown)
	}
	// Without the rule nothing is left out.
	if err := w.SetPolicy(Policy{}); err != nil {
		t.Fatal(err)
	}
	want(t, w.run(gitOp("show", "HEAD:.env")), Completed, "HIDDEN=1")
	want(t, w.run(gitOp("diff", "HEAD")), Completed, "a/.env")
}
