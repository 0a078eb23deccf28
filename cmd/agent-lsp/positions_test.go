package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"go.lsp.dev/protocol"
)

// placed is a project of one tool, whose files have the word "wrong" once each,
// where the tool finds fault.
type placed struct {
	tool  string
	files []string // name and text in turn
	name  string   // of the n-th file, for fmt
	texts []string
}

// faults are texts with a fault behind tabs, letters of two and four bytes, pairs
// of UTF-16 and CRLF line ends, in the first line and further down.
var faults = []placed{
	{"go", []string{"go.mod", "module example.test/m\n\ngo 1.26\n"}, "p%d/a.go", []string{
		"package p\n\n\tvar É, Y = \"é😀\" +\t\twrong, 1\n",
		"package p; var É = \"😀\" + wrong\r\nvar y = 1\r\n",
		"package p\r\n\r\nvar É = \"😀𝒳\"; var z = wrong\r\n",
		"package p\n\nvar z = wrong",
	}},
	{
		"cargo", // of a member, with files of the same names where a wrong base would lead to
		[]string{
			"Cargo.toml", crate("top") + "[workspace]\nmembers = [\"crates/in\"]\nexclude = [\"crates/in/crates\"]\n",
			"src/lib.rs", "", "src/p0.rs", "", "crates/in/crates/in/src/p0.rs", "",
			"crates/in/Cargo.toml", crate("in"),
			"crates/in/src/lib.rs", "mod p0; mod p1; mod p2; mod p3;\nmod p4; mod p5; mod p6; mod p7;\n",
		},
		"crates/in/src/p%d.rs",
		[]string{
			"pub fn f() {\n\tlet _ = (\"é😀\",\t\twrong);\n}\n",
			"pub fn f() { let _ = (\"é😀\", wrong); }\r\n",
			"// 😀\r\npub fn f() { let _ = (\"é😀𝒳\", wrong); }\r\n",
			"pub fn f() { wrong }",
		},
	},
	{"tsc", []string{"package.json", "{}", "tsconfig.json", "{}"}, "p%d.ts", scripts},
	{"deno", []string{"deno.json", "{}"}, "p%d.ts", scripts},
	{"pyright", []string{"pyproject.toml", ""}, "p%d.py", []string{
		"if True:\n\té = (\"é😀\",\t\twrong)\n",
		"é = (\"é😀\", wrong)\r\n",
		"# 😀\r\né = (\"é😀𝒳\", wrong)\r\n",
		"x = wrong",
	}},
}

func crate(name string) string {
	return "[package]\nname = \"" + name + "\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
}

var scripts = []string{
	"export {};\n\tconst é = \"é😀\" +\t\twrong;\n",
	"export const é = \"é😀\" + wrong;\r\n",
	"// 😀\r\nexport const é = \"é😀𝒳\" + wrong;\r\n",
	"export const x = wrong",
}

// TestFindingsStandWhereTheToolsMeanThem compares the diagnostics that real tools
// come to in an editor, in each unit that an editor may count in, with where the
// word stands in its document: a byte order mark is in no document. Half of the
// documents are open.
func TestFindingsStandWhereTheToolsMeanThem(t *testing.T) {
	for _, p := range faults {
		t.Run(p.tool, func(t *testing.T) {
			t.Parallel()
			env := withTool(t, p.tool)
			dir := t.TempDir()
			for i := 0; i < len(p.files); i += 2 {
				put(t, filepath.Join(dir, p.files[i]), p.files[i+1])
			}
			texts := map[string]string{}
			for i, content := range p.texts {
				for j, mark := range []string{"", "\uFEFF"} {
					name := filepath.Join(dir, fmt.Sprintf(p.name, 2*i+j))
					put(t, name, mark+content)
					texts[text.URI(name)] = content
				}
			}
			for _, unit := range []text.Encoding{text.UTF16, text.UTF8} {
				e := lsptest.Start(t, program(t, env...), lsptest.Options{
					Timeout: 5 * time.Minute, Folders: []string{dir}, Encodings: []text.Encoding{unit},
				})
				e.Initialize()
				open := false
				for uri, content := range texts {
					if open = !open; open {
						e.OpenText(uri, content, 1)
					}
				}
				if _, err := e.Command("agent.check", nil); err != nil {
					t.Fatal(err)
				}
				e.Barrier()
				for uri, d := range e.AllDiagnostics() {
					if _, is := texts[uri]; !is {
						t.Errorf("%s has findings: %s", uri, d.Raw)
					}
				}
				for uri, content := range texts {
					want := spotOf(content, "wrong", unit)
					ranges := map[protocol.Range]bool{}
					for _, d := range e.Diagnostics(uri).Diagnostics {
						ranges[d.Range] = true
					}
					if len(ranges) != 1 || !ranges[want] {
						t.Errorf("%s in %v: %v, want %v", filepath.Base(uri), unit, ranges, want)
					}
				}
				e.Shutdown()
			}
		})
	}
}

// spotOf is where a word of ASCII stands in a text.
func spotOf(content, word string, unit text.Encoding) protocol.Range {
	before, _, _ := strings.Cut(content, word)
	line := before[strings.LastIndex(before, "\n")+1:]
	n := len(line)
	if unit == text.UTF16 {
		n = len(utf16.Encode([]rune(line)))
	}
	start := protocol.Position{Line: uint32(strings.Count(before, "\n")), Character: uint32(n)}
	end := start
	end.Character += uint32(len(word))
	return protocol.Range{Start: start, End: end}
}

// TestFindingsOfUnsavedTextStandInIt has the go command look at what is in the
// editor: the disk holds other lines.
func TestFindingsOfUnsavedTextStandInIt(t *testing.T) {
	withTool(t, "go")
	dir := t.TempDir()
	put(t, filepath.Join(dir, "go.mod"), "module example.test/m\n\ngo 1.26\n")
	put(t, filepath.Join(dir, "a.go"), "package m\n\nvar a = 1\n")
	e := lsptest.Start(t, program(t), lsptest.Options{Folders: []string{dir}})
	e.Initialize()
	uri := e.Open(filepath.Join(dir, "a.go"))
	const unsaved = "package m\n\n// one more line\nvar a = \"é😀𝒳\" + wrong\n"
	e.SetText(uri, unsaved)
	if _, err := e.Command("agent.check", nil); err != nil {
		t.Fatal(err)
	}
	d := e.WaitDiagnostics(uri, 1)
	if want := spotOf(unsaved, "wrong", text.UTF16); d.Diagnostics[0].Range != want {
		t.Errorf("%v, want %v", d.Diagnostics[0].Range, want)
	}
	e.Shutdown()
}
