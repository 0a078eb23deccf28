package session

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestAConversationThatIsFullEndsItsSessionOnly prompts until the core holds no
// more: the person is told why, keeps the prompt, and the session beside it goes
// on. A resume takes the session up in front of what did not fit.
func TestAConversationThatIsFullEndsItsSessionOnly(t *testing.T) {
	r := start(t, nil, "version: 1\nentries:\n"+strings.Repeat("  - text: Noted.\n", 8))
	beside, res := r.run("hello")
	if res.Text != "Noted." {
		t.Fatalf("turn ended %+v", res)
	}
	id, err := r.New(t.Context(), NewSession{Root: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	say := func(id uuid.UUID, text string) TurnResult {
		t.Helper()
		return r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: text})))
	}
	long := strings.Repeat("x", MaxPrompt)
	turns := 0
	for res = say(id, long); res.Outcome == "complete"; res = say(id, long) {
		if turns++; turns > 8 {
			t.Fatal("it is never full")
		}
	}
	if turns == 0 || !strings.Contains(res.Text, "16 MiB") {
		t.Errorf("after %d turns the next one ended %+v", turns, res)
	}
	if _, _, err := r.Prompt(t.Context(), Prompt{Session: &id, Text: "short"}); err == nil || !strings.Contains(err.Error(), "make a new one") {
		t.Errorf("a prompt of the full session answered %v", err)
	}
	if res := say(beside, "still there?"); res.Text != "Noted." {
		t.Errorf("the session beside it ended %+v", res)
	}
	if fresh, res := r.run("without a session"); res.Text != "Noted." || fresh == id {
		t.Errorf("a prompt without a session went to %s and ended %+v", fresh, res)
	}
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if res := say(id, "short"); res.Text != "Noted." {
		t.Errorf("after a resume a prompt that fits ended %+v", res)
	}
	if res := say(id, long); res.Outcome != "failed" || !strings.Contains(res.Text, "16 MiB") {
		t.Errorf("after a resume a prompt that does not fit ended %+v", res)
	}
	if !strings.Contains(r.kinds(), "note this prompt was not taken up: x") {
		t.Error("the prompt that was not taken up is lost")
	}
	if events, head, err := r.Transcript(t.Context(), id, nil); err != nil || uint64(len(events)) != head || head == 0 {
		t.Errorf("its transcript: %d events of %d, %v", len(events), head, err)
	}
}
