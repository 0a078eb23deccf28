package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var goTest = Rule{"exec", []string{"go", "test"}}

// ruleFiles are files before and after exec: [go, test] is added. A file that is ""
// is not there; one with refused stays as it is.
var ruleFiles = []struct{ name, before, after string }{
	{"no file", "", "rules:\n  allow:\n    - exec: [go, test]\n"},
	{"comments only", "# mine\n", "# mine\nrules:\n  allow:\n    - exec: [go, test]\n"},
	{"no rules", "# top\nprofile: gpt # the good one\n\n# models\nprofiles:\n  gpt: {provider: openai, model: x}\n", "# top\nprofile: gpt # the good one\n\n# models\nprofiles:\n  gpt: {provider: openai, model: x}\nrules:\n  allow:\n    - exec: [go, test]\n"},
	{"no line break at the end", "approvals: ask", "approvals: ask\nrules:\n  allow:\n    - exec: [go, test]\n"},
	{"rules without a value", "rules:\nprofile: x\n", "rules:\n  allow:\n    - exec: [go, test]\nprofile: x\n"},
	{"deny only", "rules:\n  # never\n  deny:\n    - exec: [rm] # no\nlog: {level: warn}\n", "rules:\n  # never\n  allow:\n    - exec: [go, test]\n  deny:\n    - exec: [rm] # no\nlog: {level: warn}\n"},
	{"a block list", "rules:\n  allow:\n    # tests\n    - exec: [npm, test] # ours\n\n  deny: []\n", "rules:\n  allow:\n    # tests\n    - exec: [npm, test] # ours\n    - exec: [go, test]\n\n  deny: []\n"},
	{"a block list at the end", "rules:\n    allow:\n    - git: [add]", "rules:\n    allow:\n    - git: [add]\n    - exec: [go, test]\n"},
	{"a rule over several lines", "rules:\n  allow:\n    - exec:\n        - npm\n        - test\n    - write: [\n        docs\n      ]\napprovals: edits\n", "rules:\n  allow:\n    - exec:\n        - npm\n        - test\n    - write: [\n        docs\n      ]\n    - exec: [go, test]\napprovals: edits\n"},
	{"a list in a line", "rules:\n  allow: [exec: [npm, test], git: [status]] # mine\n  deny: [exec: [rm]]\n", "rules:\n  allow: [exec: [npm, test], git: [status], exec: [go, test]] # mine\n  deny: [exec: [rm]]\n"},
	{"an empty list in a line", "rules:\n  allow: []\n", "rules:\n  allow: [exec: [go, test]]\n"},
	{"all in a line", "rules: {allow: [exec: [npm]], deny: []} # x\n", "rules: {allow: [exec: [npm], exec: [go, test]], deny: []} # x\n"},
	{"all in a line, deny only", "rules: {deny: [exec: [rm]]}\n", "rules: {allow: [exec: [go, test]], deny: [exec: [rm]]}\n"},
	{"an empty table in a line", "rules: {}\n", "rules: {allow: [exec: [go, test]]}\n"},
	{"a list over several lines", "rules:\n  allow: [\n    exec: [npm, test], # ours\n  ]\n", "rules:\n  allow: [\n    exec: [npm, test], # ours\n    exec: [go, test],\n  ]\n"},
	{"allow without a value", "rules:\n  allow:\n  deny:\n    - exec: [rm]\n", "rules:\n  allow:\n    - exec: [go, test]\n  deny:\n    - exec: [rm]\n"},
	{"there already", "rules:\n  allow:\n    - exec: [\"go\", 'test'] # mine\n", "rules:\n  allow:\n    - exec: [\"go\", 'test'] # mine\n"},
	{"other letters before it", "prelude: \"ü 日本\"\nrules: {allow: [write: [\"ü/日本\"], exec: [ä]]}\n", "prelude: \"ü 日本\"\nrules: {allow: [write: [\"ü/日本\"], exec: [ä], exec: [go, test]]}\n"},
	{"lines that end as on Windows", "approvals: ask\r\nrules:\r\n  allow:\r\n    - exec: [npm]\r\n", "approvals: ask\r\nrules:\r\n  allow:\r\n    - exec: [npm]\r\n    - exec: [go, test]\r\n"},
	{"a text over several lines behind it", "rules:\n  allow:\n    - exec: [npm]\nprelude: |\n  rules:\n    allow: []\n", "rules:\n  allow:\n    - exec: [npm]\n    - exec: [go, test]\nprelude: |\n  rules:\n    allow: []\n"},
	{"a text over several lines before it", "prelude: |\n  one\n\n  two\nrules:\n  allow:\n    - exec: [npm]\n", "prelude: |\n  one\n\n  two\nrules:\n  allow:\n    - exec: [npm]\n    - exec: [go, test]\n"},
	{"not YAML", "rules: [\n", refusedFile},
	{"rules of another kind", "rules: [a]\n", refusedFile},
	{"allow of another kind", "rules:\n  allow: x\n", refusedFile},
	{"the file in a line", "{approvals: ask}\n", refusedFile},
	{"two documents", "approvals: ask\n---\nlog: {level: warn}\n", refusedFile},
}

const refusedFile = "refused"

func TestARuleIsAddedAndTheRestStays(t *testing.T) {
	for _, tt := range ruleFiles {
		path := filepath.Join(t.TempDir(), "agent-lsp", "config.yaml")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if tt.before != "" {
			write(t, path, tt.before)
		}
		err := AddRule(path, goTest)
		if tt.after == refusedFile {
			if err == nil || !strings.Contains(err.Error(), "by hand") || textOf(t, path) != tt.before {
				t.Errorf("%s: %v, the file is now\n%s", tt.name, err, textOf(t, path))
			}
			continue
		}
		if err != nil || textOf(t, path) != tt.after {
			t.Errorf("%s: %v\nthe file is\n%s\nwant\n%s", tt.name, err, textOf(t, path), tt.after)
			continue
		}
		r := Load(Sources{UserFile: path})
		last := len(r.Config.Rules.Allow) - 1
		if last < 0 || !r.Config.Rules.Allow[last].equal(goTest) || len(r.AllowedBy) != last+1 || r.AllowedBy[last].Source != path {
			t.Errorf("%s: the rules are %v by %v", tt.name, r.Config.Rules.Allow, r.AllowedBy)
		}
		if tt.before == tt.after {
			continue
		}
		// Taken back, what was there is there, and nothing else.
		if err := RemoveRule(path, goTest); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		was, _ := settingsIn([]byte(tt.before))
		is, err := settingsIn([]byte(textOf(t, path)))
		if err != nil || !sameRules(was.Rules.Allow, is.Rules.Allow) || strings.Count(textOf(t, path), "#") != strings.Count(tt.before, "#") {
			t.Errorf("%s: taken back, the file is (%v)\n%s", tt.name, err, textOf(t, path))
		}
		if err := RemoveRule(path, goTest); err == nil {
			t.Errorf("%s: a rule that is not there is removed", tt.name)
		}
	}
}

// TestOddRulesSurviveTheFile writes rules of any words.
func TestOddRulesSurviveTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, "rules: {allow: [git: [status]]}\n")
	rules := []Rule{
		{"exec", []string{"sh", "-c", "echo 'a' \"b\" # c\n, [d]: {e}"}},
		{"exec", []string{"a", "$"}},
		{"exec", []string{"-", "--", "-x", "--y=z"}},
		{"exec", []string{"true", "null", "1", "0x1f", "~", "", " ", "."}},
		{"write", nil},
		{"browse", []string{"POST example.org", "https://example.org/a?b=c"}},
		{"exec", []string{"\u202e", "日本", "\x1b[2J", "\u00ad"}},
		{"files__read", []string{"*", "&a", "!b", "%c", "@d", "`e`"}},
	}
	for _, r := range rules {
		if err := AddRule(path, r); err != nil {
			t.Fatal(err)
		}
	}
	r := Load(Sources{UserFile: path})
	if len(r.Warnings) != 0 || !sameRules(r.Config.Rules.Allow[1:], rules) {
		t.Errorf("%v\n%s", r.Warnings, textOf(t, path))
	}
	for _, r := range rules {
		if err := RemoveRule(path, r); err != nil {
			t.Error(err)
		}
	}
	if got := textOf(t, path); got != "rules: {allow: [git: [status]]}\n" {
		t.Errorf("all taken back: %s", got)
	}
}

// TestARuleIsWrittenThroughALink keeps the link of whoever has the file elsewhere, and
// the file's rights.
func TestARuleIsWrittenThroughALink(t *testing.T) {
	dir := t.TempDir()
	real, path := filepath.Join(dir, "dotfiles.yaml"), filepath.Join(dir, "config.yaml")
	write(t, real, "approvals: ask\n")
	if err := os.Symlink(real, path); err != nil {
		t.Skip(err)
	}
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := AddRule(path, goTest); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 || !strings.Contains(textOf(t, real), "go, test") {
		t.Errorf("the file is %v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".config-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
