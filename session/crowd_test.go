package session

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// TestManySessionsRunSideBySideAndStayApart has all of them in the middle of a
// turn at once.
func TestManySessionsRunSideBySideAndStayApart(t *testing.T) {
	const sessions = 32
	r := start(t, map[string]string{"a.txt": "a\n"}, `
version: 1
entries:
  - {text: Looking., calls: [{read: {path: a.txt}}, {exec: {argv: [cat, a.txt]}}, {read: {path: ../out}}]}
  - text: First.
  - calls: [{read: {path: a.txt}}]
  - text: Second.
`)
	var all sync.WaitGroup // ends when every session waits for its approval
	all.Add(sessions)
	waits := sync.OnceValue(func() <-chan struct{} {
		c := make(chan struct{})
		go func() { all.Wait(); close(c) }()
		return c
	})
	r.answer = func(ctx context.Context, _ Question) Answer {
		all.Done()
		select {
		case <-waits():
		case <-ctx.Done():
		}
		return Answer{Decision: AllowOnce}
	}
	type talk struct {
		id    uuid.UUID
		first uint64
	}
	talks := make([]talk, sessions)
	var wg sync.WaitGroup
	for i := range talks {
		wg.Go(func() {
			id, err := r.New(t.Context(), NewSession{Root: r.dir, Title: fmt.Sprint("session ", i)})
			if err != nil {
				t.Error(err)
				return
			}
			talks[i].id = id
			for turn, want := range []string{"First.", "Second."} {
				_, n, err := r.Prompt(t.Context(), Prompt{Session: &id, Text: "go"})
				if err != nil {
					t.Error(err)
					return
				}
				res, err := r.Wait(t.Context(), id, n)
				if err != nil || n != uint64(turn+1) || res.Text != want {
					t.Errorf("session %d: turn %d ended %+v, %v", i, n, res, err)
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	want := transcriptOf(t, r, talks[0].id)
	if !strings.Contains(want, `"text":"Second."`) {
		t.Fatalf("the transcript is\n%s", want)
	}
	for _, k := range talks[1:] {
		if d := cmp.Diff(want, transcriptOf(t, r, k.id)); d != "" {
			t.Errorf("two sessions of one script differ:\n%s", d)
		}
	}
}

// transcriptOf is a session's stored events, one a line.
func transcriptOf(t *testing.T, r *rig, id uuid.UUID) string {
	t.Helper()
	var b strings.Builder
	for e, err := range r.store.Transcript(t.Context(), id, nil) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d %s %s\n", e.Index, e.At.Format("15:04:05.000000"), e.Payload.Data)
	}
	return b.String()
}

// TestShutdownLeavesNothingRunning suspends sessions in every state.
func TestShutdownLeavesNothingRunning(t *testing.T) {
	r := start(t, broken, `
version: 1
entries:
  - {when: idle, text: Done.}
  - {when: hang, fail: {kind: hang}}
  - {when: sleep, calls: [{exec: {argv: [sleep, "600"]}}]}
  - {when: ask, calls: [{exec: {argv: [ls]}}]}
`)
	r.answer = func(ctx context.Context, q Question) Answer {
		if strings.Contains(q.Detail, "sleep") {
			return Answer{Decision: AllowOnce}
		}
		<-ctx.Done()
		return Answer{Decision: Deny}
	}
	begun := func(kind event.Kind, n int, text string) {
		t.Helper()
		id, err := r.New(t.Context(), NewSession{Root: r.dir})
		if err != nil {
			t.Fatal(err)
		}
		next := r.next(kind)
		must(r.Prompt(t.Context(), Prompt{Session: &id, Text: text}))
		must(r.Prompt(t.Context(), Prompt{Session: &id, Text: "queued"}))
		for range n {
			r.await(next, text)
			next = r.next(kind)
		}
	}
	begun(event.KindDone, 1, "idle")
	begun(event.KindAsk, 1, "hang")
	begun(event.KindApproval, 1, "sleep")
	begun(event.KindApproval, 1, "ask")
	r.Shutdown()
	for _, g := range running(t, "session.(*Session)", "session.(*Manager)", "session.(*mailbox)") {
		t.Errorf("still running:\n%s", g)
	}
	// What followed a program takes an instant to be gone after it said that it is done.
	left := running(t, "tools/proc.(")
	for i := 0; i < 1000 && len(left) > 0; i++ {
		runtime.Gosched()
		left = running(t, "tools/proc.(")
	}
	for _, g := range left {
		t.Errorf("still running:\n%s", g)
	}
}

// running lists the goroutines that are in one of the places, but for the tests' own.
func running(t *testing.T, places ...string) []string {
	t.Helper()
	var stacks bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, g := range strings.Split(stacks.String(), "\n\n") {
		for _, place := range places {
			if strings.Contains(g, place) && !strings.Contains(g, "testing.tRunner") {
				out = append(out, g)
				break
			}
		}
	}
	return out
}
