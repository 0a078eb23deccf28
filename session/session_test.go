package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// broken is a Go project whose one file does not compile.
var broken = map[string]string{
	"go.mod":  "module example.test/m\n\ngo 1.26\n",
	"main.go": "package main\n\nfunc main() {\n\tprintln(missing)\n}\n",
}

func wantTranscript(t *testing.T, r *rig, want string) {
	t.Helper()
	if d := cmp.Diff(strings.TrimLeft(want, "\n"), r.kinds()); d != "" {
		t.Errorf("transcript (-want +got):\n%s", d)
	}
}

func TestATurnReadsEditsIsCheckedAndEnds(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
  - text: Let me look.
    calls: [{read: {path: main.go}}]
  - calls: [{write: {path: main.go, text: "package main\n\nfunc main() {\n\tprintln(misspelt)\n}\n"}}]
  - calls: [{write: {path: main.go, text: "package main\n\nfunc main() {\n\tprintln(1)\n}\n"}}]
  - text: Fixed.
`)
	_, res := r.run("fix the build")
	if want := (TurnResult{Outcome: "complete", Text: "Fixed."}); res != want {
		t.Errorf("turn ended %+v, want %+v", res, want)
	}
	if got := r.read("main.go"); !strings.Contains(got, "println(1)") {
		t.Errorf("main.go was not fixed:\n%s", got)
	}
	var outcomes, told []string
	for _, p := range r.events {
		switch e := p.(type) {
		case *event.Check:
			outcomes = append(outcomes, e.Outcome)
		case *event.Result:
			if e.Edit != nil {
				told = append(told, e.Text)
			}
		}
	}
	if d := cmp.Diff([]string{"found", "clean"}, outcomes); d != "" {
		t.Errorf("checks (-want +got):\n%s", d)
	}
	if len(told) != 2 || !strings.Contains(told[0], "undefined: misspelt") || strings.Contains(told[1], "undefined") {
		t.Errorf("the model was told %q", told)
	}
}

func TestACallOutsideTheWorkspaceNeverBecomesAnAction(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
  - calls: [{read: {path: ../secret}}, {read: {path: go.mod}}]
  - calls: [{exec: {argv: [ls], cwd: /etc}}]
  - text: I cannot.
`)
	r.run("look around")
	wantTranscript(t, r, `
user look around
ask 1.1
message -, 2 calls
call 2 read
call 3 read
result 2 failed: refused: ../secret is not inside the workspace
result 3 completed: module example.test/m
ask 4.1
message -, 1 calls
call 5 exec
result 5 failed: refused: /etc is not inside the workspace
ask 6.1
message I cannot., 0 calls
emit I cannot.
done complete
`)
}

func TestAModelsBrokenCallIsAnsweredWithinTheAsk(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
  - calls:
      - raw: {id: a, name: no_such_tool, arguments: "{}"}
      - raw: {id: b, name: read, arguments: '{"path":"go.mod"}'}
  - text: Sorry.
`)
	_, res := r.run("go")
	if res.Outcome != "complete" {
		t.Errorf("turn ended %+v", res)
	}
	kinds := r.kinds()
	for _, want := range []string{"ask 1.1", "call 0 no_such_tool", "result 0 failed: ", "ask 1.2", "message Sorry., 0 calls"} {
		if !strings.Contains(kinds, want) {
			t.Errorf("the transcript has no %q:\n%s", want, kinds)
		}
	}
}

func TestAModelThatOnlySendsBrokenCallsFailsTheTurn(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
`+strings.Repeat("  - calls: [{raw: {id: a, name: nope, arguments: \"{\"}}]\n", 4)+`
  - text: Back again.
`)
	_, res := r.run("go")
	if res.Outcome != "failed" || !strings.Contains(res.Text, "4 times in a row") {
		t.Errorf("turn ended %+v", res)
	}
	if _, res := r.run("again"); res.Outcome != "complete" {
		t.Errorf("the next prompt ended %+v", res)
	}
}

func TestAFailedModelCallEndsTheTurnAndTheNextPromptWorks(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
  - fail: {kind: error, error: bad_request, message: no such model}
  - fail: {kind: timeout}
  - text: Here I am.
`)
	for _, want := range []string{"no such model", "timeout"} {
		if _, res := r.run("hello"); res.Outcome != "failed" || !strings.Contains(res.Text, want) {
			t.Errorf("turn ended %+v, want a failure with %q", res, want)
		}
	}
	if _, res := r.run("hello"); res.Text != "Here I am." {
		t.Errorf("the next prompt ended %+v", res)
	}
}

func TestARefusedQuestionIsAnsweredToTheModel(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
  - calls: [{exec: {argv: [touch, made]}}, {read: {path: go.mod}}]
  - text: All right.
`)
	r.answer = func(context.Context, Question) Answer { return Answer{Decision: Deny, Reason: "not now"} }
	_, res := r.run("go")
	if res.Outcome != "complete" {
		t.Errorf("turn ended %+v", res)
	}
	if !strings.Contains(r.kinds(), "result 2 rejected: rejected: not now\nresult 3 completed: module") {
		t.Errorf("transcript:\n%s", r.kinds())
	}
	if len(r.asked) != 1 || !strings.Contains(r.asked[0].Detail, "touch made") {
		t.Errorf("asked %+v", r.asked)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "made")); err == nil {
		t.Error("the refused command was run")
	}
}

func TestCancelStopsAHangingModelAndARunningCommand(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
  - {when: "1/1", fail: {kind: hang}}
  - {when: "2/1", calls: [{exec: {argv: [sleep, "60"]}}]}
  - {when: "3/1", text: Free again.}
`)
	asked := r.next(event.KindAsk)
	id, turn, err := r.Prompt(t.Context(), Prompt{Root: r.dir, Text: "hang"})
	if err != nil {
		t.Fatal(err)
	}
	r.await(asked, "the ask")
	if ok, err := r.Cancel(t.Context(), &id, nil); !ok || err != nil {
		t.Errorf("cancel answered %v, %v", ok, err)
	}
	if res := r.result(id, turn); res.Outcome != "cancelled" {
		t.Errorf("turn ended %+v", res)
	}
	answered := r.next(event.KindApproval)
	id, turn, err = r.Prompt(t.Context(), Prompt{Root: r.dir, Text: "sleep"})
	if err != nil {
		t.Fatal(err)
	}
	r.await(answered, "the approval")
	if ok, err := r.Cancel(t.Context(), nil, &turn); !ok || err != nil {
		t.Errorf("cancel answered %v, %v", ok, err)
	}
	if res := r.result(id, turn); res.Outcome != "cancelled" {
		t.Errorf("turn ended %+v", res)
	}
	if ok, err := r.Cancel(t.Context(), &id, nil); ok || err != nil {
		t.Errorf("a cancel with nothing under way answered %v, %v", ok, err)
	}
	if _, res := r.run("hello"); res.Text != "Free again." {
		t.Errorf("the next prompt ended %+v", res)
	}
}

func TestTurnsAreQueuedAndAQueuedOneCanBeCancelled(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
  - {when: "1/1", calls: [{exec: {argv: [cat, go.mod]}}]}
  - {when: "1/2", text: one}
  - {when: "3/1", text: three}
`)
	release := make(chan struct{})
	r.answer = func(context.Context, Question) Answer {
		<-release
		return Answer{Decision: AllowOnce}
	}
	asked := r.next(event.KindApproval)
	id := mustPrompt(t, r, "first")
	r.await(asked, "the question")
	mustPrompt(t, r, "second")
	mustPrompt(t, r, "third")
	if ok, err := r.Cancel(t.Context(), &id, new(uint64(2))); !ok || err != nil {
		t.Errorf("cancel of the queued turn answered %v, %v", ok, err)
	}
	close(release)
	for turn, want := range map[uint64]TurnResult{1: {"complete", "one"}, 2: {"cancelled", "cancelled by the user"}, 3: {"complete", "three"}} {
		if got := r.result(id, turn); got != want {
			t.Errorf("turn %d ended %+v, want %+v", turn, got, want)
		}
	}
}

func TestATurnThatRepeatsItselfIsStopped(t *testing.T) {
	for name, call := range map[string]string{
		"success":       `{read: {path: go.mod}}`,
		"failure":       `{read: {path: missing.go}}`,
		"a write":       `{write: {path: same.txt, text: "same\n"}}`,
		"a bad patch":   `{patch: {path: go.mod, diff: "@@ -1 +1 @@\n-not there\n+nor this\n"}}`,
		"a command":     `{exec: {argv: [cat, go.mod]}}`,
		"only refused":  `{read: {path: ../out}}`,
		"a refused one": `{read: {path: ../out}}, {read: {path: go.mod}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, broken, "version: 1\nentries:\n"+strings.Repeat("  - calls: ["+call+"]\n", 12))
			_, res := r.run("loop")
			if res.Outcome != "cancelled" || !strings.Contains(res.Text, "3 times in a row") {
				t.Errorf("turn ended %+v", res)
			}
			if n := strings.Count(r.kinds(), "\nmessage "); n > 4 || n < 3 {
				t.Errorf("the model answered %d times before it was stopped", n)
			}
			if !strings.HasSuffix(r.kinds(), "done cancelled\n") || !strings.Contains(r.kinds(), "\nnote stopped") {
				t.Errorf("it did not end with a reason:\n%s", r.kinds())
			}
		})
	}
	t.Run("rejections do not count", func(t *testing.T) {
		r := start(t, broken, "version: 1\nentries:\n"+strings.Repeat("  - calls: [{exec: {argv: [ls]}}]\n", 4)+"  - text: done\n")
		r.answer = func(context.Context, Question) Answer { return Answer{Decision: Deny} }
		if _, res := r.run("loop"); res.Text != "done" {
			t.Errorf("turn ended %+v", res)
		}
	})
}

func TestRoundsAreBounded(t *testing.T) {
	var entries strings.Builder
	for i := range 6 {
		entries.WriteString("  - calls: [{read: {path: f" + string(rune('a'+i)) + "}}]\n")
	}
	r := start(t, broken, "version: 1\nentries:\n"+entries.String())
	s := r.cfg.Settings
	s.MaxRounds = 4
	r.Configure(s)
	if _, res := r.run("dig"); !strings.Contains(res.Text, "4 model rounds") {
		t.Errorf("turn ended %+v", res)
	}
}

func TestPromptsThatDoNotFitAreRefused(t *testing.T) {
	r := start(t, broken, "version: 1\nentries: [{text: hi}]\n")
	for _, text := range []string{" \n", strings.Repeat("x", 24<<20)} {
		_, _, err := r.Prompt(t.Context(), Prompt{Root: r.dir, Text: text})
		if arg, ok := errors.AsType[*ArgumentError](err); !ok || arg.Member != "text" {
			t.Errorf("a prompt of %d bytes answered %v", len(text), err)
		}
	}
	if _, res := r.run("hello"); res.Text != "hi" {
		t.Errorf("the next prompt ended %+v", res)
	}
}

func TestScriptedSessionsAreByteIdentical(t *testing.T) {
	const answers = `
version: 1
entries:
  - {text: Reading., calls: [{read: {path: main.go}}, {read: {path: go.mod}}, {read: {path: nope}}], latency: 2s, usage: {input: 10, output: 3}}
  - calls: [{write: {path: main.go, text: "package main\n\nfunc main() {}\n"}}, {exec: {argv: [cat, main.go]}}]
  - {text: Fixed., reasoning: It was easy., latency: 1s}
`
	var first []Entry
	for range 3 {
		r := start(t, broken, answers)
		id, _ := r.run("fix it")
		events, head, err := r.Transcript(t.Context(), id, nil)
		if err != nil || head != uint64(len(events)) || head == 0 {
			t.Fatalf("transcript: %d events, head %d, %v", len(events), head, err)
		}
		for i, e := range events {
			if e.Index != uint64(i) {
				t.Errorf("event %d has index %d", i, e.Index)
			}
		}
		if first == nil {
			first = events
		} else if d := cmp.Diff(first, events); d != "" {
			t.Errorf("two runs differ:\n%s", d)
		}
	}
}

func mustPrompt(t *testing.T, r *rig, text string) uuid.UUID {
	t.Helper()
	id, _, err := r.Prompt(t.Context(), Prompt{Root: r.dir, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return id
}
