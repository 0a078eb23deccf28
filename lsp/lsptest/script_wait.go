package lsptest

import (
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
)

// wait is "lsp wait". Negated, it looks once and fails where the thing is there.
func (s *script) wait(args []string) {
	e := s.editor()
	from := 0
	if args[0] == "since" && len(args) > 1 {
		from, args = s.marks[s.name], args[1:]
	}
	what := strings.Join(args, " ")
	cond := s.condition(e, from, args)
	if s.neg {
		e.mu.Lock()
		there := cond()
		e.mu.Unlock()
		if there {
			e.fatalf("there is %s", what)
		}
		return
	}
	if args[0] == "disk" || args[0] == "stderr" {
		e.poll(what, cond)
		return
	}
	e.wait(what, cond)
}

// condition is evaluated with mu locked.
func (s *script) condition(e *Editor, from int, args []string) func() bool {
	need := func(n int, usage string) {
		if len(args)-1 < n {
			s.ts.Fatalf("usage: lsp wait %s", usage)
		}
	}
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	message := func(match func(Message) bool) func() bool { return e.since(from, match) }
	event := func(kind, contains string) func() bool { return message(isEvent(kind, contains)) }
	switch args[0] {
	case "done":
		if e.options.Transcript {
			return event("done", arg(1))
		}
		return message(func(m Message) bool { return m.is("$/progress") && get[string](m.Params, "value", "kind") == "end" })
	case "event":
		need(1, "event KIND [TEXT]")
		return event(args[1], arg(2))
	case "method":
		need(1, "method METHOD [TEXT]")
		return message(func(m Message) bool { return m.is(args[1]) && strings.Contains(string(m.Params), arg(2)) })
	case "text":
		need(2, "text FILE FROM")
		uri, want := s.uri(args[1]), s.ts.ReadFile(args[2])
		return func() bool { b := e.lookup(uri); return b != nil && b.doc.String() == want }
	case "diagnostics":
		need(2, "diagnostics FILE N")
		key, n := text.Key(s.uri(args[1])), s.number(args[2])
		return func() bool { d := e.findings[key]; return d.Times > 0 && len(d.Raw) == n }
	case "held":
		need(1, "held N")
		n := s.number(args[1])
		return func() bool { return len(e.held) >= n }
	case "disk":
		need(2, "disk FILE FROM")
		want := s.ts.ReadFile(args[2])
		return func() bool { return s.file(args[1]) == want }
	case "stderr":
		need(1, "stderr TEXT")
		return func() bool { return strings.Contains(e.Stderr(), args[1]) }
	}
	s.ts.Fatalf("nothing can be waited for that is called %q", args[0])
	return nil
}

func isEvent(kind, contains string) func(Message) bool {
	return func(m Message) bool {
		x := get[Event](m.Params)
		return m.is("agent/transcript") && x.Kind() == kind && strings.Contains(string(x.Event), contains)
	}
}
