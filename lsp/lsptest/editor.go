package lsptest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json/jsontext"
)

// T is what an Editor needs of a test: *testing.T and *testscript.TestScript are.
type T interface {
	Fatalf(format string, args ...any)
}

// Editor is a fake editor. It is safe for concurrent use; methods that can fail
// end the test and may only be called from its goroutine.
type Editor struct {
	t       T
	options Options
	process *process // nil for an attached server

	in  io.ReadCloser
	out io.WriteCloser

	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever anything below changes

	queue     [][]byte // frames that were not written yet
	gathering bool     // what is queued waits for more, to go out in one write
	hangUp    bool     // close the output when queue is empty
	paused    bool     // nothing is read
	deaf      bool     // the input was closed here, which makes its end no fault
	readEnd   error    // why reading ended, io.EOF in order
	writeEnd  error
	faults    []string // what the server should not have done

	nextID    int
	traffic   []Message
	responses map[string]int // by id
	answers   map[string]Message

	encoding   text.Encoding
	buffers    map[string]*buffer // by text.Key of the URI
	behaviour  behaviour
	late       []func()  // didChanges that EditLazy has kept back
	held       []Message // requests of the server that wait for Release
	progress   map[string]*Progress
	findings   map[string]Diagnostics // by text.Key
	events     []Event
	deltas     []Delta
	configured jsontext.Value
	done       sync.WaitGroup
}

// Attach makes an editor over the output and input of a server that runs
// already. Initialize begins the conversation.
func Attach(t T, in io.ReadCloser, out io.WriteCloser, o Options) *Editor {
	return attach(t, in, out, o, nil)
}

func attach(t T, in io.ReadCloser, out io.WriteCloser, o Options, p *process) *Editor {
	e := &Editor{
		t: t, options: o.withDefaults(), process: p, in: in, out: out,
		changed: make(chan struct{}), responses: map[string]int{}, answers: map[string]Message{},
		buffers: map[string]*buffer{}, progress: map[string]*Progress{}, findings: map[string]Diagnostics{},
	}
	e.behaviour = newBehaviour(e.options)
	e.done.Add(2)
	go e.read()
	go e.write()
	return e
}

// change wakes whoever waits; e.mu is held.
func (e *Editor) change() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// read serves the server's output until its end.
func (e *Editor) read() {
	defer e.done.Done()
	r := bufio.NewReaderSize(e.in, 64<<10)
	var err error
	for err == nil {
		e.await(func() bool { return !e.paused || e.hangUp })
		var body []byte
		if body, err = readFrame(r); err != nil {
			break
		}
		var m Message
		if m, err = decode(body); err != nil {
			break
		}
		e.receive(m)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.readEnd = err
	if !errors.Is(err, io.EOF) && !e.hangUp && !e.deaf {
		e.faults = append(e.faults, err.Error())
	}
	e.change()
}

// write sends what is queued, so that nothing which reads ever waits for a write.
func (e *Editor) write() {
	defer e.done.Done()
	for {
		e.await(func() bool { return len(e.queue) > 0 && !e.gathering || e.hangUp })
		e.mu.Lock()
		queue := e.queue
		e.queue = nil
		e.mu.Unlock()
		if len(queue) == 0 {
			break
		}
		if _, err := e.out.Write(bytes.Join(queue, nil)); err != nil {
			e.mu.Lock()
			e.writeEnd, e.hangUp = err, true
			e.change()
			e.mu.Unlock()
		}
	}
	_ = e.out.Close()
}

// await blocks until a condition holds; it looks at it with e.mu held.
func (e *Editor) await(cond func() bool) {
	for {
		e.mu.Lock()
		ok, changed := cond(), e.changed
		e.mu.Unlock()
		if ok {
			return
		}
		<-changed
	}
}

// send queues a message; e.mu is held.
func (e *Editor) send(m Message) {
	m.Sent = true
	frame, err := m.encode()
	if err != nil {
		panic(fmt.Sprintf("encode %s: %s", m, err))
	}
	e.traffic = append(e.traffic, m)
	e.queue = append(e.queue, frame)
	e.change()
}

// SendRaw sends bytes as they are, malformed ones for instance.
func (e *Editor) SendRaw(b []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.traffic = append(e.traffic, Message{Sent: true, Method: fmt.Sprintf("(raw) %.200q", b)})
	e.queue = append(e.queue, b)
	e.change()
}

// Together sends everything that f sends in one write.
func (e *Editor) Together(f func()) {
	e.gather(true)
	defer e.gather(false)
	f()
}

func (e *Editor) gather(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gathering = on
	e.change()
}

// receive handles one message of the server.
func (e *Editor) receive(m Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.traffic = append(e.traffic, m)
	switch {
	case m.Method == "":
		id := string(m.ID)
		e.responses[id]++
		if e.responses[id] > 1 && id != "null" {
			e.faults = append(e.faults, fmt.Sprintf("request %s got %d responses", id, e.responses[id]))
		}
		e.answers[id] = m
	case m.ID == nil:
		e.notified(m)
	default:
		e.requested(m)
	}
	e.change()
}

// Pending is a request that was sent.
type Pending struct {
	editor *Editor
	id     string
	method string
}

// Go sends a request and does not wait. Params are any value that encodes as
// JSON, or JSON in a string or jsontext.Value; nil sends none.
func (e *Editor) Go(method string, params any) *Pending {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nextID++
	id := fmt.Sprint(e.nextID)
	e.send(Message{ID: jsontext.Value(id), Method: method, Params: raw(params)})
	return &Pending{editor: e, id: id, method: method}
}

// ID is the request's id, as JSON.
func (p *Pending) ID() string { return p.id }

// Cancel sends $/cancelRequest.
func (p *Pending) Cancel() {
	p.editor.Notify("$/cancelRequest", jsontext.Value(`{"id":`+p.id+`}`))
}

// Wait answers the request's result or its error.
func (p *Pending) Wait() (jsontext.Value, *Error) {
	var m Message
	p.editor.wait("the answer to "+p.method+" #"+p.id, func() (ok bool) {
		m, ok = p.editor.answers[p.id]
		return ok
	})
	return m.Result, m.Error
}

// Call sends a request and waits for its answer.
func (e *Editor) Call(method string, params any) (jsontext.Value, *Error) {
	return e.Go(method, params).Wait()
}

// Notify sends a notification; params as in Go.
func (e *Editor) Notify(method string, params any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.send(Message{Method: method, Params: raw(params)})
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

// Pause stops reading the server's output, after the message that is being read,
// as an editor does whose window is blocked; Resume goes on.
func (e *Editor) Pause() { e.setPaused(true) }

// Resume reads on after Pause.
func (e *Editor) Resume() { e.setPaused(false) }

func (e *Editor) setPaused(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paused = on
	e.change()
}

// HangUp closes the server's input when everything queued was sent.
func (e *Editor) HangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hangUp = true
	e.change()
}

// CloseOutput closes the reading end of the server's output: its next write fails.
// The server's input stays open.
func (e *Editor) CloseOutput() {
	e.mu.Lock()
	e.deaf = true
	e.mu.Unlock()
	_ = e.in.Close()
}

// Shutdown sends shutdown and exit, waits for the server's end and answers its
// exit code, 0 for an attached one. The test fails for what the server did wrong.
func (e *Editor) Shutdown() int {
	if result, err := e.Call("shutdown", nil); err != nil || string(result) != "null" {
		e.fatalf("shutdown was answered with %s, %v", result, err)
	}
	e.Notify("exit", nil)
	return e.End()
}

// End waits until the server's output has ended, and answers its exit code.
func (e *Editor) End() int {
	e.wait("the end of the server's output", func() bool { return e.readEnd != nil })
	e.HangUp()
	code := 0
	if e.process != nil {
		code = e.process.wait(e)
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
