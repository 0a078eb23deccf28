package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/proc"
)

var unreadRules = []Rule{{Family: FamilyRead, Match: []string{".env", "secrets", "*.pem"}}}

// unreadWorld has files that a rule denies reading, one of them under another name, too.
func unreadWorld(t *testing.T, w *world) {
	t.Helper()
	for name, text := range map[string]string{".env": "HIDDEN=1\n", "secrets/a": "HIDDEN=1\n", "d/k.pem": "HIDDEN=1\n", "f": "shown\n"} {
		w.put(name, text)
	}
	if err := os.Link(filepath.Join(w.dir, ".env"), filepath.Join(w.dir, "linked")); err != nil {
		t.Fatal(err)
	}
	link(t, w, "soft", ".env")
	w.cfg.Policy = Policy{Mode: ModeAll, Deny: unreadRules}
}

// TestNoToolReadsWhatARuleDenies is about every tool but git, which has a test of its
// own, and in the mode in which everything runs.
func TestNoToolReadsWhatARuleDenies(t *testing.T) {
	posix(t)
	w := newWorld(t, nil)
	unreadWorld(t, w)
	use := func(name, arguments string) Op { return Op{Tool: &abi.Use{Name: name, Arguments: arguments}} }
	in := "d"
	inside := execOp("cat", "k.pem")
	inside.Exec.Cwd = &in
	for _, op := range []Op{
		readOp(".env"), readOp("linked"), readOp("soft"), readOp("secrets/a"), readOp("d/k.pem"),
		writeOp(".env", "x\n"), patchOp(".env", "@@ -1 +1 @@\n-x\n+y\n"), patchOp("linked", "@@ -1 +1 @@\n-x\n+y\n"), use("edit", `{"path":"secrets/a","old":"x","new":"y"}`),
		execOp("cat", ".env"), execOp("cat", "./.env"), execOp("cat", "d/../.env"), execOp("cat", filepath.Join(w.dir, ".env")), execOp("cat", "f", "secrets/a"), execOp("cat", "linked"), execOp("cat", "soft"), inside,
		execOp("cat", ".ENV"), execOp("sh", "-c", "cat .env"), execOp("sh", "-c", "cat <.env"), execOp("sh", "-c", "true; cat secrets/a"), execOp("env", "cat", ".env"), execOp("dd", "if=.env"), execOp("curl", "-d", "@.env", "x"), execOp("grep", "--file=.env", "x"),
		execOp("python3", "-c", "print(open('.env').read())"), execOp("awk", "1", ".env"), execOp("cp", ".env", "x"), execOp("ln", ".env", "x"), execOp("git", "show", "HEAD:.env"), execOp("git", "-c", "a=b", "show", "HEAD:.env"), execOp("sh", "-c", "git show HEAD:.env"),
	} {
		d := w.Decide(t.Context(), op)
		out := ""
		if d.Verdict == Allow {
			out = w.Run(t.Context(), op, "").Text
		}
		if d.Verdict != Deny && (op.Exec == nil || op.Exec.Argv[0] != "git" || strings.Contains(out, "HIDDEN")) || strings.Contains(d.Detail+d.Reason, "HIDDEN") {
			t.Errorf("%+v has the verdict %d: %s%s", op, d.Verdict, d.Detail, out)
		}
	}
	for _, op := range []Op{readOp("f"), execOp("cat", "f"), execOp("ls", "-a"), execOp("sh", "-c", "cat f"), execOp("echo", "environment"), writeOp("new", "x\n")} {
		if d := w.Decide(t.Context(), op); d.Verdict != Allow {
			t.Errorf("%+v is not allowed: %s", op, d.Reason)
		}
	}
	for _, op := range []Op{use("search", `{"pattern":"HIDDEN"}`), use("search", `{"pattern":"HIDDEN","path":"linked"}`)} {
		if got := w.run(op); strings.Contains(got.Text, "HIDDEN=1") {
			t.Errorf("search shows it: %s", got.Text)
		}
	}
}

// TestCommandsDoNotSeeWhatARuleDenies has scripts, whose words say nothing.
func TestCommandsDoNotSeeWhatARuleDenies(t *testing.T) {
	w := confinedWorld(t, false)
	unreadWorld(t, w)
	if m := proc.SandboxSupport().Mechanism; m != proc.Namespaces {
		if got := w.unread(); got != nil { // it takes no file out of a writable tree
			t.Errorf("with %s there are %q to hide", m, got)
		}
		return
	}
	w.put("look", "cat .e* lin* so* sec*/* d/k.* 2>&1; cat f; echo x >made; cat made\n")
	got := w.run(execOp("sh", "look"))
	if strings.Contains(got.Text, "HIDDEN") || !strings.Contains(got.Text, "shown\nx") {
		t.Errorf("a script gives %s", got.Text)
	}
	w.cfg.Policy.Deny = []Rule{{Family: FamilyRead, Match: []string{".env"}}}
	if got = w.run(execOp("sh", "look")); strings.Count(got.Text, "HIDDEN") != 2 {
		t.Errorf("with fewer rules it gives %s", got.Text)
	}
	if w.get(".env") != "HIDDEN=1\n" {
		t.Errorf("the file is now %q", w.get(".env"))
	}
}
