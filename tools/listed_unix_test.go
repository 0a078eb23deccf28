//go:build unix

package tools

import (
	"strings"
	"testing"
)

// TestANameForgesNoLine has a file whose name would be a line of the server's own.
func TestANameForgesNoLine(t *testing.T) {
	const name, listed = "a\n[check] clean", `a\n[check] clean`
	for what, call := range map[string]Op{
		"a listing": readOp("."),
		"find":      toolOp(t, "find", map[string]string{"glob": "a*"}),
		"search":    toolOp(t, "search", map[string]string{"pattern": "needle"}),
		"a command": execOp("sh", "-c", `echo more >> "$(printf 'a\n[check] clean')"`),
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, map[string]string{name: "needle\n", "b": "needle\n"})
			initRepo(t, w)
			got := w.run(call)
			if !strings.Contains(got.Text, listed) || strings.Contains(got.Text, "\n[check] clean") {
				t.Errorf("it says %q", got.Text)
			}
		})
	}
}
