package loop_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/loop"
)

// busySession has something in every part of its state.
func busySession(t *testing.T) run {
	r := begin(t, abi.Config{Model: new("m"), Prelude: new("say \"hi\"\n")})
	r.tell(turn(1, "\U0001f600 a"))
	r.tell(reply(1, new("x"), read, escaping, exec, git, use))
	r.tell(abi.Event{Git: output(5, "clean")})
	r.tell(turn(2, "b"))
	r.tell(turn(3, "c"))
	return r
}

func TestARestoredSessionGoesOnAsTheOriginal(t *testing.T) {
	original := busySession(t)
	other := original.restored()
	for _, ev := range []abi.Event{
		{Timer: true},
		turn(3, "c"),
		{File: output(2, "x")},
		{Timer: true},
		turn(4, "d"), cancel(3),
		{Tool: output(6, "x")},
		{Exec: output(4, "x")},
		reply(13, nil, read), cancel(1), reply(17, new("bye")), reply(21, nil),
		rebase(30, 9, user("x"), tool(2, "y", true)), turn(9, "never"), turn(10, "e"),
	} {
		if want, got := original.tell(ev), other.tell(ev); want != got {
			t.Fatalf("the original answers %s, the restored one %s", want, got)
		}
		if !bytes.Equal(original.Snapshot(), other.Snapshot()) {
			t.Fatal("the snapshots differ")
		}
		other = other.restored()
	}
}

func TestADamagedSnapshotIsNoSession(t *testing.T) {
	for _, state := range [][]byte{bytes.Clone(busySession(t).Snapshot()), bytes.Clone(begin(t, abi.Config{}).Snapshot())} {
		if _, err := loop.Restore(state, nil); err != nil {
			t.Fatal(err)
		}
		for cut := range state {
			checkDamaged(t, state[:cut])
		}
		for bit := range 8 * len(state) {
			state[bit/8] ^= 1 << (bit % 8)
			checkDamaged(t, state)
			state[bit/8] ^= 1 << (bit % 8)
		}
		checkDamaged(t, append(bytes.Clone(state), 0))
	}
	checkDamaged(t, nil)
}

func checkDamaged(t *testing.T, state []byte) {
	t.Helper()
	if s, err := loop.Restore(state, nil); !errors.Is(err, loop.ErrSnapshot) || s != nil {
		t.Fatalf("got %v", err)
	}
}

// TestAForgedSnapshotIsNoSession seals bodies that no session has.
func TestAForgedSnapshotIsNoSession(t *testing.T) {
	whole := busySession(t).Snapshot()
	good := string(whole[abi.SealHead : len(whole)-abi.SealTail])
	seal := func(body string) []byte {
		state := append(make([]byte, abi.SealHead), body...)
		state = append(state, make([]byte, abi.SealTail)...)
		abi.PutSeal(state)
		return state
	}
	if _, err := loop.Restore(seal(good), nil); err != nil {
		t.Fatal(err)
	}
	for _, forged := range [][2]string{
		{`{"model":"m"`, `{"model": "m"`},
		{`"last":8`, `"last":3`},
		{`"highest":3`, `"highest":2`},
		{`"turn":1,`, `"turn":0,`},
		{`"ask":0`, `"ask":2`},
		{`"family":1`, `"family":9`},
		{`"family":4`, `"family":5`},
		{`"arguments":`, `"argument":`},
		{`"id":2,"family"`, `"id":4,"family"`},
		{`{"turn":3`, `{"turn":2`},
		{`"moved":false`, `"moved":null`},
		{`{"User":"`, `{"user":"`},
		{`{"User":"`, `{"User":"\u0041`},
		{`{"Tool":{"id":5`, `{"Tool":{"ID":5`},
		{`"failed":false}}`, `"failed":false}},`},
		{`{"Read":{"path":"a.go"}}`, `{"Read":{}}`},
		{`{"Read":{"path":"a.go"}}`, `{"Read":{"path":"a\/go"}}`},
		{`"argv":["go","test"]`, `"argv":["go", "test"]`},
		{`,"text":"clean"`, ``},
		{`"calls":[{"id":2,"call"`, `"calls":[{"id": 2,"call"`},
		{`]}`, `]} `},
		{`"m"`, "\"\xff\""},
	} {
		body := strings.Replace(good, forged[0], forged[1], 1)
		if body == good {
			t.Fatalf("%s is not in %s", forged[0], good)
		}
		checkDamaged(t, seal(body))
	}
	for cut := range good {
		checkDamaged(t, seal(good[:cut]))
	}
}

func FuzzRestoreNeverPanics(f *testing.F) {
	f.Add([]byte(`{"model":null,"prelude":null,"last":0,"highest":0,"moved":false,"turn":0,"ask":0,"calls":[],"queue":[],"messages":[]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		state := append(make([]byte, abi.SealHead), body...)
		state = append(state, make([]byte, abi.SealTail)...)
		abi.PutSeal(state)
		s, err := loop.Restore(state, nil)
		if err != nil {
			return
		}
		if !bytes.Equal(state, s.Snapshot()) {
			t.Fatalf("%q was restored as %q", state, s.Snapshot())
		}
		if _, err := s.Step([]byte(`"Timer"`)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAConversationHasALimit(t *testing.T) {
	full := func(r run, ev abi.Event) (cause error) {
		encoded, err := abi.AppendEvent(nil, ev)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if p := recover(); p != nil {
				cause = fmt.Errorf("panic: %v", p)
				if err, ok := p.(error); ok {
					cause = err
				}
			}
		}()
		_, err = r.Step(encoded)
		return err
	}
	text := strings.Repeat("x", loop.Limit/2)
	r := begin(t, abi.Config{})
	r.tell(turn(1, text))
	if cause := full(r.restored(), reply(1, &text)); !errors.Is(cause, loop.ErrFull) {
		t.Fatalf("a reply over the limit: %v", cause)
	}
	if cause := full(r.restored(), turn(2, text)); !errors.Is(cause, loop.ErrFull) {
		t.Fatalf("a queued prompt over the limit: %v", cause)
	}
	if cause := full(r.restored(), turn(1, text+text)); cause != nil { // redelivered: nothing to hold
		t.Fatal(cause)
	}
	half := text[:len(text)/2]
	for id := range uint64(8) { // a cancelled prompt takes no room any more
		r.check(turn(2+id, half), save(2+3*id))
		r.check(cancel(2+id), save(3+3*id), done(4+3*id, 2+id, cancelled))
	}
	r.tell(turn(20, half))
	if cause := full(r.restored(), turn(21, half)); !errors.Is(cause, loop.ErrFull) {
		t.Fatalf("two queued prompts over the limit: %v", cause)
	}
	r.tell(cancel(20))
	r.tell(reply(1, new(text[:len(text)-1000])))
	if len(r.restored().Snapshot()) < loop.Limit-2000 {
		t.Fatal("a snapshot near the limit is short")
	}
}
