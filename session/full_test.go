package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/google/uuid"
)

// TestAConversationThatIsFullEndsATurnOnly prompts until the core holds no more:
// the person is told why and keeps the prompt, and both the session and the one
// beside it go on. So they do after a resume.
func TestAConversationThatIsFullEndsATurnOnly(t *testing.T) {
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
	if res := say(id, "short"); res.Text != "Noted." {
		t.Errorf("the next prompt of the full session ended %+v", res)
	}
	if res := say(beside, "still there?"); res.Text != "Noted." {
		t.Errorf("the session beside it ended %+v", res)
	}
	r.Shutdown()
	r.Manager = NewManager(r.cfg, r)
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

// TestATurnThatFillsTheConversationEnds has the model read and say more than the
// core holds, in many ways: every turn ends with done and says what to do, the next
// prompt works, and so does the session after a resume.
func TestATurnThatFillsTheConversationEnds(t *testing.T) {
	big := strings.Repeat(strings.Repeat("0123456789abcdef", 99)+"\n", 2<<20/1585)
	read := func(n int) []model.FunctionCall {
		var calls []model.FunctionCall
		for i := range n {
			calls = append(calls, model.FunctionCall{ID: fmt.Sprint(i), Name: "read", Arguments: fmt.Sprintf(`{"path":"f%d.txt"}`, i%9)})
		}
		return calls
	}
	write := model.FunctionCall{ID: "w", Name: "write", Arguments: `{"path":"big.txt","text":"` + strings.Repeat("x", 15<<20) + `"}`}
	for name, c := range map[string]struct {
		window  int
		replies []model.Response
		outcome string
		says    string // in the transcript
	}{
		"300 reads of 64 KB":       {0, []model.Response{{Calls: read(300)}}, "failed", "begin a new session"},
		"nine reads, small window": {32000, []model.Response{{Calls: read(9)}, {Text: new("Next."), Finish: "stop"}}, "complete", "[lines 1–20 of 1,323; go on with offset 21]"},
		"a reply of 15 MB":         {0, []model.Response{{Text: new(strings.Repeat("x", 15<<20)), Finish: "stop"}}, "complete", "a reply of 15728640 bytes is cut here: at most 2097152 bytes"},
		"a call of 15 MB":          {0, []model.Response{{Calls: []model.FunctionCall{write}}, {Text: new("Next."), Finish: "stop"}}, "complete", "make the change in smaller steps"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for i := range 9 {
				files[fmt.Sprintf("f%d.txt", i)] = big
			}
			r := start(t, files, "version: 1\nentries: []\n")
			withModel(r, &answers{replies: append(c.replies, model.Response{Text: new("Next."), Finish: "stop"}, model.Response{Text: new("Next."), Finish: "stop"})}, c.window)
			id, res := r.run("go")
			kinds := r.transcriptText(id)
			if res.Outcome != c.outcome || !strings.Contains(kinds, `"kind":"done"`) || !strings.Contains(kinds, c.says) {
				t.Errorf("the turn ended %.300q:\n%.3000s", res, r.kinds())
			}
			if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "more"}))); res.Text != "Next." {
				t.Errorf("the next turn ended %.300q", res)
			}
			r.Shutdown()
			r.Manager = NewManager(r.cfg, r)
			if _, err := r.Resume(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// transcriptText is a session's events, encoded.
func (r *rig) transcriptText(id uuid.UUID) string {
	r.t.Helper()
	events, _, err := r.Transcript(r.t.Context(), id, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range events {
		b.Write(e.Event)
	}
	return b.String()
}
