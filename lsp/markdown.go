package lsp

import (
	"fmt"
	"strings"

	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/google/uuid"
)

// Markdown renders a session's events for a person. It is pure: equal events give
// equal text. Text of a model or a tool cannot change the structure around it: tool
// output, diffs and commands are in fences longer than any in them, and a fence that
// a model leaves open is closed.
func Markdown(id uuid.UUID, entries []session.Entry) string {
	m := &markdown{}
	m.line("# Session " + id.String())
	for _, e := range entries {
		p, err := event.Decode(e.Event)
		if err != nil {
			m.para(fmt.Sprintf("*Event %d cannot be read: %s*", e.Index, escapeInline(err.Error())))
			continue
		}
		m.event(e, p)
	}
	return m.out.String()
}

type markdown struct{ out strings.Builder }

func (m *markdown) line(s string) { m.out.WriteString(s + "\n") }

// para writes a block, after a blank line.
func (m *markdown) para(s string) { m.out.WriteString("\n" + strings.TrimRight(s, "\n") + "\n") }

// fence writes text verbatim.
func (m *markdown) fence(language, s string) {
	marks := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	m.para(marks + language + "\n" + strings.TrimSuffix(printable(s), "\n") + "\n" + marks)
}

// prose writes a model's Markdown.
func (m *markdown) prose(s string) {
	if s = strings.TrimSpace(printable(s)); s != "" {
		m.para(closeFence(s))
	}
}

// quote writes a person's text as a quotation.
func (m *markdown) quote(s string) {
	m.para("> " + strings.ReplaceAll(closeFence(strings.TrimSpace(printable(s))), "\n", "\n> "))
}

func (m *markdown) event(e session.Entry, p event.Payload) {
	switch p := p.(type) {
	case *event.User:
		m.user(e, p)
	case *event.Steer:
		m.quote(p.Text)
	case *event.Message:
		if p.Text != nil {
			m.prose(*p.Text)
		}
		if p.Refused {
			m.para("*This reply held a call that does not fit; the model was asked again.*")
		}
	case *event.Call:
		m.para("**" + escapeInline(callTitle(p)) + "**")
		if detail := callDetail(p); detail != "" {
			m.fence("", detail)
		}
	case *event.Approval:
		m.approval(p)
	case *event.Result:
		m.result(p)
	case *event.Check:
		m.check(p)
	case *event.Summary:
		m.para("*The conversation before this was summarised:*")
		m.quote(p.Text)
	case *event.Done:
		m.para("*Turn " + fmt.Sprint(p.Turn) + " ended: " + escapeInline(p.Outcome) + ".*")
	case *event.Error:
		m.para("**Error** (" + escapeInline(p.Source) + ")")
		m.fence("", p.Message)
	case *event.Note:
		m.para("*Note:* " + escapeInline(p.Text))
	case *event.Mode:
		m.para("*" + escapeInline(upperFirst(p.Heading())) + "*")
	case *event.Plan:
		m.para("**Plan**")
		m.quote(p.Text)
	}
}

func (m *markdown) user(e session.Entry, p *event.User) {
	m.para(fmt.Sprintf("## Turn %d", p.Turn))
	m.para("*" + e.At.UTC().Format("2006-01-02 15:04:05 UTC") + "*")
	m.quote(p.Text)
	for _, c := range p.Context {
		where := code(c.Path)
		if c.First > 0 {
			where += fmt.Sprintf(", lines %d–%d", c.First, c.Last)
		}
		m.para("With " + where)
		if c.Text != "" {
			m.fence("", c.Text)
		}
	}
}

// callDetail writes what a call's title leaves out.
func callDetail(c *event.Call) string {
	a := c.Call
	switch {
	case a == nil:
		return c.Arguments
	case a.Patch != nil:
		return a.Patch.Diff
	case a.Tool != nil:
		return a.Tool.Arguments
	case a.Exec != nil && a.Exec.Cwd != nil:
		return "in " + *a.Exec.Cwd
	case a.Browse != nil && a.Browse.Body != nil:
		return *a.Browse.Body
	}
	return ""
}

func (m *markdown) approval(p *event.Approval) {
	if p.State == "asked" {
		m.para("*Asked you: " + escapeInline(p.Title) + "*")
		if p.Detail != "" {
			m.fence("", p.Detail)
		}
		return
	}
	said := map[string]string{"allow_once": "allowed once", "allow_session": "allowed for this session", "allow_always": "always allowed", "deny": "denied"}[p.Decision]
	if said == "" {
		return
	}
	if p.Reason != "" {
		said += ": " + escapeInline(p.Reason)
	}
	m.para("*" + said + "*")
}

func (m *markdown) result(p *event.Result) {
	if p.State != event.Completed {
		m.para("*" + escapeInline(string(p.State)) + "*")
	}
	for _, e := range p.Edits() {
		if e.Diff == "" {
			continue
		}
		m.fence("diff", e.Diff)
	}
	if p.Text != "" {
		m.fence("", p.Text)
	}
	if len(p.Changed) > 0 {
		m.para("Changed: " + codes(p.Changed))
	}
}

func (m *markdown) check(p *event.Check) {
	m.para("**Check:** " + escapeInline(p.Heading()))
	if p.Text != "" {
		m.fence("", p.Text)
	}
}

func codes(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = code(n)
	}
	return strings.Join(out, ", ")
}

// code returns a short text as a code span.
func code(s string) string {
	s = strings.Join(strings.Fields(printable(s)), " ")
	marks := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return marks + s + marks
}

// escapeInline escapes a text for a paragraph: no emphasis, link, code or HTML begins
// in it.
func escapeInline(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(printable(s)), " ") {
		if strings.ContainsRune("\\`*_[]<>|~#&!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// printable replaces control characters other than line ends and tabs, which a
// terminal or an editor would act on, and what is not UTF-8, and writes what hides or
// reorders text by number.
func printable(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD")
	return workspace.VisibleProse(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, s))
}

// closeFence ends a code fence that a text leaves open.
func closeFence(s string) string {
	open := ""
	for line := range strings.Lines(s) {
		mark := fenceMark(line)
		switch {
		case mark == "":
		case open == "":
			open = mark
		case mark[0] == open[0] && len(mark) >= len(open) && strings.TrimSpace(line) == mark:
			open = ""
		}
	}
	if open != "" {
		s += "\n" + open
	}
	return s
}

// fenceMark returns the fence characters at the start of a line, "" if it begins no
// fence.
func fenceMark(line string) string {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 {
		return ""
	}
	for _, c := range []byte("`~") {
		n := 0
		for n < len(rest) && rest[n] == c {
			n++
		}
		if n >= 3 && (c != '`' || !strings.Contains(rest[n:], "`")) {
			return rest[:n]
		}
	}
	return ""
}

// longestRun returns the length of the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}
