package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// TestAStormOverStdio types, saves, prompts, cancels, undoes, changes settings,
// sends rubbish and leaves answers out, at random, to the real server with its
// real engine, and compares every document at the end. The server then runs as many
// goroutines as before, and after its end nothing of it is left, no goroutine and no
// process. AGENT_LSP_TEST_SLOW makes it tens of thousands of steps.
func TestAStormOverStdio(t *testing.T) {
	steps := 500
	if os.Getenv("AGENT_LSP_TEST_SLOW") != "" {
		steps = 10_000
	}
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			newStorm(t, seed).run(steps)
		})
	}
}

const (
	stormFiles = 5
	stormTurns = 3_000
)

// stormScript has an answer for each turn whatever becomes of the turns before:
// reads, edits of the open files, new files, commands that run on.
func stormScript(rnd *rand.Rand) string {
	var y strings.Builder
	for turn := 1; turn <= stormTurns; turn++ {
		name := fmt.Sprintf("f%d.txt", rnd.IntN(stormFiles))
		fmt.Fprintf(&y, "  - {when: \"%d/1\", calls: [{read: {path: %s}}]}\n", turn, name)
		switch rnd.IntN(8) {
		case 0:
			fmt.Fprintf(&y, "  - {when: \"%d/2\", calls: [{exec: {argv: [sleep, \"600\"]}}]}\n", turn)
		case 1, 2:
			fmt.Fprintf(&y, "  - {when: \"%d/2\", calls: [{write: {path: new%d.txt, text: \"new\\n\"}}, {exec: {argv: [sh, -c, \"sleep 600 & true\"]}}]}\n", turn, turn)
		default:
			fmt.Fprintf(&y, "  - {when: \"%d/2\", calls: [{patch: {path: %s, diff: \"@@\\n+agent %d\\n anchor\\n\"}}, {write: {path: %s, text: \"anchor\\nwritten 😀\\n\"}}]}\n", turn, name, turn, name)
		}
		fmt.Fprintf(&y, "  - {when: \"%d/3\", text: done}\n", turn)
	}
	return y.String()
}

type storm struct {
	*lsptest.Editor
	t       *testing.T
	rnd     *rand.Rand
	dir     string
	uris    []string
	pending []*lsptest.Pending
	before  goroutines // of the server, when it had done each thing once
}

func newStorm(t *testing.T, seed uint64) *storm {
	s := &storm{t: t, rnd: rand.New(rand.NewPCG(seed, 11)), dir: t.TempDir()}
	s.Editor = lsptest.Start(t, program(t, goroutinesEnv+"=1"), lsptest.Options{
		Folders: []string{s.dir}, Transcript: true, Approvals: seed%2 == 0, VersionStep: 3,
		InitializationOptions: scripted(t, stormScript(s.rnd), map[string]any{
			"settings": "user",
			"exec":     map[string]any{"timeout": "300ms"},
			"profiles": map[string]any{"reader": map[string]any{"provider": "script", "script": scriptFile(t, reader())}},
		}),
		Settings: map[string]jsontext.Value{"agentLsp": []byte(`{"approvals":"all"}`)},
	})
	s.Initialize()
	for i := range stormFiles {
		path := filepath.Join(s.dir, fmt.Sprintf("f%d.txt", i))
		put(t, path, "one 😀\nanchor\r\nthree\n")
		s.uris = append(s.uris, s.Open(path))
	}
	if _, err := s.Command("agent.check", map[string]any{"root": s.dir}); err != nil {
		t.Fatal(err)
	}
	s.calm()
	s.before = goroutinesOf(t, s.Editor)
	return s
}

func (s *storm) run(steps int) {
	for i := range steps {
		s.step()
		switch {
		case s.Len() > 5_000:
			s.quiet() // what was said before is not looked at again
			s.Forget()
		case i%20 == 0 && len(s.pending) > 0:
			s.Barrier() // the server gets somewhere
		}
	}
	s.AnswerEdits(lsptest.EditBefore)
	s.AnswerProgress("")
	s.Release("") // the server waits for some answers longer than this test should
	s.quiet()
	s.calm()
	s.settled()
	if faults := s.faults(); len(faults) > 0 {
		s.t.Errorf("%s", strings.Join(faults, "\n"))
	}
	ended := map[string]int{}
	for _, x := range s.Events() {
		if x.Kind() == "done" || x.Kind() == "result" {
			var e struct{ Outcome, State string }
			if err := json.Unmarshal(x.Event, &e, json.MatchCaseInsensitiveNames(true)); err != nil {
				s.t.Fatal(err)
			}
			ended[x.Kind()+" "+e.Outcome+e.State]++
		}
	}
	if ended["done complete"] < steps/250 || ended["result completed"] < steps/100 {
		s.t.Errorf("the storm did little: %v", ended)
	}
	if _, err := s.Command("agent.prompt", map[string]any{"text": "storm"}); err != nil {
		s.t.Error(err) // it runs when the end comes
	}
	if code := s.Shutdown(); code != 0 {
		s.t.Errorf("exit code %d; the server's standard error:\n%s", code, s.Stderr())
	}
	endedAlone(s.t, s.Editor)
	s.alone()
}

// quiet ends what is under way.
func (s *storm) quiet() {
	s.t.Helper()
	for _, p := range s.pending {
		p.Cancel()
	}
	for _, p := range s.pending {
		_, _ = p.Wait()
	}
	s.pending = nil
	s.Barrier()
}

// stormWays are how edits are answered: first those that are settled at once, then
// those that the server waits for to land, then those without an answer.
var stormWays = []lsptest.EditAnswer{
	lsptest.EditBefore, lsptest.EditAfter, lsptest.EditStaleTrue, lsptest.EditTyped, lsptest.EditRefuse, lsptest.EditError,
	lsptest.EditHalf, lsptest.EditOther, lsptest.EditSkip, lsptest.EditTypedTrue, lsptest.EditMute, lsptest.EditNever,
}

const (
	quickWays    = 7
	answeredWays = 10
)

var stormRubbish = []string{
	`{`, `[]`, `{"jsonrpc":"2.0","method":"nobody/knows"}`, `{"jsonrpc":"2.0","id":"x","method":7}`,
	`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///nowhere"}}}`,
	`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}`, `{"jsonrpc":"2.0","id":99999999,"result":null}`,
}

func (s *storm) step() {
	uri := s.uris[s.rnd.IntN(len(s.uris))]
	switch s.rnd.IntN(30) {
	case 10:
		if s.rnd.IntN(3) == 0 {
			s.turn()
		}
	case 0:
		s.pending = append(s.pending, s.GoCommand("agent.prompt", map[string]any{"text": "storm", "wait": true}))
	case 1:
		s.pending = append(s.pending, s.GoCommand("agent.cancel", map[string]any{}))
	case 2:
		s.AnswerEdits(stormWays[s.rnd.IntN(len(stormWays))])
	case 3:
		s.SendRaw(lsptest.Frame([]byte(stormRubbish[s.rnd.IntN(len(stormRubbish))])))
	case 4:
		s.Set("agentLsp", map[string]any{"approvals": []string{"all", "ask", "edits", "read-only"}[s.rnd.IntN(4)], "turn": map[string]any{"maxRounds": 3 + s.rnd.IntN(9)}})
	case 5:
		s.Save(uri)
	case 6:
		if len(s.pending) > 0 {
			s.pending[s.rnd.IntN(len(s.pending))].Cancel()
		}
	case 7:
		s.pending = append(s.pending, s.GoCommand("agent.undo", map[string]any{}), s.GoCommand("agent.status", map[string]any{}))
	case 8:
		s.AnswerQuestions(lsptest.QuestionAnswer("once"), lsptest.QuestionAnswer("never"), lsptest.QuestionAnswer("session"))
	case 9:
		s.AnswerProgress([]lsptest.ProgressAnswer{lsptest.ProgressHold, lsptest.ProgressError, ""}[s.rnd.IntN(3)])
	default:
		s.typeInto(uri)
	}
}

// turn runs one prompt to its end while the person types. Before that, it ends
// what is under way, as turns are queued.
func (s *storm) turn() {
	s.quiet()
	ways := stormWays[:quickWays]
	if s.rnd.IntN(40) == 0 {
		ways = stormWays[:answeredWays]
	}
	s.AnswerEdits(ways[s.rnd.IntN(len(ways))])
	s.AnswerQuestions("once", "once", "deny", "dismiss", "error")
	s.AnswerProgress("")
	p := s.GoCommand("agent.prompt", map[string]any{"text": "storm", "wait": true})
	for range s.rnd.IntN(8) {
		s.typeInto(s.uris[s.rnd.IntN(len(s.uris))])
		s.Barrier()
	}
	_, _ = p.Wait()
}

// typeInto changes a document by a little, in one to three places at once, each
// relative to what the one before made of it, and shortens a long one.
func (s *storm) typeInto(uri string) {
	content, _ := s.Text(uri)
	doc := text.New(content)
	var changes []text.Change
	for range 1 + s.rnd.IntN(3) {
		r := protocol.Range{Start: doc.Position(s.rnd.IntN(doc.Len()+1), text.UTF16)}
		r.End = r.Start
		piece := []string{"x", "é😀", "\n", "line\r\n", ""}[s.rnd.IntN(5)]
		if doc.Len() > 400 {
			r, piece = doc.Range(0, doc.Len()/2, text.UTF16), "anchor\n"
		}
		changes = append(changes, text.Change{Range: &r, Text: piece})
		doc = doc.Apply(changes[len(changes)-1:], text.UTF16)
	}
	s.Change(uri, changes...)
}

// calm has the agent read every document in a session of its own, and closes all
// sessions.
func (s *storm) calm() {
	s.t.Helper()
	s.compare()
	listed, err := s.Command("agent.session.list", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var list struct {
		Sessions []struct {
			Session string `json:"session"`
			State   string `json:"state"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal(listed, &list); err != nil || len(list.Sessions) == 0 {
		s.t.Fatalf("the sessions are %s, %v", listed, err)
	}
	for _, x := range list.Sessions {
		if x.State == "stored" {
			continue
		}
		if _, err := s.Command("agent.session.close", map[string]any{"session": x.Session}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// settled holds that the server runs no more goroutines than before the storm, once
// those that only have to return have done so.
func (s *storm) settled() {
	s.t.Helper()
	var more []string
	for range 200 {
		if more = goroutinesOf(s.t, s.Editor).beyond(s.before); len(more) == 0 {
			return
		}
		s.Barrier()
	}
	s.t.Errorf("goroutines are left of the storm:\n%s", strings.Join(more, "\n\n"))
}

// reader reads every document.
func reader() string {
	var reads []string
	for i := range stormFiles {
		reads = append(reads, fmt.Sprintf("{read: {path: f%d.txt}}", i))
	}
	return "  - calls: [" + strings.Join(reads, ", ") + "]\n  - text: read\n"
}

// compare has the agent read every document, as it is the server that answers.
func (s *storm) compare() {
	s.t.Helper()
	made, err := s.Command("agent.session.new", map[string]any{"profile": "reader"})
	if err != nil {
		s.t.Fatal(err)
	}
	var session struct {
		Session string `json:"session"`
	}
	if err := json.Unmarshal(made, &session); err != nil {
		s.t.Fatal(err)
	}
	before := len(results(s.t, s.Editor))
	if _, err := s.Command("agent.prompt", map[string]any{"session": session.Session, "text": "read", "wait": true}); err != nil {
		s.t.Fatal(err)
	}
	got := results(s.t, s.Editor)[before:]
	if len(got) != stormFiles {
		s.t.Fatalf("%d documents were read", len(got))
	}
	for i, uri := range s.uris {
		if want, _ := s.Text(uri); got[i] != want && (want != "" || !strings.Contains(got[i], "empty")) {
			s.t.Errorf("%s: the server holds %q, the editor %q", uri, got[i], want)
		}
	}
}

// faults leaves out the answers to requests that have no id that can be read.
func (s *storm) faults() []string {
	var out []string
	for _, f := range s.Faults() {
		if !strings.Contains(f, "request null got") && !strings.Contains(f, `request "x" got`) {
			out = append(out, f)
		}
	}
	return out
}

// alone holds that no process runs in the workspace.
func (s *storm) alone() {
	if runtime.GOOS != "linux" {
		return
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range processes {
		if dir, err := os.Readlink(filepath.Join(p, "cwd")); err == nil && strings.HasPrefix(dir, s.dir) {
			line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
			s.t.Errorf("%s is left: %q", filepath.Base(p), line)
		}
	}
}
