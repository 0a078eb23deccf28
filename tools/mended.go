package tools

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// mended reads arguments that are nearly a JSON object: in a fence, in a string, or
// with line breaks within their strings.
func mended(c *taken) (map[string]jsontext.Value, error) {
	text := strings.TrimSpace(c.arguments)
	if text == "" {
		text = "{}"
	}
	if inner, ok := fenced(text); ok {
		text = inner
		c.notes = append(c.notes, "send the arguments without a fence")
	}
	if raw := escapeBreaks(text); raw != text {
		text = raw
		c.notes = append(c.notes, `write line breaks within JSON strings as \n`)
	}
	var object map[string]jsontext.Value
	err := json.Unmarshal([]byte(text), &object)
	var inner string
	if err != nil && json.Unmarshal([]byte(text), &inner) == nil {
		if err = json.Unmarshal([]byte(escapeBreaks(inner)), &object); err == nil {
			c.notes = append(c.notes, "send the arguments as an object, not as a string")
		}
	}
	return object, err
}

// fenced returns what stands in a fence that is all of a text.
func fenced(text string) (string, bool) {
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text, false
	}
	inner, ok = strings.CutSuffix(inner, "```")
	_, inner, found := strings.Cut(inner, "\n")
	return strings.TrimSpace(inner), ok && found
}

// escapeBreaks escapes the control characters within the strings of a JSON text.
func escapeBreaks(text string) string {
	var b strings.Builder
	in, escaped := false, false
	for i := range len(text) {
		c := text[i]
		if in && c < ' ' {
			quoted, _ := jsontext.AppendQuote(nil, string(rune(c)))
			b.Write(quoted[1 : len(quoted)-1])
			escaped = false
			continue
		}
		switch {
		case escaped:
			escaped = false
		case in && c == '\\':
			escaped = true
		case c == '"':
			in = !in
		}
		b.WriteByte(c)
	}
	return b.String()
}
