package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
)

func TestConnectionSurvivesMalformedInput(t *testing.T) {
	frame := func(body string) string { return string(lsptest.Frame([]byte(body))) }
	for _, tt := range []struct {
		name, raw string
		code      int // of the response with a null id; 0 is none
	}{
		{"body that is no JSON", frame(`{"jsonrpc":"2.0",`), -32700},
		{"params that are no JSON", frame(`{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{a:1}}`), -32700},
		{"body that is no object", frame(`17`), -32700},
		{"two objects in a body", frame(`{"jsonrpc":"2.0","method":"$/x"}{}`), -32700},
		{"no version", frame(`{"id":1,"method":"test/echo"}`), -32600},
		{"another version", frame(`{"jsonrpc":"1.0","id":1,"method":"test/echo"}`), -32600},
		{"fractional id", frame(`{"jsonrpc":"2.0","id":1.5,"method":"test/echo"}`), -32600},
		{"boolean id", frame(`{"jsonrpc":"2.0","id":true,"method":"test/echo"}`), -32600},
		{"neither method nor result", frame(`{"jsonrpc":"2.0","id":1}`), -32600},
		{"batch", frame(`[{"jsonrpc":"2.0","id":1,"method":"test/echo"}]`), -32600},
		{"empty batch", frame(`[]`), -32600},
		{"deep nesting", frame(`{"jsonrpc":"2.0","method":"$/x","params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`), -32700},
		{"byte order mark", frame("\ufeff" + `{"jsonrpc":"2.0","method":"$/x"}`), 0},
		{"empty body", frame(""), 0},
		{"blank body", frame(" \n"), 0},
		{"blank lines between frames", "\r\n\r\n\n", 0},
		{"line feeds only", "Content-Length: 32\n\n" + `{"jsonrpc":"2.0","method":"$/x"}`, 0},
		{"lower case and content type", "content-length: 32\r\ncontent-type: x; charset=utf-8\r\n\r\n" + `{"jsonrpc":"2.0","method":"$/x"}`, 0},
		{"line without a header", `{"jsonrpc":"2.0","method":"$/x"}` + "\n", 0},
		{"notification with a null id", frame(`{"jsonrpc":"2.0","id":null,"method":"test/echo"}`), 0},
		{"unknown notification", frame(`{"jsonrpc":"2.0","method":"foo/bar","params":[1]}`), 0},
		{"unknown notification of the protocol", frame(`{"jsonrpc":"2.0","method":"$/foo"}`), 0},
		{"notification whose params do not fit", frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":7}}`), 0},
		{"notification without params", frame(`{"jsonrpc":"2.0","method":"textDocument/didClose"}`), 0},
		{"initialized without params, again", frame(`{"jsonrpc":"2.0","method":"initialized"}`), 0},
		{"request sent as a notification", frame(`{"jsonrpc":"2.0","method":"workspace/executeCommand","params":{"command":"x"}}`), 0},
		{"notification that panics", frame(`{"jsonrpc":"2.0","method":"test/panicked"}`), 0},
		{"cancel of a big id", frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":3000000000}}`), 0},
		{"cancel of a null id", frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}`), 0},
		{"cancel without params", frame(`{"jsonrpc":"2.0","method":"$/cancelRequest"}`), 0},
		{"response to nothing", frame(`{"jsonrpc":"2.0","id":77,"result":null}`), 0},
		{"error response without an id", frame(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _, ended := ready(t, lsptest.Options{})
			e.SendRaw([]byte(tt.raw))
			if got, err := e.Call("test/echo", `{"after":true}`); err != nil || string(got) != `{"after":true}` {
				t.Fatalf("the next request gave %s, %v", got, err)
			}
			code := 0
			for _, m := range e.Traffic() {
				if !m.Sent && string(m.ID) == "null" && m.Error != nil {
					code = m.Error.Code
				}
			}
			if code != tt.code || e.Responses("null") != min(1, -tt.code) {
				t.Errorf("answered with code %d, %d times, want %d once", code, e.Responses("null"), tt.code)
			}
			e.Shutdown()
			if x := <-ended; x.code != 0 || x.why != nil {
				t.Errorf("ended with %d, %v", x.code, x.why)
			}
		})
	}
}

func TestBrokenHeaderEndsTheConnection(t *testing.T) {
	for _, raw := range []string{
		"Content-Length: -1\r\n\r\n", "Content-Length: x\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n",
		"Content-Type: x\r\n\r\n", "no colon\r\n", strings.Repeat("a: b\r\n", 5000), strings.Repeat("a", 100000),
	} {
		e, _, ended := ready(t, lsptest.Options{})
		e.SendRaw([]byte(raw))
		if x := <-ended; x.code != 1 || !errors.Is(x.why, wire.ErrHeader) {
			t.Errorf("%.40q ended with %d, %v", raw, x.code, x.why)
		}
	}
}

// TestTooBigMessageIsDiscarded sends messages of up to and over the limit of 1,000
// bytes; the next one is read in any case.
func TestTooBigMessageIsDiscarded(t *testing.T) {
	for size, refused := range map[int]bool{999: false, 1000: false, 1001: true, 5_000_000: true} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			config := (&server{}).config()
			config.MaxFrame = 1000
			e, _ := serve(t, config, lsptest.Options{})
			body := `{"jsonrpc":"2.0","id":"big","method":"test/echo"}`
			e.SendRaw(lsptest.Frame([]byte(body + strings.Repeat(" ", size-len(body)))))
			if _, err := e.Call("test/echo", nil); err == nil || err.Code != -32002 {
				t.Errorf("the next request gave %v", err)
			}
			id, code, text := `"big"`, -32002, ""
			if refused {
				id, code, text = "null", -32600, fmt.Sprintf("message of %d bytes", size)
			}
			m := e.Wait("the reply", 0, func(m lsptest.Message) bool { return !m.Sent && m.Error != nil && string(m.ID) != "1" })
			if string(m.ID) != id || m.Error.Code != code || !strings.Contains(m.Error.Message, text) {
				t.Errorf("%s has the reply %v, want code %d with %q for %s", m.ID, m.Error, code, text, id)
			}
		})
	}
}

func TestBigMessagePassesBothWays(t *testing.T) {
	e, _, _ := ready(t, lsptest.Options{})
	want := fmt.Sprintf(`{"x":"%s"}`, strings.Repeat("é", bigMessage()/8))
	if got, err := e.Call("test/echo", want); err != nil || string(got) != want {
		t.Errorf("echo of %d bytes gave %d bytes, %v", len(want), len(got), err)
	}
	e.Shutdown()
}

func TestErrorsHaveTheCodesThatClientsExpect(t *testing.T) {
	e, _, _ := ready(t, lsptest.Options{})
	for _, tt := range []struct {
		method, params string
		code           int
		text           string
	}{
		{"test/unknown", `{}`, -32601, `"test/unknown"`},
		{"test/unknown", ``, -32601, `"test/unknown"`},
		{"$/unknown", ``, -32601, `"$/unknown"`},
		{"textDocument/didOpen", `{}`, -32601, "didOpen"},
		{"textDocument/hover", `{"textDocument":{"uri":"file:///x"},"position":{"line":0,"character":0}}`, -32601, ""},
		{"test/typed", `{"text":7}`, -32602, "member text is a JSON number, want a string"},
		{"test/typed", `{"count":"x"}`, -32602, "member count is a JSON string, want a whole number"},
		{"test/typed", `[]`, -32602, "want an object"},
		{"test/fail", ``, -32803, "told to fail"},
		{"test/panic", ``, -32603, "internal error"},
		{"initialize", `{"capabilities":{}}`, -32600, "before"},
	} {
		var params any
		if tt.params != "" {
			params = tt.params
		}
		_, err := e.Call(tt.method, params)
		if err == nil || err.Code != tt.code || !strings.Contains(err.Message, tt.text) {
			t.Errorf("%s %s gave %v, want %d with %q", tt.method, tt.params, err, tt.code, tt.text)
		}
	}
	if got, err := e.Call("test/echo", nil); err != nil || string(got) != "{}" {
		t.Errorf("no params gave %s, %v", got, err)
	}
	e.Shutdown()
}

func TestLifeCycle(t *testing.T) {
	s := &server{}
	e, ended := serve(t, s.config(), lsptest.Options{})
	expect := func(code int, method string, params any) {
		t.Helper()
		if _, err := e.Call(method, params); (err == nil) != (code == 0) || err != nil && err.Code != code {
			t.Errorf("%s gave %v, want code %d", method, err, code)
		}
	}
	expect(-32002, "test/echo", nil)
	expect(-32002, "shutdown", nil)
	e.Notify("textDocument/didChange", `{"textDocument":{"uri":"file:///x","version":5},"contentChanges":[]}`)
	expect(-32602, "initialize", `{"locale":7}`)
	expect(-32602, "initialize", `{"capabilities":{},"locale":"refuse"}`)
	expect(0, "initialize", `{"capabilities":{},"trace":null,"processId":1.0,"locale":null}`)
	if s.version.Load() != 0 {
		t.Error("a notification before initialize was handled")
	}
	expect(-32600, "initialize", `{"capabilities":{}}`)
	e.Notify("initialized", nil)
	expect(0, "test/echo", nil)
	expect(0, "shutdown", `{}`)
	expect(-32600, "test/echo", nil)
	expect(-32600, "shutdown", nil)
	expect(-32600, "initialize", `{"capabilities":{}}`)
	e.Notify("textDocument/didChange", `{"textDocument":{"uri":"file:///x","version":5},"contentChanges":[]}`)
	e.Barrier()
	if s.version.Load() != 0 {
		t.Error("a notification after shutdown was handled")
	}
	e.Notify("exit", nil)
	if x := <-ended; x.code != 0 || x.why != nil {
		t.Errorf("ended with %d, %v", x.code, x.why)
	}
}

func TestCallFromANotificationIsRefusedAtOnce(t *testing.T) {
	e, s, _ := ready(t, lsptest.Options{})
	e.Notify("test/callback", nil)
	e.Barrier()
	if s.version.Load() != 99 {
		t.Error("the handler did not get through")
	}
	e.Shutdown()
}

func TestEndOfInputWaitsForAnswers(t *testing.T) {
	fromClient, toServer := wire.Pipe()
	fromServer, toClient := wire.Pipe()
	s := &server{}
	config := s.config()
	config.Drain = time.Minute
	eof := make(chan struct{})
	config.Requests["test/slow"] = func(ctx context.Context, _ jsontext.Value) (any, error) {
		<-eof
		return jsontext.Value(`"done"`), ctx.Err()
	}
	ended := make(chan end, 1)
	go func() {
		code, why := wire.Serve(t.Context(), &eofReader{fromClient, eof}, toClient, config)
		ended <- end{code, why}
	}()
	e := lsptest.Attach(t, fromServer, toServer, lsptest.Options{})
	e.Initialize()
	p := e.Go("test/slow", nil)
	e.HangUp()
	if got, err := p.Wait(); err != nil || string(got) != `"done"` {
		t.Errorf("the last request gave %s, %v", got, err)
	}
	if x := <-ended; x.code != 1 || !errors.Is(x.why, io.EOF) {
		t.Errorf("ended with %d, %v", x.code, x.why)
	}
	e.End()
}

// eofReader closes a channel when it gives the end of input.
type eofReader struct {
	io.ReadCloser
	eof chan struct{}
}

func (r *eofReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if err == io.EOF {
		close(r.eof)
	}
	return n, err
}

func TestRunningRequestsAreCancelledAtTheEnd(t *testing.T) {
	e, _, ended := ready(t, lsptest.Options{})
	p := e.Go("test/block", nil)
	e.Barrier()
	e.Notify("exit", nil)
	if _, err := p.Wait(); err == nil || err.Code != -32800 {
		t.Errorf("the running request gave %v", err)
	}
	if x := <-ended; x.code != 1 || !errors.Is(x.why, wire.ErrExit) {
		t.Errorf("ended with %d, %v", x.code, x.why)
	}
}
