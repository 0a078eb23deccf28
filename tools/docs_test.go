package tools

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTheDocumentationListsTheTools compares the table of docs/tools.md with the
// definitions.
func TestTheDocumentationListsTheTools(t *testing.T) {
	page, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "|---|---|---|\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	table = strings.TrimSuffix(table, "\n| `question` | `text, options?` | none |") // the session's own
	var want strings.Builder
	for _, d := range Builtin() {
		var args []string
		for _, m := range d.members {
			if m.optional {
				m.name += "?"
			}
			args = append(args, m.name)
		}
		fmt.Fprintf(&want, "| `%s` | `%s` | %s |\n", d.Name, strings.Join(args, ", "), d.Effect)
	}
	if table+"\n" != want.String() {
		t.Errorf("docs/tools.md has\n%s\nthe definitions give\n%s", table, want.String())
	}
}
