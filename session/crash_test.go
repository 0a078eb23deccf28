package session

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// The crash matrix runs one scripted session in child processes that kill
// themselves at a chosen write of the journal, and resumes each in a new one.

const (
	crashDir    = "AGENT_LSP_TEST_CRASH_DIR"
	crashAt     = "AGENT_LSP_TEST_CRASH_AT"     // die at this append, from 1; 0 never
	crashAfter  = "AGENT_LSP_TEST_CRASH_AFTER"  // die after the append instead of before it
	crashResume = "AGENT_LSP_TEST_CRASH_RESUME" // resume instead of starting
)

// crashScript has reads, writes, a patch, execs with a counted effect, and a
// model failure in it.
const crashScript = `
version: 1
entries:
  - {when: "1/1", text: Looking., calls: [{read: {path: a.txt}}, {read: {path: b.txt}}, {read: {path: ../out}}]}
  - {when: "1/2", calls: [{write: {path: a.txt, text: "one\nTWO\nthree\n"}}, {exec: {argv: [sh, -c, "echo first >> effects"]}}, {write: {path: new.txt, text: "new\n"}}]}
  - when: "1/3"
    calls:
      - patch: {path: a.txt, diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-TWO\n+2\n three\n"}
      - raw: {id: x, name: read, arguments: '{"path": 7}'}
  - when: "1/3"
    calls:
      - patch: {path: a.txt, diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-TWO\n+2\n three\n"}
      - exec: {argv: [sh, -c, "echo second >> effects"]}
  - {when: "1/4", text: Done with the first.}
  - {when: "2/1", fail: {kind: error, error: bad_request, message: the model is out}}
  - {when: "3/1", calls: [{exec: {argv: [sh, -c, "echo third >> effects"]}}]}
  - {when: "3/2", text: All done.}
`

var crashPrompts = []string{"first", "second", "third"}

// killingStore dies at its nth append, and says of each what it writes.
type killingStore struct {
	store.Store
	left  int
	after bool
}

func (k *killingStore) AppendAll(ctx context.Context, id uuid.UUID, at time.Time, ps []store.Payload) (uint64, error) {
	k.left--
	if k.left == 0 && !k.after {
		die()
	}
	fmt.Println("WRITE " + sort(ps))
	first, err := k.Store.AppendAll(ctx, id, at, ps)
	if k.left == 0 {
		die()
	}
	return first, err
}

// sort tells by its first event which sort of write one is: two of a sort are the
// same thing at two places of the session.
func sort(ps []store.Payload) string {
	p, err := event.Decode(ps[0].Data)
	if err != nil {
		panic(err)
	}
	switch p := p.(type) {
	case *event.Result:
		return fmt.Sprintf("result, edit: %v, effect: %v", p.Edit != nil, strings.HasPrefix(p.Text, "exit code"))
	case *event.Approval:
		return "approval " + p.State
	}
	return string(p.Kind())
}

// die ends the process as a kill does: nothing deferred runs.
func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		fmt.Println("DYING")
		self.Kill()
	}
	select {}
}

// TestCrashChild is the child of the matrix: it does nothing in a plain run.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return
	}
	st, err := store.Open(t.Context(), filepath.Join(dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at, err := strconv.Atoi(os.Getenv(crashAt))
	if err != nil {
		t.Fatal(err)
	}
	r := over(t, filepath.Join(dir, "work"), &killingStore{st, at, os.Getenv(crashAfter) != ""}, crashScript)
	r.Shutdown()
	r.cfg.LeaseTTL = 200 * time.Millisecond
	r.Manager = NewManager(r.cfg, r)
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte("session 1"))
	turns := 0
	if os.Getenv(crashResume) != "" {
		if _, err := r.Resume(t.Context(), id); err != nil {
			t.Fatalf("resume: %v", err)
		}
		s, _ := r.session(id)
		turns = int(s.nextTurn)
		if turns > 0 {
			r.result(id, uint64(turns))
		}
	}
	for _, text := range crashPrompts[turns:] {
		r.run(text)
	}
	fmt.Println("FOLDED " + folded(t, st, id))
}

// folded is the session's history without the indices, which differ where
// something was told about an interruption.
func folded(t *testing.T, st store.Store, id uuid.UUID) string {
	h, err := history.Fold(st.Transcript(t.Context(), id, nil))
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Messages {
		h.Messages[i].ID = 0
	}
	text, err := json.Marshal(h.Messages)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// crashChild runs a child over dir and returns what it folded to; false when it
// was killed.
func crashChild(t *testing.T, dir string, at int, after, resume bool) (string, bool) {
	t.Helper()
	text, _, ok := crashRun(t, dir, at, after, resume)
	return text, ok
}

// crashRun is crashChild that also returns the sort of each write.
func crashRun(t *testing.T, dir string, at int, after, resume bool) (folded string, writes []string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashChild$", "-test.v")
	cmd.Env = append(os.Environ(), crashDir+"="+dir, crashAt+"="+strconv.Itoa(at))
	if after {
		cmd.Env = append(cmd.Env, crashAfter+"=1")
	}
	if resume {
		cmd.Env = append(cmd.Env, crashResume+"=1")
	}
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if sort, ok := strings.CutPrefix(line, "WRITE "); ok {
			writes = append(writes, strings.TrimSpace(sort))
		}
		if text, ok := strings.CutPrefix(line, "FOLDED "); ok && err == nil {
			return strings.TrimSpace(text), writes, true
		}
	}
	if err != nil && strings.HasSuffix(string(out), "DYING\n") {
		return "", writes, false
	}
	t.Fatalf("the child ended without an answer: %v\n%s", err, out)
	return "", nil, false
}

func crashSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestASessionSurvivesAKillAtEveryWrite is the matrix. The plain suite takes one
// write of each sort; AGENT_LSP_TEST_SLOW takes them all.
func TestASessionSurvivesAKillAtEveryWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some dozens of processes")
	}
	whole, writes, ok := crashRun(t, crashSite(t), 0, false, false)
	if !ok || len(writes) < 20 {
		t.Fatalf("the uninterrupted session was killed, or wrote only %d times", len(writes))
	}
	taken := map[string]bool{"check": true, "approval asked": true} // behind which nothing happens at once
	for i, sort := range writes {
		if taken[sort] && os.Getenv("AGENT_LSP_TEST_SLOW") == "" {
			continue
		}
		taken[sort] = true
		for _, after := range []bool{false, true} {
			crash(t, i+1, after, sort, whole)
		}
	}
}

// crash kills a session at one write and resumes it.
func crash(t *testing.T, at int, after bool, sort, whole string) {
	t.Helper()
	where, again := fmt.Sprintf("killed at write %d (after: %v), %s", at, after, sort), 0
	dir := crashSite(t)
	if _, finished := crashChild(t, dir, at, after, false); finished {
		t.Errorf("%s: the session was not killed", where)
		return
	}
	if after { // the process that resumes is killed, too, at one of its first writes
		again = 1 + at%3
		where += fmt.Sprintf(", and at write %d after the resume", again)
	}
	resumed, ok := crashChild(t, dir, again, false, true)
	if !ok && after {
		resumed, ok = crashChild(t, dir, 0, false, true)
	}
	if !ok {
		t.Fatalf("%s: the resumed session was killed", where)
	}
	compareHistories(t, where, whole, resumed)
	effects(t, where, dir)
}

// compareHistories allows a difference only in results marked interrupted.
func compareHistories(t *testing.T, where, whole, resumed string) {
	t.Helper()
	var want, got []history.Message
	if err := json.Unmarshal([]byte(whole), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(resumed), &got); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		for j := range got[i].Calls {
			c := &got[i].Calls[j]
			if c.Result != nil && (*c.Result == interruptedText || *c.Result == notBegunText) && i < len(want) && j < len(want[i].Calls) {
				*c = want[i].Calls[j]
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: history (-uninterrupted +resumed):\n%s", where, d)
	}
}

// effects holds that no command ran twice.
func effects(t *testing.T, where, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "work", "effects"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if seen[line] {
			t.Errorf("%s: the effect %q happened twice", where, strings.TrimSpace(line))
		}
		seen[line] = true
	}
}
