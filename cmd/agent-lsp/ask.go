package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
)

// asker puts the server's questions to the person at the terminal, one at a time, or
// answers them by the flags.
type asker struct {
	yes, deny bool
	out       io.Writer

	mu      sync.Mutex // guards answers
	answers *bufio.Reader
}

func (r *runCommand) asker(std stdio) *asker {
	return &asker{yes: r.Yes, deny: r.Deny, out: std.err, answers: bufio.NewReader(std.in)}
}

// approve reports whether something may be done.
func (a *asker) approve(title, detail, question string) bool {
	if a.yes || a.deny {
		return a.yes
	}
	answer, ok := a.read(fmt.Sprintf("\n%s\n%s\n%s? [y/N] ", plain(title), plain(detail), plain(question)))
	answer = strings.ToLower(answer)
	return ok && (answer == "y" || answer == "yes")
}

// choose returns which of the actions of a message the person picks, -1 for none. By
// the flags it is the first, which permits, or none.
func (a *asker) choose(message string, actions []string) int {
	switch {
	case len(actions) == 0 || a.deny:
		return -1
	case a.yes:
		return 0
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", plain(message))
	for i, action := range actions {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, plain(action))
	}
	fmt.Fprintf(&b, "1-%d? ", len(actions))
	answer, _ := a.read(b.String())
	n, err := strconv.Atoi(answer)
	if err != nil || n < 1 || n > len(actions) {
		return -1
	}
	return n - 1
}

// question asks what the model wants to know. An empty line, and the input's end, is no
// answer; a number picks an option.
func (a *asker) question(text string, options []string) (string, bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", plain(text))
	for i, o := range options {
		fmt.Fprintf(&b, "%d: %s\n", i+1, plain(o))
	}
	answer, ok := a.read(b.String() + "Your answer (none: dismiss): ")
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(options) {
		return options[n-1], true
	}
	return answer, ok && answer != ""
}

// read shows a question and returns the line that answers it.
func (a *asker) read(question string) (answer string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprint(a.out, question)
	line, err := a.answers.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(a.out, "no answer: cannot read the answer:", err)
		return "", false
	}
	return strings.TrimSpace(line), true
}

// isTerminal reports whether a person can answer on in: it is a device for
// characters, and not the one that is always empty.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
