package proc

import (
	"os"
	"strings"
	"testing"
)

// TestNothingRunsWithoutAPolicy gives every way to say nothing.
func TestNothingRunsWithoutAPolicy(t *testing.T) {
	marker := t.TempDir() + "/ran"
	for name, p := range map[string]Policy{"none": {}, "unconfined without a reason": Unconfined("")} {
		r, err := Run(t.Context(), Spec{Argv: []string{"touch", marker}, Dir: t.TempDir(), Policy: p})
		if err == nil || !strings.Contains(err.Error(), "no sandbox policy") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program ran")
	}
	if _, err := Run(t.Context(), Spec{Argv: []string{os.Args[0], "-test.run=^$"}, Dir: t.TempDir(), Policy: anything}); err != nil {
		t.Error(err)
	}
}
