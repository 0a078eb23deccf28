package checker

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSourceLinesOfFilesOutsideAreLeftOut(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	for name, tt := range map[string]struct {
		text   string
		path   string // of the finding
		hidden bool
	}{
		"rustc, inside":              {"error: x\n --> src/main.rs:3:5\n  |\n3 | SECRET\n  | ^^^^", "src/main.rs", false},
		"rustc, outside":             {"error: x\n --> OTHER/s.rs:3:5\n  |\n3 | SECRET\n  | ^^^^", "OTHER/s.rs", true},
		"rustc, a second place":      {"error: x\n --> src/main.rs:3:5\n  |\n3 | fine\n  |\n ::: OTHER/s.rs:1:1\n  |\n1 | SECRET", "src/main.rs", true},
		"rustc, upwards":             {"error: x\n --> ../s.rs:3:5\n  |\n3 | SECRET", "src/main.rs", true},
		"gcc, an included file":      {"In file included from a.c:1:\nOTHER/key:1:1: error: unknown type\n    1 | SECRET\n      | ^~~~", "OTHER/key", true},
		"gcc, inside":                {"a.c:1:1: error: unknown type\n    1 | SECRET\n      | ^~~~", "a.c", false},
		"gcc, back inside":           {"OTHER/key:1:1: error: x\n    1 | hush\na.c:2:2: note: y\n    2 | SECRET", "a.c", false},
		"deno, whose lines go first": {"error: TS1005 [ERROR]: ';' expected.\nSECRET\n~~~~~\n    at file://OTHER/k.ts:1:5", "OTHER/k.ts", true},
		"deno, inside":               {"error: TS1005 [ERROR]: ';' expected.\nSECRET\n~~~~~\n    at file://ROOT/k.ts:1:5", "ROOT/k.ts", false},
	} {
		t.Run(name, func(t *testing.T) {
			fill := strings.NewReplacer("OTHER", filepath.ToSlash(other), "ROOT", filepath.ToSlash(root))
			var rep report
			rep.add(fill.Replace(tt.text), &Finding{Path: filepath.FromSlash(fill.Replace(tt.path))})
			rep.withoutOutside(root, root)
			got := rep.blocks[0].text
			if strings.Contains(got, "SECRET") == tt.hidden || tt.hidden != strings.Contains(got, "are left out") && !strings.Contains(tt.text, "hush") {
				t.Errorf("it says\n%s", got)
			}
			first, _, _ := strings.Cut(fill.Replace(tt.text), "\n")
			if !strings.HasPrefix(got, first) || strings.Contains(got, "hush") {
				t.Errorf("it says\n%s", got)
			}
		})
	}
}
