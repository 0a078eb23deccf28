package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
)

// manner is a way to take an edit of an open document, and what comes of it.
type manner struct {
	how    lsptest.EditAnswer
	slow   bool   // waits for the server's own limit
	says   string // in the result of the edit; of one that is done when again is empty
	buffer string // after it
	again  string // the diff by which the model then corrects itself
	end    string // after that
	edits  int    // requests to the editor in all
}

const (
	mannersDisk  = "one\ntwo"
	mannersTyped = "one\ntwo typed"
	mannersDiff  = `@@\n-one\n+ones 😀\n`
	mannersDone  = "ones 😀\ntwo typed"
	mannersAbove = "typed meanwhile\n"
)

var manners = []manner{
	{how: lsptest.EditBefore, says: "patched", buffer: mannersDone, edits: 1},
	{how: lsptest.EditAfter, says: "patched", buffer: mannersDone, edits: 1},
	{how: lsptest.EditMute, says: "patched", buffer: mannersDone, edits: 1},
	{how: lsptest.EditTyped, says: "rebased", buffer: mannersAbove + mannersDone, edits: 2},
	{
		how: lsptest.EditTypedTrue, says: "said that it was applied, but its document (version 3) holds another text, which differs from the edit's in line 1",
		buffer: mannersAbove + mannersTyped, again: mannersDiff, end: mannersAbove + mannersDone, edits: 2,
	},
	{
		how: lsptest.EditSkip, says: "said that it was applied, but its document (version 2) still holds the text from before",
		buffer: mannersTyped, again: mannersDiff, end: mannersDone, edits: 2,
	},
	{
		how: lsptest.EditOther, says: "said that it was applied, but its document (version 3) holds another text",
		buffer: "ones 😀\n// put in by a hook\ntwo typed", again: `@@\n-// put in by a hook\n`, end: mannersDone, edits: 2,
	},
	{
		how: lsptest.EditFormatted, says: "patched", buffer: "formatted\n" + mannersDone, edits: 1,
	},
	{how: lsptest.EditHalf, says: "     1\\tones two typed", buffer: "ones two typed", again: `@@\n-ones two typed\n+ones 😀\n+two typed\n`, end: mannersDone, edits: 2},
	{how: lsptest.EditRefuse, says: "the editor refused it (the editor refuses edits)", buffer: mannersTyped, again: mannersDiff, end: mannersDone, edits: 2},
	{how: lsptest.EditError, says: "the editor answered with an error", buffer: mannersTyped, again: mannersDiff, end: mannersDone, edits: 2},
	{how: lsptest.EditNever, slow: true, says: "the editor did not answer within 20s", buffer: mannersTyped, again: mannersDiff, end: mannersDone, edits: 2},
}

// TestATurnSaysWhatTheEditorReallyDid plays editors that take an edit of a document
// with unsaved text in each way that there is. What failed is told to the model,
// which corrects itself in one round, and is not undone; what was typed is there at
// the end, and not saved by anyone.
func TestATurnSaysWhatTheEditorReallyDid(t *testing.T) {
	for _, tt := range manners {
		t.Run(string(tt.how), func(t *testing.T) {
			t.Parallel()
			if tt.slow && os.Getenv("AGENT_LSP_TEST_SLOW") == "" {
				t.Skip("AGENT_LSP_TEST_SLOW is not set")
			}
			tt.play(t)
		})
	}
}

func (tt manner) play(t *testing.T) {
	entries := `  - calls: [{read: {path: a.txt}}]
  - calls: [{patch: {path: a.txt, diff: "` + mannersDiff + `"}}]
`
	if tt.again != "" {
		entries += fmt.Sprintf("  - {when: \"%s\", calls: [{read: {path: a.txt}}]}\n  - {when: \"1/4\", calls: [{patch: {path: a.txt, diff: \"%s\"}}]}\n", tt.says, tt.again)
		tt.says = "patched"
	} else {
		tt.end = tt.buffer
	}
	entries += fmt.Sprintf("  - {when: \"%s\", text: done}\n  - {when: \"2/1\", calls: [{read: {path: a.txt}}]}\n  - {when: \"2/2\", text: read}\n", tt.says)
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.txt"), mannersDisk)
	e := lsptest.Start(t, program(t), lsptest.Options{
		Folders: []string{dir}, Transcript: true, InitializationOptions: scripted(t, entries, map[string]any{"approvals": "edits"}),
	})
	e.Initialize()
	uri := e.Open(filepath.Join(dir, "a.txt"))
	e.Replace(uri, "two", "two typed")
	e.AnswerEdits(lsptest.EditBefore, tt.how)
	if got := prompted(t, e, "go"); got != "done" {
		t.Errorf("the agent says %q", got)
	}
	// Each reading in between shows what the editor shows.
	if got := results(t, e); tt.again != "" && (len(got) < 3 || got[2] != tt.buffer) {
		t.Errorf("the server holds %q, the editor %q", got, tt.buffer)
	}
	if got, _ := e.Text(uri); got != tt.end {
		t.Errorf("the buffer holds %q, want %q", got, tt.end)
	}
	edits := 0
	for _, m := range e.Traffic() {
		if m.Method == "workspace/applyEdit" {
			edits++
		}
	}
	if edits != tt.edits {
		t.Errorf("%d edits were sent, want %d", edits, tt.edits)
	}
	// Only what was done is undone.
	if _, err := e.Command("agent.undo", nil); err != nil {
		t.Error(err)
	}
	want := tt.buffer
	if tt.again == "" {
		want = strings.Replace(tt.buffer, "ones 😀", "one", 1)
	}
	if got, _ := e.Text(uri); got != want {
		t.Errorf("after an undo the buffer holds %q, want %q", got, want)
	}
	prompted(t, e, "what is there?")
	if got := results(t, e); got[len(got)-1] != want {
		t.Errorf("after an undo the server holds %q, want %q", got[len(got)-1], want)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != mannersDisk {
		t.Errorf("the disk holds %q, %v", got, err)
	}
	if code := e.Shutdown(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
