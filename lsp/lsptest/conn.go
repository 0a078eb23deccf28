package lsptest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// conn is the connection to a server: messages both ways, and waiting for them. What
// the messages mean is not its business.
type conn struct {
	t       T
	options Options
	process *process // nil for an attached server

	in  io.ReadCloser
	out io.WriteCloser
	// These are called for what the server sends besides responses, with mu locked.
	onNotification, onRequest func(Message)

	// mu guards what follows and what the types that embed a conn keep.
	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever anything that mu guards changes

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
	done      sync.WaitGroup
}

// change wakes those that wait; the caller has locked mu.
func (c *conn) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// read serves the server's output until its end.
func (c *conn) read() {
	defer c.done.Done()
	r := bufio.NewReaderSize(c.in, 64<<10)
	var err error
	for err == nil {
		c.await(func() bool { return !c.paused || c.hangUp })
		var body []byte
		if body, err = readFrame(r); err != nil {
			break
		}
		var m Message
		if m, err = decode(body); err != nil {
			break
		}
		c.receive(m)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readEnd = err
	if !errors.Is(err, io.EOF) && !c.hangUp && !c.deaf {
		c.faults = append(c.faults, err.Error())
	}
	c.change()
}

// write sends what is queued, so that nothing which reads ever waits for a write.
func (c *conn) write() {
	defer c.done.Done()
	for {
		c.await(func() bool { return len(c.queue) > 0 && !c.gathering || c.hangUp })
		c.mu.Lock()
		queue := c.queue
		c.queue = nil
		c.mu.Unlock()
		if len(queue) == 0 {
			break
		}
		if _, err := c.out.Write(bytes.Join(queue, nil)); err != nil {
			c.mu.Lock()
			c.writeEnd, c.hangUp = err, true
			c.change()
			c.mu.Unlock()
		}
	}
	_ = c.out.Close()
}

// await blocks until a condition holds; it looks at it with mu locked.
func (c *conn) await(cond func() bool) {
	for {
		c.mu.Lock()
		ok, changed := cond(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		<-changed
	}
}

// send queues a message; the caller has locked mu.
func (c *conn) send(m Message) {
	m.Sent = true
	frame, err := m.encode()
	if err != nil {
		panic(fmt.Sprintf("encode %s: %s", m, err))
	}
	c.traffic = append(c.traffic, m)
	c.queue = append(c.queue, frame)
	c.change()
}

// respond replies to the server; the caller has locked mu.
func (c *conn) respond(id jsontext.Value, result any, err *Error) {
	m := Message{ID: id, Error: err}
	if err == nil {
		m.Result = jsontext.Value("null")
		if result != nil {
			m.Result = raw(result)
		}
	}
	c.send(m)
}

// SendRaw sends bytes as they are, malformed ones for instance.
func (c *conn) SendRaw(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.traffic = append(c.traffic, Message{Sent: true, Method: fmt.Sprintf("(raw) %.200q", b)})
	c.queue = append(c.queue, b)
	c.change()
}

// Together sends everything that f sends in one write.
func (c *conn) Together(f func()) {
	c.gather(true)
	defer c.gather(false)
	f()
}

func (c *conn) gather(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gathering = on
	c.change()
}

// receive handles one message of the server.
func (c *conn) receive(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.traffic = append(c.traffic, m)
	switch {
	case m.Method == "":
		id := string(m.ID)
		c.responses[id]++
		if c.responses[id] > 1 && id != "null" {
			c.faults = append(c.faults, fmt.Sprintf("request %s got %d responses", id, c.responses[id]))
		}
		c.answers[id] = m
	case m.ID == nil:
		c.onNotification(m)
	default:
		c.onRequest(m)
	}
	c.change()
}

// Pending is a request that was sent.
type Pending struct {
	conn   *conn
	id     string
	method string
}

// ID is the request's id, as JSON.
func (p *Pending) ID() string { return p.id }

// Cancel sends $/cancelRequest.
func (p *Pending) Cancel() {
	p.conn.Notify("$/cancelRequest", jsontext.Value(`{"id":`+p.id+`}`))
}

// Wait returns the request's result or its error.
func (p *Pending) Wait() (jsontext.Value, *Error) {
	var m Message
	p.conn.wait("the answer to "+p.method+" #"+p.id, func() (ok bool) {
		m, ok = p.conn.answers[p.id]
		return ok
	})
	return m.Result, m.Error
}

// Go sends a request and does not wait. Params are any value that encodes as
// JSON, or JSON in a string or jsontext.Value; nil sends none.
func (c *conn) Go(method string, params any) *Pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nextID++
	id := fmt.Sprint(c.nextID)
	c.send(Message{ID: jsontext.Value(id), Method: method, Params: raw(params)})
	return &Pending{conn: c, id: id, method: method}
}

// Notify sends a notification; params as in Go.
func (c *conn) Notify(method string, params any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.send(Message{Method: method, Params: raw(params)})
}

// Pause stops reading the server's output, after the message that is being read,
// as an editor does whose window is blocked; Resume goes on.
func (c *conn) Pause() { c.setPaused(true) }

// Resume reads on after Pause.
func (c *conn) Resume() { c.setPaused(false) }

func (c *conn) setPaused(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = on
	c.change()
}

// HangUp closes the server's input when everything queued was sent.
func (c *conn) HangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hangUp = true
	c.change()
}

// CloseOutput closes the reading end of the server's output: its next write fails.
// The server's input stays open.
func (c *conn) CloseOutput() {
	c.mu.Lock()
	c.deaf = true
	c.mu.Unlock()
	_ = c.in.Close()
}

// fault notes what no server may do; the caller has locked mu.
func (c *conn) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// unless notes a message that the client did not offer to take; the caller has locked mu.
func (c *conn) unless(offered bool, m Message) {
	if !offered {
		c.fault("%s was sent to a client without it", m.Method)
	}
}
