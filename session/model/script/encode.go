package script

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// appendHead writes what stands before the entries.
func appendHead(out []byte, epoch time.Time) []byte {
	out = fmt.Appendf(out, "version: %d\n", Version)
	if !epoch.IsZero() {
		out = fmt.Appendf(out, "epoch: %s\n", epoch.UTC().Format(time.RFC3339Nano))
	}
	return append(out, "entries:\n"...)
}

// appendEntry writes an entry as the next item of the list. Calls are written
// raw: a replay repeats them byte for byte, ids included.
func appendEntry(out []byte, e *Entry, seen *known) []byte {
	w := &yamlWriter{out: out, lead: "  - "}
	w.text("when", e.When)
	if e.Text != nil {
		w.text("text", *e.Text)
	}
	if e.Reasoning != nil {
		w.text("reasoning", *e.Reasoning)
	}
	if len(e.Calls) > 0 {
		w.line("calls:")
		for _, c := range e.Calls {
			w.line("  - raw:")
			w.nested("      ", func() {
				w.text("id", c.ID)
				w.text("name", c.Name)
				w.text("arguments", c.Arguments)
			})
		}
	}
	if u := e.Usage; u.Input|u.CachedInput|u.Output|u.Reasoning != 0 {
		estimated := ""
		if u.Estimated {
			estimated = ", estimated: true"
		}
		w.line(fmt.Sprintf("usage: {input: %d, cached_input: %d, output: %d, reasoning: %d%s}", u.Input, u.CachedInput, u.Output, u.Reasoning, estimated))
	}
	if e.Fail != nil {
		w.line("fail:")
		w.nested("  ", func() {
			w.text("kind", string(e.Fail.Kind))
			w.text("error", string(e.Fail.Error))
			w.text("message", e.Fail.Message)
		})
	}
	if e.Finish != "" {
		w.text("finish", e.Finish)
	}
	if e.ProviderID != "" {
		w.text("provider_id", e.ProviderID)
	}
	if e.Sealed != nil {
		w.text("sealed", string(e.Sealed))
	}
	if e.Request != nil {
		w.line("request:")
		w.nested("  ", func() {
			w.text("tools", e.Request.Tools)
			w.text("messages", seen.compact(e.Request.Messages))
		})
	}
	return w.out
}

// yamlWriter writes the lines of one list item.
type yamlWriter struct {
	out  []byte
	lead string // before the next line: the item's dash, then its indentation
	deep string
}

func (w *yamlWriter) line(s string) {
	w.out = append(w.out, w.lead+w.deep...)
	w.out = append(w.out, s...)
	w.out = append(w.out, '\n')
	w.lead = "    "
}

func (w *yamlWriter) nested(deep string, members func()) {
	w.deep = deep
	members()
	w.deep = ""
}

// text writes a string: lines of plain text as a block that people can read,
// else quoted.
func (w *yamlWriter) text(key, s string) {
	if !isBlock(s) {
		w.line(key + ": " + quoted(s))
		return
	}
	mark := "|-"
	if strings.HasSuffix(s, "\n") {
		mark = "|"
	}
	w.line(key + ": " + mark)
	outer := w.deep
	w.deep += "  "
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if l == "" {
			w.out = append(w.out, '\n')
			continue
		}
		w.line(l)
	}
	w.deep = outer
}

// isBlock says whether a literal block surely keeps the text: several lines
// without a character that YAML treats apart, not starting or ending in a way
// that would need an indicator.
func isBlock(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.ContainsAny(body[:1], " \t\n") {
		return false
	}
	for _, r := range body {
		if r != '\n' && r != '\t' && !plain(r) {
			return false
		}
	}
	for l := range strings.SplitSeq(body, "\n") {
		if strings.TrimRight(l, " \t") != l {
			return false
		}
	}
	return true
}

// quoted is a double-quoted scalar.
func quoted(s string) string {
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case plain(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			b = append(b, `\U`+hexDigits(r, 8)...)
		case r > 0xff:
			b = append(b, `\u`+hexDigits(r, 4)...)
		default:
			b = append(b, `\x`+hexDigits(r, 2)...)
		}
	}
	return string(append(b, '"'))
}

// plain says whether a character may stand in the file as it is.
func plain(r rune) bool {
	return unicode.IsGraphic(r) && r != utf8.RuneError && (r == ' ' || !unicode.IsSpace(r))
}

func hexDigits(r rune, n int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", n-len(s)) + s
}
