package tools

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// remoteTool stands for a tool of another server.
type remoteTool struct{}

func (remoteTool) Definition() Definition { return Define[struct{}]("x__y", "", Run) }
func (remoteTool) Decide(context.Context, Call) Decision {
	return Decision{Title: "Call", Effect: Run}
}
func (remoteTool) Run(context.Context, Call) Outcome { return Outcome{State: Completed} }

// networked is a command that requests the network.
func networked(argv ...string) Op {
	return Op{Tool: &abi.Use{Name: "exec", Arguments: compact(execArgs{Argv: argv, Network: true})}}
}

// TestSecurityPageSaysWhatRunsUnasked compares the tables of SECURITY.md with what
// policy decides, for each mode, where commands are confined wholly and where not.
func TestSecurityPageSaysWhatRunsUnasked(t *testing.T) {
	posix(t)
	calls := map[string][]Op{
		"reading and searching the workspace, looking with git": {readOp("a.txt"), gitOp("status"), gitOp("log", "-p")},
		"changing a file": {writeOp("new.txt", "x"), patchOp("a.txt", "@@ -1 +1 @@\n-a\n+b\n")},
		"changing a lock file, what programs, editors or agents obey, or a file that git ignores": {writeOp("go.sum", "x"), writeOp(".vscode/tasks.json", "{}")},
		"a command without network":                   {execOp("ls"), execOp("sh", "-c", "ls")},
		"a command with network":                      {networked("ls")},
		"`git add`, `mv` and `rm`, also as a command": {gitOp("add", "."), gitOp("rm", "a.txt"), execOp("git", "mv", "a.txt", "b.txt")},
		"any other call of git that changes refs, settings or files, or reaches a remote, also as a command": {gitOp("commit", "-m", "x"), gitOp("push"), gitOp("tag", "x"), gitOp("config", "a.b", "c"), gitOp("checkout", "."), execOp("git", "-C", ".", "commit"), execOp("git", "push")},
		"`browse`":                {browseOp("https://example.org/"), browseOp("https://example.org/", "body")},
		"a tool of an MCP server": {{Tool: &abi.Use{Name: "x__y", Arguments: "{}"}}},
	}
	checks := map[string][2][]string{
		"the check after an edit":                                  {},
		"the check after an edit of a manifest that names no code": {1: {"go.mod"}},
		"the check after an edit of what it runs: a build script, a manifest that names one, a compiler plugin": {{"build.rs"}, nil},
	}
	tables := modeTables(t)
	for system, whole := range map[string]bool{"confined wholly": true, "not confined wholly": false} {
		table := tables[system]
		session := func(mode Mode) *world {
			return newWorld(t, map[string]string{"a.txt": "a\n"}, func(c *Config) {
				c.Policy.Mode, c.Tools = mode, []Tool{remoteTool{}}
				c.Exec.AskNetwork = true
				if c.Exec.Whole = whole; whole {
					c.Exec.Sandbox = &proc.Sandbox{}
				}
			})
		}
		row := func(what string, decide func(w *world) []Decision) {
			cells, ok := table[what]
			if !ok {
				t.Errorf("%s: the page says nothing of %s", system, what)
				return
			}
			for i, mode := range Modes() {
				if mode == ModeAuto && !whole {
					if cells[i] != "not offered" {
						t.Errorf("%s, %s: %s is %q", system, what, mode, cells[i])
					}
					continue
				}
				if mode == ModePlan && cells[i] == "–" {
					continue // there is none in the mode plan
				}
				for _, got := range decide(session(mode)) {
					said := map[Verdict]string{Allow: "runs", Ask: "asks", Deny: "refused"}[got.Verdict]
					if said != cells[i] {
						t.Errorf("%s, mode %s: %s: the page says %q, policy %q (%s %s)", system, mode, what, cells[i], said, got.Title, got.Reason)
					}
				}
			}
		}
		for what, ops := range calls {
			row(what, func(w *world) (out []Decision) {
				for _, op := range ops {
					out = append(out, w.Decide(t.Context(), op))
				}
				return out
			})
		}
		for what, edited := range checks {
			row(what, func(w *world) []Decision { return []Decision{w.DecideCheck(edited[0], edited[1])} })
		}
	}
}

// modeTables reads the tables of SECURITY.md that have a column for each mode, by
// what stands in their first cell: rows by their first cell.
func modeTables(t *testing.T) map[string]map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string][]string{}
	var table map[string][]string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			table = nil
		case table == nil && len(cells) == len(Modes())+1 && cells[1] == "`plan`":
			table = map[string][]string{}
			out[cells[0]] = table
		case table != nil && !strings.HasPrefix(cells[0], "--"):
			table[cells[0]] = cells[1:]
		}
	}
	return out
}

// TestNothingGetsThroughThePlanMode makes a thousand random calls in the mode plan,
// with a repository whose settings name programs, and a person who allows all that is
// asked: nothing is written, and no program but git runs, which only reads.
func TestNothingGetsThroughThePlanMode(t *testing.T) {
	needs(t, "git")
	posix(t)
	w := newWorld(t, map[string]string{"a.txt": "a\n", "d/b.txt": "b\n", "go.mod": "module m\n", ".gitattributes": "* filter=x diff=x\n"}, func(c *Config) {
		c.Policy = Policy{Mode: ModePlan, Allow: []Rule{rule(FamilyExec), rule(FamilyGit), rule(FamilyWrite), rule(FamilyPatch), rule(FamilyBrowse)}}
		c.Tools = []Tool{remoteTool{}}
	})
	initRepo(t, w)
	wire := newTripwire(t)
	for _, name := range []string{"filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.x.command", "core.fsmonitor", "core.pager", "core.editor", "alias.status"} {
		value := wire.program
		if strings.HasPrefix(name, "alias") {
			value = "!" + value
		}
		git(t, w, "config", name, value)
	}
	w.put("a.txt", "changed\n")
	before := treeOf(t, w.dir)
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	word := func() string {
		return pick("a.txt", "d/b.txt", "d", ".", "new.txt", "../out", ".git/config", ".git/hooks/pre-commit", "--output=x", "-c", "core.pager=sh", "HEAD", "-p", "--", "--ext-diff", "--textconv", "go.mod", "x", "--exec=sh", "-f", "$(touch x)", "AGENTS.md")
	}
	words := func(first ...string) []string {
		out := first
		for range random.IntN(4) {
			out = append(out, word())
		}
		return out
	}
	run := 0
	for i := range 1000 {
		var op Op
		switch random.IntN(8) {
		case 0:
			op = writeOp(word(), "x\n")
		case 1:
			op = patchOp(word(), "@@ -1 +1 @@\n-"+pick("a", "b", "changed", "module m")+"\n+x\n")
		case 2:
			op = execOp(words(pick("sh", "git", wire.program, "touch", "/bin/sh", "env", "go"))...)
		case 3, 4:
			op = gitOp(words(pick(slices.Concat(gitReads, gitChanges)...))...)
		case 5:
			op = browseOp(pick("https://example.org/", "http://127.0.0.1/", "file:///etc/passwd"), pick("", "body"))
		case 6:
			op = Op{Tool: &abi.Use{Name: pick("x__y", "exec", "search", "nope"), Arguments: pick("{}", compact(execArgs{Argv: words("touch"), Network: true}), `{"pattern": "a"}`)}}
		default:
			op = readOp(word())
		}
		switch got := w.Decide(t.Context(), op); got.Verdict {
		case Deny:
			continue
		default: // the person allows it
			if got.Mutates {
				// Such a call is one that fails: nothing would be written.
				if got.Effect != Write {
					t.Errorf("call %d: %s %+v", i, got.Title, op)
				}
			}
			w.Run(t.Context(), op, "")
			run++
		}
		if wire.ran() {
			t.Fatalf("call %d ran a program: %+v", i, op)
		}
	}
	if after := treeOf(t, w.dir); after != before {
		t.Errorf("the tree changed from\n%s to\n%s", before, after)
	}
	if run < 100 {
		t.Errorf("only %d calls ran", run)
	}
}

// treeOf lists the files below a directory with their contents, but for what git
// itself keeps of its looks.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		fmt.Fprintf(&b, "%s %q\n", p, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
