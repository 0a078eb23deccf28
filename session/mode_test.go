package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/google/uuid"
)

// gate is a tool whose calls do what a test wants done in the middle of a turn, and
// return the text that this has.
type gate struct{ pass func() string }

func (gate) Definition() tools.Definition {
	return tools.Define[struct{}]("gate", "", tools.Read)
}

func (gate) Decide(context.Context, tools.Call) tools.Decision {
	return tools.Decision{Verdict: tools.Allow, Title: "Pass", Effect: tools.Read}
}

func (g gate) Run(context.Context, tools.Call) tools.Outcome {
	return tools.Outcome{State: tools.Completed, Text: g.pass()}
}

// gated makes the rig's sessions have a gate.
func (r *rig) gated(pass func() string) {
	r.Shutdown()
	r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
		return tools.New(tools.Config{Workspace: ws, Tools: []tools.Tool{gate{pass}}})
	}
	r.Manager = NewManager(r.cfg, r)
}

// TestASwitchedModeHoldsForTheNextCall switches the mode in the middle of a turn, a
// hundred times, between calls of one reply and of several: the next write goes by it.
func TestASwitchedModeHoldsForTheNextCall(t *testing.T) {
	const n = 100
	var answers strings.Builder
	for i := range n {
		if i%4 == 0 {
			answers.WriteString("  - calls:\n")
		}
		fmt.Fprintf(&answers, "      - gate: {}\n      - write: {path: f%d, text: x}\n", i)
	}
	r := start(t, nil, "version: 1\nentries:\n"+answers.String()+"  - text: Done.\n")
	passed := 0
	var id uuid.UUID
	var modes []tools.Mode
	random := rand.New(rand.NewPCG(1, 2))
	r.gated(func() string {
		mode := []tools.Mode{tools.ModePlan, tools.ModeEdits, tools.ModeAll, tools.ModeAsk}[random.IntN(4)]
		if _, now, err := r.Mode(t.Context(), ModeRequest{Session: &id, Mode: string(mode)}); err != nil || now != string(mode) {
			t.Errorf("switch %d to %s: %s, %v", passed, mode, now, err)
		}
		modes = append(modes, mode)
		passed++
		return fmt.Sprint("switch ", passed)
	})
	r.answer = func(context.Context, Question) Answer { return Answer{Decision: Deny} }
	id = made(r.New(t.Context(), NewSession{Root: r.dir}))
	if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "go"}))); res.Text != "Done." {
		t.Fatalf("turn ended %+v", res)
	}
	asked := 0
	for i, mode := range modes {
		_, err := os.Stat(filepath.Join(r.dir, fmt.Sprint("f", i)))
		if written := err == nil; written != (mode == tools.ModeEdits || mode == tools.ModeAll) {
			t.Errorf("call %d in the mode %s: written is %v", i, mode, written)
		}
		if mode == tools.ModeAsk {
			asked++
		}
	}
	if len(modes) != n || len(r.asked) != asked {
		t.Errorf("%d switches, %d questions; want %d and %d", len(modes), len(r.asked), n, asked)
	}
}

// TestTheModelIsToldOfTheMode compares what the requests of a turn say of the mode,
// at their end, while the mode is switched between them: what is before stays, byte
// for byte, and only the mode plan offers the tool plan.
func TestTheModelIsToldOfTheMode(t *testing.T) {
	modes := []tools.Mode{tools.ModeAsk, tools.ModePlan, tools.ModeEdits, tools.ModeAll, tools.ModeAsk}
	r := start(t, nil, "version: 1\nentries: []\n")
	at := 0
	var id uuid.UUID
	r.gated(func() string {
		at++
		if _, _, err := r.Mode(t.Context(), ModeRequest{Session: &id, Mode: string(modes[at])}); err != nil {
			t.Error(err)
		}
		return fmt.Sprint("switch ", at)
	})
	r.Shutdown()
	var heard *listening
	inner := providers(t, map[string]string{"demo": strings.Repeat("{calls: [{gate: {}}]}, ", len(modes)-1) + "{text: Done.}"})
	r.cfg.Provider = func(ctx context.Context, p model.Profile, env ProviderEnv) (model.Model, error) {
		m, err := inner(ctx, p, env)
		heard = &listening{Model: m}
		return heard, err
	}
	r.Manager = NewManager(r.cfg, r)
	id = made(r.New(t.Context(), NewSession{Root: r.dir}))
	if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "go"}))); res.Text != "Done." {
		t.Fatalf("turn ended %+v", res)
	}
	for i, req := range heard.requests {
		last := req.Messages[len(req.Messages)-1]
		told := bytes.Contains(last, []byte("The session is in the mode "+string(modes[i])))
		if want := i > 0; told != want { // the default mode is not told
			t.Errorf("request %d, in the mode %s, ends with %s", i, modes[i], last)
		}
		offered := bytes.Contains(bytes.Join(bytesOf(req.Tools), nil), []byte(`"name":"plan"`))
		if offered != (modes[i] == tools.ModePlan) {
			t.Errorf("request %d, in the mode %s: the tool plan is offered: %v", i, modes[i], offered)
		}
		if i == 0 {
			continue
		}
		before := heard.requests[i-1].Messages
		if i > 1 {
			before = before[:len(before)-1]
		}
		for j := range before {
			if !bytes.Equal(before[j], req.Messages[j]) {
				t.Errorf("request %d: message %d changed from\n%s to\n%s", i, j, before[j], req.Messages[j])
			}
		}
	}
}

// TestAModeAndAPlanSurvive resumes a session in another process.
func TestAModeAndAPlanSurvive(t *testing.T) {
	r := start(t, nil, "version: 1\nentries:\n  - calls: [{plan: {text: 1. do it}}]\n  - text: My plan.\n  - calls: [{write: {path: f, text: x}}]\n  - text: Done.\n")
	id := made(r.New(t.Context(), NewSession{Root: r.dir}))
	for _, mode := range []string{"edits", "plan"} {
		if _, _, err := r.Mode(t.Context(), ModeRequest{Session: &id, Mode: mode}); err != nil {
			t.Fatal(err)
		}
	}
	if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "go"}))); res.Text != "My plan." {
		t.Fatalf("turn ended %+v", res)
	}
	r.Shutdown()
	r.Manager = NewManager(r.cfg, r)
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, mode, err := r.Mode(t.Context(), ModeRequest{Session: &id}); err != nil || mode != "plan" {
		t.Errorf("the mode is %s, %v", mode, err)
	}
	_, turn, err := r.AcceptPlan(t.Context(), AcceptRequest{Session: &id})
	if err != nil {
		t.Fatal(err)
	}
	if res := r.result(id, turn); res.Text != "Done." || r.read("f") != "x" || len(r.asked) > 0 {
		t.Errorf("turn ended %+v; asked %v", res, r.asked)
	}
	if !strings.Contains(r.kinds(), "user Carry out this plan:\n\n1. do it") {
		t.Errorf("the transcript:\n%s", r.kinds())
	}
	var bad *ArgumentError
	if _, _, err := r.AcceptPlan(t.Context(), AcceptRequest{Session: &id}); !errors.As(err, &bad) || bad.Member != "session" {
		t.Errorf("accepted twice: %v", err)
	}
}

// TestNoModeIsWidenedByItself resumes a session whose mode this system does not
// offer, and has a model call what only another mode has.
func TestNoModeIsWidenedByItself(t *testing.T) {
	r := start(t, nil, "version: 1\nentries:\n  - calls: [{raw: {id: x, name: plan, arguments: '{\"text\": \"1. do it\"}'}}]\n  - text: Done.\n")
	id, res := r.run("go")
	if res.Text != "Done." || !strings.Contains(r.kinds(), `there is no tool "plan"`) {
		t.Errorf("turn ended %+v:\n%s", res, r.kinds())
	}
	var bad *ArgumentError
	if _, _, err := r.Mode(t.Context(), ModeRequest{Session: &id, Mode: "auto"}); !errors.As(err, &bad) || !strings.Contains(bad.Text, "is not offered here") {
		t.Errorf("auto where nothing confines: %v", err)
	}
	s := made(r.session(id))
	if _, err := s.journal.record(t.Context(), &event.Mode{Mode: "auto", Before: "ask"}); err != nil {
		t.Fatal(err)
	}
	r.Shutdown()
	r.Manager = NewManager(r.cfg, r)
	if _, err := r.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, mode, err := r.Mode(t.Context(), ModeRequest{Session: &id}); err != nil || mode != "ask" {
		t.Errorf("the mode is %s, %v", mode, err)
	}
}

func made[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
