package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// shownLines bounds what is shown of a call's result; the whole of it is in the
// transcript.
const shownLines = 12

// people prints a transcript for a person to read.
type people struct {
	w     io.Writer
	calls map[uint64]string // of the last message, by id
}

// event shows one event.
func (p *people) event(payload event.Payload) {
	switch e := payload.(type) {
	case *event.User:
		p.line("> %s", indent(e.Text, "  "))
	case *event.Steer:
		p.line("\n> %s", indent(e.Text, "  "))
	case *event.Message:
		p.calls = map[uint64]string{}
		if e.Text != nil && len(e.Calls) > 0 {
			p.line("\n%s", *e.Text)
		}
	case *event.Call:
		p.calls[e.ID] = e.Heading()
		p.line("\n* %s", e.Heading())
	case *event.Result:
		p.result(e)
	case *event.Approval:
		if e.Decision == "deny" {
			p.line("  denied")
		}
	case *event.Check:
		p.line("  %s", checkLine(e))
	case *event.Emit:
		p.line("\n%s", e.Text)
	case *event.Note:
		p.line("\n[%s]", e.Text)
	case *event.Mode:
		p.line("\n[%s]", e.Heading())
	case *event.Plan:
		p.line("\n%s", e.Text)
	case *event.Summary:
		p.line("\n[what came before was summarized]")
	case *event.Error:
		p.line("\nerror: %s", e.Message)
	case *event.Done:
		p.line("\n%s", e.Outcome)
	}
}

// result shows what a call gave, under its name where there are several.
func (p *people) result(e *event.Result) {
	if name := p.calls[e.ID]; len(p.calls) > 1 && name != "" {
		p.line("\n  %s:", name)
	}
	for _, edit := range e.Edits() {
		if edit.Diff != "" {
			p.line("    %s", indent(edit.Diff, "    "))
		}
	}
	text := e.Text
	if state := string(e.State); e.State != event.Completed && !strings.HasPrefix(text, state) {
		text = state + ": " + text
	}
	p.line("  %s", indent(head(text), "  "))
}

func (p *people) line(format string, args ...any) {
	fmt.Fprintln(p.w, plain(fmt.Sprintf(format, args...)))
}

// plain is a text as a terminal may be given it: what a model, a tool or a file
// says must not move the cursor, recolour or overwrite what is shown, so control
// characters other than tabs and line ends are written out, and what hides or reorders
// text is written by number.
func plain(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.IndexFunc(text, controls) < 0 {
		return workspace.VisibleProse(text)
	}
	var b strings.Builder
	for _, r := range text {
		if controls(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return workspace.VisibleProse(b.String())
}

// plainLine is plain for what stands on one line, such as a name: line ends and tabs
// are written out as well.
func plainLine(text string) string {
	return plain(strings.NewReplacer("\n", `\x0a`, "\t", `\x09`).Replace(text))
}

// plainWriter writes what a terminal may be given, as plain does.
type plainWriter struct{ io.Writer }

// Write writes p, which is whole characters.
func (w plainWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, plain(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func controls(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

func checkLine(c *event.Check) string {
	command := workspace.CommandLine(c.Command)
	switch c.Outcome {
	case "found":
		if len(c.Findings) == 1 {
			return fmt.Sprintf("[check] %s: 1 finding", command)
		}
		return fmt.Sprintf("[check] %s: %d findings", command, len(c.Findings))
	case "clean":
		if c.Text != "" {
			return "[check] " + command + ": clean; " + c.Text
		}
		return "[check] " + command + ": clean"
	case "failed":
		return "[check did not run] " + c.Text
	}
	return "[check skipped] " + c.Text
}

// head is the first lines of a text, and how many more there are.
func head(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) <= shownLines {
		return strings.Join(lines, "\n")
	}
	return fmt.Sprintf("%s\n(%d more lines)", strings.Join(lines[:shownLines], "\n"), len(lines)-shownLines)
}

func indent(text, by string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}
