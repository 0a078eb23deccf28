package loop_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/loop"
)

func rebase(next, turn uint64, messages ...abi.Message) abi.Event {
	return abi.Event{Rebase: &abi.Rebase{NextID: next, Turn: turn, Messages: messages}}
}

func TestARebaseReplacesTheConversationBetweenTurns(t *testing.T) {
	r := begin(t, abi.Config{})
	r.check(rebase(1, 0), save(1)) // also at the very beginning
	r.check(turn(1, "a"), ask(2, user("a")))
	during := bytes.Clone(r.Snapshot())
	r.check(rebase(100, 100, user("never"))) // a turn runs
	if !bytes.Equal(during, r.Snapshot()) {
		t.Fatal("a rebase during a turn changed the session")
	}
	r.check(turn(2, "b"), save(3))
	r.check(rebase(100, 100, user("never"))) // and another is queued
	r.check(cancel(2), save(4), done(5, 2, cancelled))
	r.check(reply(2, new("A")), emit(6, "A"), save(7), done(8, 1, complete))
	before := bytes.Clone(r.Snapshot())
	for _, back := range []abi.Event{rebase(0, 2), rebase(8, 2), rebase(9, 1), rebase(9, 0), rebase(0, 0), rebase(8, 100)} {
		r.check(back)
	}
	if !bytes.Equal(before, r.Snapshot()) {
		t.Fatal("a rebase that goes back changed the session")
	}
	kept := []abi.Message{user("summary"), agent(nil, dispatched(40, use), dispatched(41, escaping)), tool(40, "x", false), tool(41, "y", true)}
	r.check(rebase(9, 7, kept...), save(9))
	r.check(rebase(9, 7, user("again"))) // delivered twice
	r.check(abi.Event{Timer: true})      // it was saved
	r.check(abi.Event{Tool: output(40, "late")})
	r = r.restored()
	r.check(turn(7, "seen"))
	r.check(turn(8, "b"), ask(10, append(kept, user("b"))...))
	r.check(reply(10, nil), save(11), done(12, 8, complete))
	r.check(rebase(50, 8), save(50))
	r.check(turn(9, "c"), ask(51, user("c")))
}

func TestARebaseMakesRoom(t *testing.T) {
	half := strings.Repeat("x", loop.Limit/2)
	r := begin(t, abi.Config{})
	for n := range uint64(5) {
		r.tell(turn(n+1, half))
		r.tell(reply(1+5*n, new("y")))
		r.check(rebase(5+5*n, n+1, user("short")), save(5+5*n))
	}
	if len(r.Snapshot()) > 1000 {
		t.Fatalf("a snapshot of %d bytes after the conversation was replaced", len(r.Snapshot()))
	}
}
