package history

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/agent-lsp/agent-lsp/session/event"
)

// Prompt is what the core and the model read for a person's prompt: the text,
// then each place that the person pointed at, as path:first-last and its text
// between fences.
func Prompt(text string, context []event.Context) string {
	if len(context) == 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text)
	for _, c := range context {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(where(c))
		if c.Text == "" {
			continue
		}
		fence := fence(c.Text)
		b.WriteString(":\n" + fence + "\n" + c.Text)
		if !strings.HasSuffix(c.Text, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(fence)
	}
	return b.String()
}

// Note is what the model reads for something that the host has to say to it.
func Note(text string) string { return "[Note: " + text + "]" }

func where(c event.Context) string {
	at := c.Path
	// A name with line breaks could pass for other text of the prompt.
	if strings.ContainsFunc(at, func(r rune) bool { return !unicode.IsPrint(r) }) {
		at = strconv.Quote(at)
	}
	if c.First == 0 {
		return at
	}
	at += ":" + strconv.Itoa(c.First)
	if c.Last > c.First {
		at += "-" + strconv.Itoa(c.Last)
	}
	return at
}

// fence is a run of backticks that is not in the text.
func fence(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
