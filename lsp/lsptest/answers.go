package lsptest

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// QuestionAnswer is how a window/showMessageRequest or an agent/approve is answered.
type QuestionAnswer string

// The ways to answer a question. Any other value is the title of the action that
// is picked.
const (
	AllowOnce    QuestionAnswer = "once"
	AllowSession QuestionAnswer = "session"
	Deny         QuestionAnswer = "deny"
	Dismiss      QuestionAnswer = "dismiss" // the answer null; the default
	NoAnswer     QuestionAnswer = "never"
	AnswerError  QuestionAnswer = "error"
)

// ProgressAnswer is how window/workDoneProgress/create is answered.
type ProgressAnswer string

// The ways to answer it.
const (
	ProgressNow   ProgressAnswer = "now" // the default
	ProgressHold  ProgressAnswer = "hold"
	ProgressError ProgressAnswer = "error"
	ProgressNever ProgressAnswer = "never"
)

// behaviour is how the editor acts at the moment.
type behaviour struct {
	edits     EditAnswer
	next      []EditAnswer // of one edit each, before edits counts
	questions []QuestionAnswer
	creates   ProgressAnswer
	formats   bool // the edit that is being taken
	settings  map[string]jsontext.Value
}

func newBehaviour(o Options) behaviour {
	settings := map[string]jsontext.Value{}
	for k, v := range o.Settings {
		settings[k] = v
	}
	return behaviour{edits: o.Edits, questions: slices.Clone(o.Questions), creates: o.Creates, settings: settings}
}

// AnswerEdits sets how edits are taken from now on; the ways in next are for one
// edit each before that.
func (e *Editor) AnswerEdits(always EditAnswer, next ...EditAnswer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.behaviour.edits, e.behaviour.next = always, next
}

// AnswerQuestions sets the answers to the next questions; then they are dismissed.
func (e *Editor) AnswerQuestions(answers ...QuestionAnswer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.behaviour.questions = answers
}

// AnswerProgress sets how window/workDoneProgress/create is answered.
func (e *Editor) AnswerProgress(how ProgressAnswer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.behaviour.creates = how
}

// Set changes a section of the settings and sends didChangeConfiguration.
func (e *Editor) Set(section string, value any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.behaviour.settings[section] = raw(value)
	e.send(Message{Method: "workspace/didChangeConfiguration", Params: raw(object{"settings": object{section: raw(value)}})})
}

// Held is how many requests wait for Release.
func (e *Editor) Held() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.held)
}

// WaitHeld waits until that many requests wait for Release.
func (e *Editor) WaitHeld(n int) {
	e.wait(fmt.Sprintf("%d held requests", n), func() bool { return len(e.held) >= n })
}

// Release answers all held requests in order: edits in the given way, progress
// with success.
func (e *Editor) Release(how EditAnswer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	held := e.held
	e.held = nil
	for _, m := range held {
		if m.is("workspace/applyEdit") {
			e.applyEdit(m, how)
			continue
		}
		if m.is("window/workDoneProgress/create") {
			e.token(string(get[jsontext.Value](m.Params, "token"))).Created = true
		}
		e.respond(m.ID, nil, nil)
	}
}

// respond answers the server; e.mu is held.
func (e *Editor) respond(id jsontext.Value, result any, err *Error) {
	m := Message{ID: id, Error: err}
	if err == nil {
		m.Result = jsontext.Value("null")
		if result != nil {
			m.Result = raw(result)
		}
	}
	e.send(m)
}

// fault notes what no server may do; e.mu is held.
func (e *Editor) fault(format string, args ...any) {
	e.faults = append(e.faults, fmt.Sprintf(format, args...))
}

// requested answers a request of the server; e.mu is held.
func (e *Editor) requested(m Message) {
	o := e.options
	if slices.Contains(o.Silent, m.Method) {
		return
	}
	switch m.Method {
	case "workspace/applyEdit":
		how := e.behaviour.edits
		if len(e.behaviour.next) > 0 {
			how, e.behaviour.next = e.behaviour.next[0], e.behaviour.next[1:]
		}
		if how == EditHold {
			e.held = append(e.held, m)
			return
		}
		e.applyEdit(m, how)
	case "window/showMessageRequest", "agent/approve":
		if m.is("agent/approve") && !o.Approvals {
			e.fault("agent/approve was sent to a client without it")
		}
		e.question(m)
	case "window/workDoneProgress/create":
		e.unless(!o.NoProgress, m)
		e.createProgress(m)
	case "workspace/configuration":
		e.unless(!o.NoConfiguration, m)
		e.respond(m.ID, e.sections(m), nil)
	case "client/registerCapability", "client/unregisterCapability":
		e.unless(!o.NoRegistration, m)
		e.respond(m.ID, nil, nil)
	case "window/showDocument":
		e.unless(!o.NoShowDocument, m)
		e.respond(m.ID, object{"success": true}, nil)
	case "workspace/textDocumentContent/refresh":
		e.unless(!o.NoContent, m)
		e.respond(m.ID, nil, nil)
	case "workspace/workspaceFolders":
		e.respond(m.ID, o.initializeParams()["workspaceFolders"], nil)
	default:
		e.fault("unknown request %s", m.Method)
		e.respond(m.ID, nil, &Error{Code: -32601, Message: "unknown method " + m.Method})
	}
}

func (e *Editor) unless(offered bool, m Message) {
	if !offered {
		e.fault("%s was sent to a client without it", m.Method)
	}
}

// question answers an approval; e.mu is held.
func (e *Editor) question(m Message) {
	how := Dismiss
	if len(e.behaviour.questions) > 0 {
		how, e.behaviour.questions = e.behaviour.questions[0], e.behaviour.questions[1:]
	}
	switch how {
	case NoAnswer:
		return
	case Dismiss:
		e.respond(m.ID, nil, nil)
		return
	case AnswerError:
		e.respond(m.ID, nil, &Error{Code: -32603, Message: "the editor is told to fail"})
		return
	}
	if m.is("agent/approve") {
		decision := map[QuestionAnswer]string{AllowOnce: "allow_once", AllowSession: "allow_session", Deny: "deny"}[how]
		e.respond(m.ID, object{"decision": decision}, nil)
		return
	}
	title := string(how)
	if t, ok := map[QuestionAnswer]string{AllowOnce: "Allow once", AllowSession: "Allow for this session", Deny: "Deny"}[how]; ok {
		title = t
	}
	for _, a := range get[[]jsontext.Value](m.Params, "actions") {
		if get[string](a, "title") == title {
			e.respond(m.ID, a, nil)
			return
		}
	}
	e.fault("question without the action %q: %s", title, m.Params)
	e.respond(m.ID, nil, nil)
}

func (e *Editor) sections(m Message) []jsontext.Value {
	var out []jsontext.Value
	for _, item := range get[[]jsontext.Value](m.Params, "items") {
		v := e.behaviour.settings[get[string](item, "section")]
		if v == nil {
			v = jsontext.Value("null")
		}
		out = append(out, v)
	}
	return out
}
