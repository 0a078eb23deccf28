package lsptest

import (
	"fmt"
	"strings"
	"time"
)

// wait blocks until a condition holds, which is evaluated with mu locked
// whenever anything happened. At its deadline, or when the server has ended
// without it, the test fails and shows the traffic.
func (c *conn) wait(what string, cond func() bool) {
	if h, ok := c.t.(interface{ Helper() }); ok {
		h.Helper()
	}
	deadline := time.NewTimer(c.options.Timeout)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		ok, ended, changed := cond(), c.readEnd, c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		if ended != nil {
			c.fatalf("the server has ended (%v) before %s", ended, what)
		}
		select {
		case <-changed:
		case <-deadline.C:
			c.fatalf("no sign of %s within %s", what, c.options.Timeout)
		}
	}
}

// Wait blocks until a message of the server's satisfies match, and returns it.
// Messages that came earlier count, from the one numbered from on (Len returns
// that number); 0 is from the start.
func (c *conn) Wait(what string, from int, match func(Message) bool) (found Message) {
	c.wait(what, func() bool {
		for _, m := range c.traffic[min(from, len(c.traffic)):] {
			if !m.Sent && match(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// WaitMethod is Wait for a notification or request of a method.
func (c *conn) WaitMethod(method string, from int) Message {
	return c.Wait(method, from, func(m Message) bool { return m.is(method) })
}

// WaitText waits until an open document has a text.
func (d *documents) WaitText(uri, want string) {
	d.wait(fmt.Sprintf("the text %q in %s", want, uri), func() bool {
		b := d.lookup(uri)
		return b != nil && b.doc.String() == want
	})
}

// WaitStderr waits until what the server wrote to its standard error satisfies a
// condition.
func (e *Editor) WaitStderr(what string, cond func(stderr string) bool) {
	e.poll(what, func() bool { return cond(e.Stderr()) })
}

// Len is the number of messages in both directions so far.
func (c *conn) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.traffic)
}

// Forget drops the traffic and the replies so far, for a test that goes on for
// long. What is waited for afterwards must come afterwards.
func (c *conn) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.traffic = nil
	clear(c.answers)
	clear(c.responses)
}

// Traffic is every message so far, in both directions.
func (c *conn) Traffic() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Message(nil), c.traffic...)
}

// Responses counts the responses that an id got, the id as JSON.
func (c *conn) Responses(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.responses[id]
}

// Faults is what the server did that no server may: output that is no message, a
// second response, a message that the client's capabilities exclude.
func (r *received) Faults() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := append([]string(nil), r.faults...)
	for token, p := range r.progress {
		if err := p.check(); err != nil {
			out = append(out, fmt.Sprintf("progress %s: %s", token, err))
		}
	}
	return out
}

// fatalf fails the test with the traffic and the server's standard error.
func (c *conn) fatalf(format string, args ...any) {
	if h, ok := c.t.(interface{ Helper() }); ok {
		h.Helper()
	}
	const tail = 60
	c.mu.Lock()
	from := max(0, len(c.traffic)-tail)
	lines := make([]string, 0, tail)
	for _, m := range c.traffic[from:] {
		lines = append(lines, m.String())
	}
	c.mu.Unlock()
	msg := fmt.Sprintf(format, args...)
	if from > 0 {
		msg += fmt.Sprintf("\n… %d messages before", from)
	}
	msg += "\n" + join(lines)
	if c.process != nil {
		if log := c.process.stderr.tail(); log != "" {
			msg += "\nstandard error of the server:\n" + log
		}
	}
	c.t.Fatalf("%s", msg)
}

func join(lines []string) string { return strings.Join(lines, "\n") }

// poll is wait for what no message tells of: it looks again after a moment.
func (c *conn) poll(what string, cond func() bool) {
	const again = 2 * time.Millisecond
	ticker := time.NewTicker(again)
	defer ticker.Stop()
	deadline := time.NewTimer(c.options.Timeout)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		ok := cond()
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline.C:
			c.fatalf("no sign of %s within %s", fmt.Sprint(what), c.options.Timeout)
		}
	}
}

// since finds a message of the server from a number on; its result is called with
// mu held.
func (c *conn) since(from int, match func(Message) bool) func() bool {
	return func() bool {
		for _, m := range c.traffic[min(from, len(c.traffic)):] {
			if !m.Sent && match(m) {
				return true
			}
		}
		return false
	}
}
