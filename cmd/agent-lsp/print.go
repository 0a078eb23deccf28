package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/event"
)

// shownLines bounds what is shown of a call's result; the whole of it is in the
// transcript.
const shownLines = 12

// printEvent shows an event to a person.
func printEvent(w io.Writer, p event.Payload) {
	switch e := p.(type) {
	case *event.User:
		fmt.Fprintf(w, "> %s\n", indent(e.Text, "  "))
	case *event.Message:
		if e.Text != nil && len(e.Calls) > 0 {
			fmt.Fprintf(w, "\n%s\n", *e.Text)
		}
	case *event.Call:
		fmt.Fprintf(w, "\n* %s\n", callLine(e))
	case *event.Result:
		if e.Edit != nil && e.Edit.Diff != "" {
			fmt.Fprintln(w, "    "+indent(strings.TrimRight(e.Edit.Diff, "\n"), "    "))
		}
		text := e.Text
		if e.State != event.Completed {
			text = string(e.State) + ": " + text
		}
		fmt.Fprintln(w, "  "+indent(head(text), "  "))
	case *event.Approval:
		if e.State == "answered" && e.Decision == "deny" {
			fmt.Fprintln(w, "  denied")
		}
	case *event.Check:
		fmt.Fprintln(w, "  "+checkLine(e))
	case *event.Emit:
		fmt.Fprintf(w, "\n%s\n", e.Text)
	case *event.Note:
		fmt.Fprintf(w, "\n[%s]\n", e.Text)
	case *event.Error:
		fmt.Fprintf(w, "\nerror: %s\n", e.Message)
	case *event.Done:
		fmt.Fprintf(w, "\n%s\n", e.Outcome)
	}
}

// callLine names a call by what it is about.
func callLine(c *event.Call) string {
	a := c.Call
	switch {
	case a == nil:
		return c.Name + " " + c.Arguments
	case a.Read != nil:
		return "read " + a.Read.Path
	case a.Write != nil:
		return "write " + a.Write.Path
	case a.Patch != nil:
		return "patch " + a.Patch.Path
	case a.Exec != nil:
		return "exec " + strings.Join(a.Exec.Argv, " ")
	case a.Git != nil:
		return "git " + strings.Join(a.Git.Argv, " ")
	case a.Browse != nil:
		return "browse " + a.Browse.URL
	}
	return c.Name
}

func checkLine(c *event.Check) string {
	command := strings.Join(c.Command, " ")
	switch c.Outcome {
	case "found":
		return fmt.Sprintf("[check] %s: %d findings", command, len(c.Findings))
	case "clean":
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
