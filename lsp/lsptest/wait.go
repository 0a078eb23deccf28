package lsptest

import (
	"fmt"
	"strings"
	"time"
)

// wait blocks until a condition holds, which is looked at with e.mu held
// whenever anything happened. At its deadline, or when the server has ended
// without it, the test fails and shows the traffic.
func (e *Editor) wait(what string, cond func() bool) {
	if h, ok := e.t.(interface{ Helper() }); ok {
		h.Helper()
	}
	deadline := time.NewTimer(e.options.Timeout)
	defer deadline.Stop()
	for {
		e.mu.Lock()
		ok, ended, changed := cond(), e.readEnd, e.changed
		e.mu.Unlock()
		if ok {
			return
		}
		if ended != nil {
			e.fatalf("the server has ended (%v) before %s", ended, what)
		}
		select {
		case <-changed:
		case <-deadline.C:
			e.fatalf("no sign of %s within %s", what, e.options.Timeout)
		}
	}
}

// Wait blocks until a message of the server's satisfies match, and answers it.
// Messages that came earlier count, from the one numbered from on (Len answers
// that number); 0 is from the start.
func (e *Editor) Wait(what string, from int, match func(Message) bool) (found Message) {
	e.wait(what, func() bool {
		for _, m := range e.traffic[min(from, len(e.traffic)):] {
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
func (e *Editor) WaitMethod(method string, from int) Message {
	return e.Wait(method, from, func(m Message) bool { return m.is(method) })
}

// WaitText waits until an open document has a text.
func (e *Editor) WaitText(uri, want string) {
	e.wait(fmt.Sprintf("the text %q in %s", want, uri), func() bool {
		b := e.lookup(uri)
		return b != nil && b.doc.String() == want
	})
}

// WaitStderr waits until what the server wrote to its standard error satisfies a
// condition.
func (e *Editor) WaitStderr(what string, cond func(stderr string) bool) {
	e.poll(what, func() bool { return cond(e.Stderr()) })
}

// Len is the number of messages in both directions so far.
func (e *Editor) Len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.traffic)
}

// Forget drops the traffic and the answers so far, for a test that goes on for
// long. What is waited for afterwards must come afterwards.
func (e *Editor) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.traffic = nil
	clear(e.answers)
	clear(e.responses)
}

// Traffic is every message so far, in both directions.
func (e *Editor) Traffic() []Message {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Message(nil), e.traffic...)
}

// Responses counts the responses that an id got, the id as JSON.
func (e *Editor) Responses(id string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.responses[id]
}

// Faults is what the server did that no server may: output that is no message, a
// second response, a message that the client's capabilities exclude.
func (e *Editor) Faults() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := append([]string(nil), e.faults...)
	for token, p := range e.progress {
		if err := p.check(); err != nil {
			out = append(out, fmt.Sprintf("progress %s: %s", token, err))
		}
	}
	return out
}

// fatalf fails the test with the traffic and the server's standard error.
func (e *Editor) fatalf(format string, args ...any) {
	if h, ok := e.t.(interface{ Helper() }); ok {
		h.Helper()
	}
	const tail = 60
	e.mu.Lock()
	from := max(0, len(e.traffic)-tail)
	lines := make([]string, 0, tail)
	for _, m := range e.traffic[from:] {
		lines = append(lines, m.String())
	}
	e.mu.Unlock()
	msg := fmt.Sprintf(format, args...)
	if from > 0 {
		msg += fmt.Sprintf("\n… %d messages before", from)
	}
	msg += "\n" + join(lines)
	if e.process != nil {
		if log := e.process.stderr.tail(); log != "" {
			msg += "\nstandard error of the server:\n" + log
		}
	}
	e.t.Fatalf("%s", msg)
}

func join(lines []string) string { return strings.Join(lines, "\n") }
