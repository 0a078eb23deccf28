package lsptest

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// QuestionAnswer is how a window/showMessageRequest, an agent/approve or an agent/question
// is replied to.
type QuestionAnswer string

// The replies to a question. Any other value is the title of the action that
// is picked, or the answer to an agent/question.
const (
	AllowOnce    QuestionAnswer = "once"
	AllowSession QuestionAnswer = "session"
	AllowAlways  QuestionAnswer = "always"
	Deny         QuestionAnswer = "deny"
	Dismiss      QuestionAnswer = "dismiss" // the reply null; the default
	NoAnswer     QuestionAnswer = "never"
	AnswerError  QuestionAnswer = "error"
)

// ProgressAnswer is how window/workDoneProgress/create is replied to.
type ProgressAnswer string

// The replies to it.
const (
	ProgressNow   ProgressAnswer = "now" // the default
	ProgressHold  ProgressAnswer = "hold"
	ProgressError ProgressAnswer = "error"
	ProgressNever ProgressAnswer = "never"
)

// answering responds to the server's requests, as the test says; conn.mu guards it.
type answering struct {
	*conn
	*documents
	*received
	behaviour behaviour
	held      []Message // requests of the server that wait for Release
}

// behaviour is how the editor acts at the moment.
type behaviour struct {
	edits     EditAnswer
	next      []EditAnswer // of one edit each, before edits counts
	questions []QuestionAnswer
	creates   ProgressAnswer
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
func (a *answering) AnswerEdits(always EditAnswer, next ...EditAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.behaviour.edits, a.behaviour.next = always, next
}

// AnswerQuestions sets the answers to the next questions; then they are dismissed.
func (a *answering) AnswerQuestions(answers ...QuestionAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.behaviour.questions = answers
}

// AnswerProgress sets how window/workDoneProgress/create is replied to.
func (a *answering) AnswerProgress(how ProgressAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.behaviour.creates = how
}

// Set changes a section of the settings and sends didChangeConfiguration.
func (a *answering) Set(section string, value any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.behaviour.settings[section] = raw(value)
	a.send(Message{Method: "workspace/didChangeConfiguration", Params: raw(object{"settings": object{section: raw(value)}})})
}

// Held is how many requests wait for Release.
func (a *answering) Held() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.held)
}

// WaitHeld waits until that many requests wait for Release.
func (a *answering) WaitHeld(n int) {
	a.wait(fmt.Sprintf("%d held requests", n), func() bool { return len(a.held) >= n })
}

// Release replies to all held requests in order: edits in the given way, progress
// with success.
func (a *answering) Release(how EditAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	held := a.held
	a.held = nil
	for _, m := range held {
		if m.is("workspace/applyEdit") {
			a.applyEdit(m, how)
			continue
		}
		if m.is("window/workDoneProgress/create") {
			a.token(string(get[jsontext.Value](m.Params, "token"))).Created = true
		}
		a.respond(m.ID, nil, nil)
	}
}

// requested replies to a request of the server; the caller has locked mu.
func (a *answering) requested(m Message) {
	o := a.options
	if slices.Contains(o.Silent, m.Method) {
		return
	}
	switch m.Method {
	case "workspace/applyEdit":
		how := a.behaviour.edits
		if len(a.behaviour.next) > 0 {
			how, a.behaviour.next = a.behaviour.next[0], a.behaviour.next[1:]
		}
		if how == EditHold {
			a.held = append(a.held, m)
			return
		}
		a.applyEdit(m, how)
	case "window/showMessageRequest", "agent/approve", "agent/question":
		if m.is("agent/approve") && !o.Approvals {
			a.fault("agent/approve was sent to a client without it")
		}
		a.question(m)
	case "window/workDoneProgress/create":
		a.unless(!o.NoProgress, m)
		a.createProgress(m)
	case "workspace/configuration":
		a.unless(!o.NoConfiguration, m)
		a.respond(m.ID, a.sections(m), nil)
	case "client/registerCapability", "client/unregisterCapability":
		a.unless(!o.NoRegistration, m)
		a.respond(m.ID, nil, nil)
	case "window/showDocument":
		a.unless(!o.NoShowDocument, m)
		a.respond(m.ID, object{"success": true}, nil)
	case "workspace/textDocumentContent/refresh":
		a.unless(!o.NoContent, m)
		a.respond(m.ID, nil, nil)
	case "workspace/workspaceFolders":
		a.respond(m.ID, o.initializeParams()["workspaceFolders"], nil)
	default:
		a.fault("unknown request %s", m.Method)
		a.respond(m.ID, nil, &Error{Code: -32601, Message: "unknown method " + m.Method})
	}
}

// question replies to an approval; the caller has locked mu.
func (a *answering) question(m Message) {
	how := Dismiss
	if len(a.behaviour.questions) > 0 {
		how, a.behaviour.questions = a.behaviour.questions[0], a.behaviour.questions[1:]
	}
	switch how {
	case NoAnswer:
		return
	case Dismiss:
		a.respond(m.ID, nil, nil)
		return
	case AnswerError:
		a.respond(m.ID, nil, &Error{Code: -32603, Message: "the editor is told to fail"})
		return
	}
	if m.is("agent/approve") {
		decision := map[QuestionAnswer]string{AllowOnce: "allow_once", AllowSession: "allow_session", AllowAlways: "allow_always", Deny: "deny"}[how]
		a.respond(m.ID, object{"decision": decision}, nil)
		return
	}
	if m.is("agent/question") {
		a.respond(m.ID, object{"answer": string(how)}, nil)
		return
	}
	title := string(how)
	if t, ok := map[QuestionAnswer]string{AllowOnce: "Allow once", AllowSession: "Allow for this session", AllowAlways: "Always allow", Deny: "Deny"}[how]; ok {
		title = t
	}
	for _, action := range get[[]jsontext.Value](m.Params, "actions") {
		if get[string](action, "title") == title {
			a.respond(m.ID, action, nil)
			return
		}
	}
	a.fault("question without the action %q: %s", title, m.Params)
	a.respond(m.ID, nil, nil)
}

func (a *answering) createProgress(m Message) {
	p := a.token(string(get[jsontext.Value](m.Params, "token")))
	switch a.behaviour.creates {
	case ProgressNever:
	case ProgressHold:
		a.held = append(a.held, m)
	case ProgressError:
		a.respond(m.ID, nil, &Error{Code: -32603, Message: "the editor is told to fail"})
	default:
		p.Created = true
		a.respond(m.ID, nil, nil)
	}
}

func (a *answering) sections(m Message) []jsontext.Value {
	var out []jsontext.Value
	for _, item := range get[[]jsontext.Value](m.Params, "items") {
		v := a.behaviour.settings[get[string](item, "section")]
		if v == nil {
			v = jsontext.Value("null")
		}
		out = append(out, v)
	}
	return out
}
