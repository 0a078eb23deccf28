package script

import (
	"os"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/clock"
)

func TestTheDemonstrationAnswersASession(t *testing.T) {
	s, err := Demo()
	if err != nil {
		t.Fatal(err)
	}
	m := New(s, clock.NewVirtual(s.Epoch))
	var calls []string
	for _, step := range []string{"1/1", "1/2", "1/3", "1/4", "2/1", "3/1"} {
		resp, err := m.Respond(t.Context(), says(step, "hello"), nil)
		if err != nil {
			t.Fatal(step, err)
		}
		for _, c := range resp.Calls {
			calls = append(calls, c.Name)
		}
		if want := map[string]int{"1/1": 1, "1/2": 1, "1/3": 1}[step]; len(resp.Calls) != want || *resp.Text == "" {
			t.Errorf("step %s: %+v", step, resp)
		}
	}
	if got := strings.Join(calls, " "); got != "read write patch" {
		t.Error(got)
	}
}

// The examples of the manual are scripts.
func TestTheManualsExamplesParse(t *testing.T) {
	page, err := os.ReadFile("../../../docs/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.ReplaceAll(string(page), "\r\n", "\n"), "```")
	n := 0
	for i := 1; i < len(parts); i += 2 {
		if text, ok := strings.CutPrefix(parts[i], "yaml\n"); ok {
			n++
			if _, err := Parse("scripts.md", []byte(text)); err != nil {
				t.Errorf("%v in %s", err, text)
			}
		}
	}
	if n < 2 {
		t.Errorf("%d examples", n)
	}
}
