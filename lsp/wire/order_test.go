package wire_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// pairs is how many changes the order is tried with.
func pairs() int {
	if raceEnabled {
		return 4000
	}
	return 20000
}

func TestRequestsSeeEveryChangeBeforeThem(t *testing.T) {
	e, s, _ := ready(t, lsptest.Options{})
	n := pairs()
	asked := make([]*lsptest.Pending, n)
	for i := range n {
		e.Notify("textDocument/didChange", jsontext.Value(fmt.Sprintf(`{"textDocument":{"uri":"file:///x","version":%d},"contentChanges":[{"text":"x"}]}`, i+1)))
		asked[i] = e.Go("test/seen", nil)
	}
	wrong := 0
	for i, p := range asked {
		if got, err := p.Wait(); err != nil {
			if i < 4096 || err.Code != int(wire.CodeRequestFailed) {
				t.Fatal(err)
			}
		} else if string(got) != fmt.Sprint(i+1) {
			wrong++
		}
	}
	if wrong > 0 || s.wrong.Load() > 0 {
		t.Errorf("%d of %d requests saw another state, %d changes came out of order", wrong, n, s.wrong.Load())
	}
	e.Shutdown()
}

func TestCancelGivesExactlyOneResponse(t *testing.T) {
	e, s, _ := ready(t, lsptest.Options{})
	cancelled := 0
	for i := range 1000 {
		method := []string{"test/echo", "test/block"}[i%2]
		p := e.Go(method, nil)
		p.Cancel()
		if i%3 == 0 {
			p.Cancel()
		}
		_, err := p.Wait()
		switch {
		case err == nil && method == "test/block":
			t.Fatal("a blocked request came to an end without its cancel")
		case err != nil && err.Code != -32800:
			t.Fatalf("%s gave %v", method, err)
		case err != nil:
			cancelled++
		}
		p.Cancel()
	}
	e.Notify("$/cancelRequest", `{"id":"1"}`)
	e.Barrier()
	for i := range 1000 {
		if n := e.Responses(fmt.Sprint(i + 2)); n != 1 && i < 1000 {
			t.Fatalf("request %d got %d responses", i+2, n)
		}
	}
	if cancelled < 500 || s.running.Load() != 0 {
		t.Errorf("%d requests were cancelled, %d still run", cancelled, s.running.Load())
	}
	e.Shutdown()
}

func TestStringIDsAreCancelledToo(t *testing.T) {
	e, _, _ := ready(t, lsptest.Options{})
	e.SendRaw(lsptest.Frame([]byte(`{"jsonrpc":"2.0","id":"a\u00e9","method":"test/block"}`)))
	e.SendRaw(lsptest.Frame([]byte(`{"jsonrpc":"2.0","id":9007199254740993,"method":"test/block"}`)))
	e.Notify("$/cancelRequest", `{"id":"aé"}`)
	e.Notify("$/cancelRequest", `{"id":9007199254740993}`)
	for _, id := range []string{`"aé"`, `9007199254740993`} {
		m := e.Wait("the response to "+id, 0, func(m lsptest.Message) bool { return string(m.ID) == id })
		if m.Error == nil || m.Error.Code != -32800 {
			t.Errorf("%s gave %s", id, m)
		}
	}
	e.Shutdown()
}

func TestARequestIDThatHasNoAnswerYetIsRefused(t *testing.T) {
	e, _, _ := ready(t, lsptest.Options{})
	for range 2 {
		e.SendRaw(lsptest.Frame([]byte(`{"jsonrpc":"2.0","id":"x","method":"test/block"}`)))
	}
	m := e.Wait("the refusal", 0, func(m lsptest.Message) bool { return string(m.ID) == `"x"` })
	if m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("the second request got %s", m)
	}
	e.Close()
}

func TestWaitingRequestsAreBoundedAndCancellable(t *testing.T) {
	s := &server{}
	config := s.config()
	config.Concurrent, config.Pending = 2, 5
	e, _ := serve(t, config, lsptest.Options{})
	e.Initialize()
	var running []*lsptest.Pending
	for range 5 {
		running = append(running, e.Go("test/block", nil))
	}
	if _, err := e.Call("test/echo", nil); err == nil || err.Code != -32803 {
		t.Errorf("the sixth request gave %v", err)
	}
	for i := range running {
		p := running[len(running)-1-i] // those that wait first
		p.Cancel()
		if _, err := p.Wait(); err == nil || err.Code != -32800 {
			t.Errorf("a request gave %v", err)
		}
	}
	if _, err := e.Call("test/echo", nil); err != nil {
		t.Error(err)
	}
	e.Shutdown()
}

func TestHandlersMayCallTheClient(t *testing.T) {
	e, _, _ := ready(t, lsptest.Options{})
	var asked []*lsptest.Pending
	for range 8 {
		asked = append(asked, e.Go("test/edit", nil))
	}
	for _, p := range asked {
		if got, err := p.Wait(); err != nil || string(got) != `{"applied":true}` {
			t.Errorf("the edit gave %s, %v", got, err)
		}
	}
	e.Shutdown()
}

func TestACallThatIsNotAnsweredIsGivenUp(t *testing.T) {
	s := &server{}
	config := s.config()
	config.CallTimeout = 1
	e, _ := serve(t, config, lsptest.Options{Edits: lsptest.EditNever})
	e.Initialize()
	_, err := e.Call("test/edit", nil)
	if err == nil || err.Code != -32803 {
		t.Errorf("the request gave %v", err)
	}
	call := e.WaitMethod("workspace/applyEdit", 0)
	cancel := e.WaitMethod("$/cancelRequest", 0)
	if want := fmt.Sprintf(`{"id":%s}`, call.ID); string(cancel.Params) != want {
		t.Errorf("cancelled %s, want %s", cancel.Params, want)
	}
	e.Shutdown()
}

func TestCancelOfARequestReachesTheClientsCall(t *testing.T) {
	e, _, _ := ready(t, lsptest.Options{Edits: lsptest.EditHold})
	p := e.Go("test/edit", nil)
	e.WaitHeld(1)
	p.Cancel()
	if _, err := p.Wait(); err == nil || err.Code != -32800 {
		t.Errorf("the request gave %v", err)
	}
	e.WaitMethod("$/cancelRequest", 0)
	e.Release(lsptest.EditBefore) // the late reply is dropped
	e.Shutdown()
}

func TestParamsOfRequestsMayBeKept(t *testing.T) {
	s := &server{}
	config := s.config()
	kept := make(chan jsontext.Value, 2)
	keep := func(_ context.Context, params jsontext.Value) (any, error) {
		kept <- params
		return jsontext.Value(`{"capabilities":{}}`), nil
	}
	config.Initialize, config.Requests["test/keep"] = keep, keep
	e, _ := serve(t, config, lsptest.Options{})
	e.Initialize()
	if _, err := e.Call("test/keep", `{"keep":"this"}`); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := e.Call("test/echo", fmt.Sprintf(`{"over":"%s"}`, strings.Repeat("x", 2000))); err != nil {
			t.Fatal(err)
		}
	}
	if first := <-kept; !first.IsValid() || strings.Contains(string(first), "xxx") {
		t.Errorf("the params of initialize became %s", first)
	}
	if second := <-kept; string(second) != `{"keep":"this"}` {
		t.Errorf("the params of the request became %s", second)
	}
	e.Shutdown()
}
