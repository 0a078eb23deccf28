package lsptest

import (
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// T is what an Editor needs of a test: *testing.T and *testscript.TestScript are.
type T interface {
	Fatalf(format string, args ...any)
}

// Editor is a fake editor: a connection with what an editor keeps of it. It is safe
// for concurrent use; methods that can fail end the test and may only be called from
// its goroutine.
type Editor struct {
	*conn
	*documents
	*received
	*answering
}

// Attach makes an editor over the output and input of a server that runs
// already. Initialize begins the conversation.
func Attach(t T, in io.ReadCloser, out io.WriteCloser, o Options) *Editor {
	return attach(t, in, out, o, nil)
}

func attach(t T, in io.ReadCloser, out io.WriteCloser, o Options, p *process) *Editor {
	c := &conn{
		t: t, options: o.withDefaults(), process: p, in: in, out: out,
		changed: make(chan struct{}), responses: map[string]int{}, answers: map[string]Message{},
	}
	d := &documents{conn: c, buffers: map[string]*buffer{}}
	r := &received{conn: c, progress: map[string]*Progress{}, findings: map[string]Diagnostics{}}
	a := &answering{conn: c, documents: d, received: r, behaviour: newBehaviour(c.options)}
	c.onNotification, c.onRequest = r.notified, a.requested
	c.done.Add(2)
	go c.read()
	go c.write()
	return &Editor{conn: c, documents: d, received: r, answering: a}
}

// Call sends a request and waits for its reply.
func (e *Editor) Call(method string, params any) (jsontext.Value, *Error) {
	return e.Go(method, params).Wait()
}

// Command runs workspace/executeCommand with one argument object, nil for none.
func (e *Editor) Command(name string, argument any) (jsontext.Value, *Error) {
	return e.GoCommand(name, argument).Wait()
}

// GoCommand is Command without waiting.
func (e *Editor) GoCommand(name string, argument any) *Pending {
	p := map[string]any{"command": name}
	if a := raw(argument); a != nil {
		p["arguments"] = []jsontext.Value{a}
	}
	return e.Go("workspace/executeCommand", p)
}

// Barrier returns when the server has handled everything that was sent before:
// it asks for a method that does not exist.
func (e *Editor) Barrier() {
	if _, err := e.Call("$/barrier", nil); err == nil || err.Code != -32601 && err.Code != -32600 && err.Code != -32002 {
		e.fatalf("a request of an unknown method was answered with %v", err)
	}
}

// Shutdown sends shutdown and exit, waits for the server's end and returns its
// exit code, 0 for an attached one. The test fails for what the server did wrong.
func (e *Editor) Shutdown() int {
	if result, err := e.Call("shutdown", nil); err != nil || string(result) != "null" {
		e.fatalf("shutdown was answered with %s, %v", result, err)
	}
	e.Notify("exit", nil)
	return e.End()
}

// End waits until the server's output has ended, and returns its exit code.
func (e *Editor) End() int {
	e.wait("the end of the server's output", func() bool { return e.readEnd != nil })
	e.HangUp()
	code := 0
	if e.process != nil {
		code = e.process.wait(e.conn)
	}
	e.done.Wait()
	if f := e.Faults(); len(f) > 0 {
		e.fatalf("the server did what it must not do:\n%s", join(f))
	}
	return code
}

// Close ends everything at once and checks nothing, for a deferred call.
func (e *Editor) Close() {
	e.HangUp()
	if e.process != nil {
		e.process.kill()
	}
	_ = e.in.Close()
	_ = e.out.Close()
	e.Resume()
}

// Timeout is how long each wait lasts before the test fails.
const Timeout = 30 * time.Second
