package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
)

// broken is a project of two files, and edits of one of them that break itself
// and the other one.
type broken struct {
	tool, edited, another string
	files                 map[string]string
	own, other            string // texts of the edited file
	ownSays, otherSays    string
}

var breaks = []broken{
	{
		tool: "go", edited: "lib/lib.go", another: "main.go",
		files: map[string]string{
			"go.mod":     "module example.test/m\n\ngo 1.26\n",
			"lib/lib.go": "package lib\n\nfunc F(n int) int { return n }\n",
			"main.go":    "package main\n\nimport \"example.test/m/lib\"\n\nfunc main() { lib.F(1) }\n",
		},
		own: "package lib\n\nfunc F(n int) int { return missing }\n", ownSays: "undefined: missing",
		other: "package lib\n\nfunc F(n string) string { return n }\n", otherSays: "./main.go:5:21",
	},
	{
		tool: "cargo", edited: "src/lib.rs", another: "src/main.rs",
		files: map[string]string{
			"Cargo.toml":  "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/lib.rs":  "pub fn f(n: i32) -> i32 { n }\n",
			"src/main.rs": "fn main() { m::f(1); }\n",
		},
		own: "pub fn f(n: i32) -> i32 { n + missing }\n", ownSays: "cannot find value `missing`",
		other: "pub fn f(n: &str) -> &str { n }\n", otherSays: "--> src/main.rs:1:18",
	},
	{
		tool: "tsc", edited: "src/lib.ts", another: "src/main.ts",
		files: map[string]string{
			"package.json": "{\"name\":\"m\"}", "tsconfig.json": "{\"compilerOptions\":{\"strict\":true},\"include\":[\"src\"]}",
			"src/lib.ts":  "export function f(n: number): number { return n; }\n",
			"src/main.ts": "import { f } from \"./lib\";\nf(1);\n",
		},
		own: "export function f(n: number): number { return missing + n; }\n", ownSays: "src/lib.ts(1,47): error TS2304",
		other: "export function f(n: string): string { return n; }\n", otherSays: "src/main.ts(2,3): error TS2345",
	},
	{
		tool: "deno", edited: "lib.ts", another: "main.ts",
		files: map[string]string{
			"deno.json": "{}",
			"lib.ts":    "export function f(n: number): number { return n; }\n",
			"main.ts":   "import { f } from \"./lib.ts\";\nf(1);\n",
		},
		own: "export function f(n: number): number { return missing + n; }\n", ownSays: "TS2304 [ERROR]",
		other: "export function f(n: string): string { return n; }\n", otherSays: "main.ts:2:3",
	},
	{
		tool: "pyright", edited: "lib.py", another: "main.py",
		files: map[string]string{
			"pyproject.toml": "[project]\nname = \"m\"\n",
			"lib.py":         "def f(n: int) -> int:\n    return n\n",
			"main.py":        "from lib import f\n\nf(1)\n",
		},
		own: "def f(n: int) -> int:\n    return missing\n", ownSays: "\"missing\" is not defined",
		other: "def f(n: str) -> str:\n    return n\n", otherSays: "main.py:3:3",
	},
}

// withTool answers variables of an environment that has a tool, or skips.
func withTool(t *testing.T, tool string) []string {
	t.Helper()
	switch tool {
	case "tsc", "deno", "pyright":
		dir := os.Getenv("AGENT_LSP_TEST_TOOLS")
		if dir == "" {
			t.Skip("AGENT_LSP_TEST_TOOLS is not set")
		}
		return []string{"PATH=" + filepath.Join(dir, "node_modules", ".bin") + string(filepath.ListSeparator) + os.Getenv("PATH")}
	}
	if _, err := exec.LookPath(tool); err != nil {
		t.Skip(err)
	}
	return nil
}

// TestEachEditIsAnsweredWithWhatItBroke breaks the edited file and another one by
// turns and repairs them in between, in editors that save what an edit touched, that
// leave it to the server, and whose buffer holds unsaved text before and after. What
// an edit broke is in its own result, in every round, and nothing of an earlier
// round is. The script has its words in the next message that the model reads, or
// the turn fails.
func TestEachEditIsAnsweredWithWhatItBroke(t *testing.T) {
	for _, k := range breaks {
		t.Run(k.tool, func(t *testing.T) { brokenEdits(t, k, "saves") })
		switch k.tool {
		case "go": // it can be told of unsaved text
			t.Run("go, unsaved", func(t *testing.T) { brokenEdits(t, k, "unsaved") })
			fallthrough
		case "cargo":
			t.Run(k.tool+", saved by the server", func(t *testing.T) { brokenEdits(t, k, "") })
		}
	}
}

// written is when a file was written last.
func written(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

func brokenEdits(t *testing.T, k broken, editor string) {
	t.Parallel()
	env := withTool(t, k.tool)
	dir := t.TempDir()
	for name, content := range k.files {
		put(t, filepath.Join(dir, name), content)
	}
	good, rounds := k.files[k.edited], 4
	if editor == "unsaved" {
		good += "\n" // which the disk never has
	}
	if k.tool == "go" {
		rounds = 8
	}
	if editor != "saves" {
		rounds = 2
	}
	var entries strings.Builder
	fmt.Fprintf(&entries, "  - calls: [{read: {path: %s}}]\n", k.edited)
	when, want := "", []string{""}
	for range rounds {
		for _, x := range []struct{ content, says string }{
			{k.own, k.ownSays}, {good, ""}, {k.other, k.otherSays}, {good, ""},
		} {
			fmt.Fprintf(&entries, "  - {when: %q, calls: [{write: {path: %s, text: %q}}]}\n", when, k.edited, x.content)
			if when = x.says; when == "" {
				when = "wrote"
			}
			want = append(want, x.says)
		}
	}
	fmt.Fprintf(&entries, "  - {when: %q, text: done}\n", when)
	e := lsptest.Start(t, program(t, env...), lsptest.Options{
		Timeout: 5 * time.Minute, // ten checks of a slow tool on a busy machine
		Folders: []string{dir}, Transcript: true, SavesEdits: editor == "saves", Edits: lsptest.EditAfter,
		InitializationOptions: scripted(t, entries.String(), map[string]any{"approvals": "edits"}),
	})
	e.Initialize()
	uri := e.Open(filepath.Join(dir, k.edited)) // one is open, the other is not
	if editor == "unsaved" {
		e.SetText(uri, good)
	}
	before := written(t, filepath.Join(dir, k.edited))
	prompted(t, e, "go")
	if after := written(t, filepath.Join(dir, k.edited)); after.Equal(before) != (editor == "unsaved") {
		t.Errorf("the file was written at %v and %v", before, after)
	}
	got := results(t, e)
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for i, says := range want[1:] {
		had := got[i+1]
		if says == "" && strings.Contains(had, "Diagnostics from") || !strings.Contains(had, says) || strings.Contains(had, "did not run") {
			t.Errorf("edit %d: want %q and nothing else of the checker in\n%s", i, says, had)
		}
		for _, other := range []string{k.ownSays, k.otherSays} {
			if other != says && strings.Contains(had, other) {
				t.Errorf("edit %d: has %q of another edit:\n%s", i, other, had)
			}
		}
	}
	e.Barrier()
	for _, name := range []string{k.edited, k.another} {
		if d := e.Diagnostics(text.URI(filepath.Join(dir, name))); d.Times == 0 || len(d.Raw) != 0 {
			t.Errorf("%s: %d findings after %d publications", name, len(d.Raw), d.Times)
		}
	}
	e.Shutdown()
}
