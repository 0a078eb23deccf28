package event

import "testing"

func TestACheckOfBeforeHasAHeading(t *testing.T) {
	found := []Finding{{}, {}}
	for _, tt := range []struct {
		check Check
		want  string
	}{
		{Check{Title: "as stored", Outcome: "found"}, "as stored"},
		{Check{Outcome: "skipped", Command: []string{"go", "build"}}, "not checked"},
		{Check{Outcome: "clean", Command: []string{"go", "build", "./..."}}, "go build ./... found nothing"},
		{Check{Outcome: "found", Command: []string{"sh", "-c", "a; b"}, Findings: found[:1]}, "sh -c 'a; b' found 1 problem"},
		{Check{Outcome: "found", Command: []string{"a\x1b"}, Findings: found}, `$'a\x1b' found 2 problems`},
		{Check{Outcome: "clean"}, "the checker found nothing"},
	} {
		if got := tt.check.Heading(); got != tt.want {
			t.Errorf("the heading of %+v is %q, want %q", tt.check, got, tt.want)
		}
	}
}
