package lsptest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// scriptCommand is one of those of the package's comment.
type scriptCommand struct {
	min, max int // arguments; max -1 is any number
	usage    string
	neg      bool // may be negated
	run      func(s *script, args []string)
}

var commands map[string]scriptCommand

func init() { // the commands refer to their own table by way of script.start
	commands = map[string]scriptCommand{}
	for _, part := range []map[string]scriptCommand{serverCommands(), documentCommands(), requestCommands(), editorCommands()} {
		maps.Copy(commands, part)
	}
}

// serverCommands start and end servers.
func serverCommands() map[string]scriptCommand {
	return map[string]scriptCommand{
		"start":    {0, -1, "[FLAGS] [-- COMMAND ARGS]", false, (*script).start},
		"shutdown": {0, 0, "", false, func(s *script, _ []string) { s.closed(s.editor().Shutdown(), 0) }},
		"exit": {0, 0, "", false, func(s *script, _ []string) {
			s.editor().Notify("exit", nil)
			s.closed(s.editor().End(), 1)
		}},
		"end": {1, 1, "CODE", false, func(s *script, args []string) { s.closed(s.editor().End(), s.number(args[0])) }},
		"kill": {0, 0, "", false, func(s *script, _ []string) {
			s.editor().Kill()
			delete(s.editors, s.name)
		}},
		"hangup": {0, 0, "", false, func(s *script, _ []string) { s.editor().HangUp() }},
		"pause":  {0, 0, "", false, func(s *script, _ []string) { s.editor().Pause() }},
		"resume": {0, 0, "", false, func(s *script, _ []string) { s.editor().Resume() }},
	}
}

// documentCommands change documents.
func documentCommands() map[string]scriptCommand {
	return map[string]scriptCommand{
		"open":  {1, 1, "FILE", false, func(s *script, args []string) { s.editor().Open(s.uri(args[0])) }},
		"close": {1, 1, "FILE", false, func(s *script, args []string) { s.editor().CloseDocument(s.uri(args[0])) }},
		"save":  {1, 1, "FILE", false, func(s *script, args []string) { s.editor().Save(s.uri(args[0])) }},
		"edit": {3, 3, "FILE OLD NEW", false, func(s *script, args []string) {
			s.editor().Replace(s.uri(args[0]), escapes.Replace(args[1]), escapes.Replace(args[2]))
		}},
		"text": {2, 2, "FILE FROM", false, func(s *script, args []string) {
			s.editor().SetText(s.uri(args[0]), s.ts.ReadFile(args[1]))
		}},
		"buffer": {1, 1, "FILE", false, (*script).buffer},
		"dirty": {1, 1, "FILE", true, func(s *script, args []string) {
			if s.editor().Dirty(s.uri(args[0])) == s.neg {
				s.ts.Fatalf("%s is saved or not, against what is said", args[0])
			}
		}},
	}
}

// requestCommands send messages to the server.
func requestCommands() map[string]scriptCommand {
	return map[string]scriptCommand{
		"call": {1, 2, "METHOD [JSON]", true, func(s *script, args []string) {
			s.answered(s.editor().Call(args[0], s.json(args[1:])))
		}},
		"command": {1, 2, "NAME [JSON]", true, func(s *script, args []string) {
			s.answered(s.editor().Command(args[0], s.json(args[1:])))
		}},
		"go": {2, 3, "KEY METHOD [JSON]", false, func(s *script, args []string) {
			s.pending[args[0]] = s.editor().Go(args[1], s.json(args[2:]))
		}},
		"result": {1, 1, "KEY", true, func(s *script, args []string) { s.answered(s.request(args[0]).Wait()) }},
		"cancel": {1, 1, "KEY", false, func(s *script, args []string) { s.request(args[0]).Cancel() }},
		"notify": {1, 2, "METHOD [JSON]", false, func(s *script, args []string) {
			s.editor().Notify(args[0], s.json(args[1:]))
		}},
		"raw": {1, 1, "TEXT", false, func(s *script, args []string) { s.editor().SendRaw([]byte(escapes.Replace(args[0]))) }},
		"frame": {1, 1, "TEXT", false, func(s *script, args []string) {
			s.editor().SendRaw(Frame([]byte(args[0])))
		}},
		"flush":   {0, 0, "", false, func(s *script, _ []string) { s.editor().Flush() }},
		"barrier": {0, 0, "", false, func(s *script, _ []string) { s.editor().Barrier() }},
	}
}

// editorCommands set what the editor replies, and read what reached it.
func editorCommands() map[string]scriptCommand {
	return map[string]scriptCommand{
		"answer": {1, -1, "edits|questions|progress HOW…", false, (*script).answer},
		"release": {0, 1, "[HOW]", false, func(s *script, args []string) {
			s.editor().Release(EditAnswer(strings.Join(args, "")))
		}},
		"set":  {2, 2, "SECTION JSON", false, func(s *script, args []string) { s.editor().Set(args[0], s.json(args[1:])) }},
		"mark": {0, 0, "", false, func(s *script, _ []string) { s.marks[s.name] = s.editor().Len() }},
		"wait": {1, -1, "[since] WHAT [ARGUMENTS]", true, (*script).wait},

		"transcript":  {0, 1, "[JSON]", false, (*script).transcript},
		"pushed":      {0, 0, "", false, (*script).pushed},
		"diagnostics": {0, 1, "[FILE]", false, (*script).diagnostics},
		"log":         {0, 0, "", false, (*script).log},
		"traffic":     {0, -1, "[METHOD…]", false, (*script).trafficOf},
	}
}

func (s *script) number(arg string) int {
	n, err := strconv.Atoi(arg)
	s.ts.Check(err)
	return n
}

func (s *script) request(key string) *Pending {
	p := s.pending[key]
	if p == nil {
		s.ts.Fatalf("no request is called %q", key)
	}
	return p
}

func (s *script) buffer(args []string) {
	content, ok := s.editor().Text(s.uri(args[0]))
	if !ok {
		s.ts.Fatalf("%s is not open", args[0])
	}
	fmt.Fprint(s.ts.Stdout(), content)
}

func (s *script) answer(args []string) {
	e := s.editor()
	switch how := args[1:]; args[0] {
	case "edits":
		var next []EditAnswer
		for _, h := range how {
			next = append(next, EditAnswer(h))
		}
		if len(next) == 0 {
			s.ts.Fatalf("usage: lsp answer edits HOW [NEXT…]")
		}
		e.AnswerEdits(next[0], next[1:]...)
	case "questions":
		var answers []QuestionAnswer
		for _, h := range how {
			answers = append(answers, QuestionAnswer(h))
		}
		e.AnswerQuestions(answers...)
	case "progress":
		e.AnswerProgress(ProgressAnswer(strings.Join(how, "")))
	default:
		s.ts.Fatalf("nothing is asked that is called %q", args[0])
	}
}

func (s *script) transcript(args []string) {
	argument := s.json(args)
	if argument == nil {
		argument = raw(object{"session": s.session})
	}
	result, err := s.editor().Command("agent.transcript", argument)
	if err != nil {
		s.editor().fatalf("agent.transcript was answered with %v", err)
	}
	for _, x := range get[[]Event](result, "events") {
		s.print(eventLine(x.Index, x.Event))
	}
}

func (s *script) pushed([]string) {
	for _, x := range s.editor().Events() {
		s.print(eventLine(x.Index, x.Event))
	}
}

func (s *script) diagnostics(args []string) {
	all := s.editor().AllDiagnostics()
	if len(args) == 1 {
		d := s.editor().Diagnostics(s.uri(args[0]))
		all = map[string]Diagnostics{d.URI: d}
	}
	var lines []string
	for uri, d := range all {
		for i, x := range d.Diagnostics {
			r := x.Range
			severity := get[int](d.Raw[i], "severity")
			names := []string{"-", "error", "warning", "information", "hint"}
			code := strings.Trim(string(get[jsontext.Value](d.Raw[i], "code")), `"`)
			lines = append(lines, fmt.Sprintf("%s:%d:%d-%d:%d %s [%s] %s %s", strings.TrimPrefix(s.normal.do(uri), "file://$WORK/"),
				r.Start.Line, r.Start.Character, r.End.Line, r.End.Character, names[severity],
				get[string](d.Raw[i], "source"), code, get[string](d.Raw[i], "message")))
		}
	}
	slices.Sort(lines)
	s.print(lines...)
}

func (s *script) log([]string) {
	for _, m := range s.editor().Traffic() {
		if !m.Sent && (m.is("window/logMessage") || m.is("window/showMessage")) {
			names := []string{"-", "error", "warning", "info", "log", "debug"}
			s.print(names[get[int](m.Params, "type")] + ": " + get[string](m.Params, "message"))
		}
	}
}

func (s *script) trafficOf(methods []string) {
	for _, m := range s.editor().Traffic() {
		if !m.Sent && m.Method != "" && (len(methods) == 0 || contains(methods, m.Method)) {
			s.print(m.Method + " " + pretty(m.Params))
		}
	}
}

// file reads a file of the script's, "" where there is none.
func (s *script) file(name string) string {
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		return ""
	}
	return string(b)
}
