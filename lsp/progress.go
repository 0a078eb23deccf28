package lsp

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/google/uuid"
	"go.lsp.dev/protocol"
)

// turns are the turns whose progress the client sees.
type turns struct {
	mu      sync.Mutex // guards what follows
	running map[string]*turn
	ended   map[uuid.UUID]uint64 // the last turn of a session that ended
}

// turn is the progress of one turn. The client knows its token from the reply to
// window/workDoneProgress/create on; until then only the last state is stored, and
// after a refusal nothing is reported.
type turn struct {
	session uuid.UUID
	number  uint64
	token   string

	mu       sync.Mutex // guards what follows, and keeps the notifications in order
	state    tokenState
	title    string
	message  string
	finished bool
	asked    map[uint64]string // titles of open approvals, by the core's call
}

type tokenState int

const (
	tokenRequested tokenState = iota // create has no reply yet
	tokenLive                        // begin was sent
	tokenEnded                       // end was sent, or create was refused
)

func token(session uuid.UUID, turn uint64) string {
	return fmt.Sprintf("agent/%s/%d", session, turn)
}

// update reports an event as progress of its turn.
func (all *turns) update(s *Server, session uuid.UUID, p event.Payload) {
	if !s.client.progress {
		return
	}
	switch p := p.(type) {
	case *event.User:
		all.turn(s, session, p.Turn, p.Text)
	case *event.Done:
		all.mu.Lock()
		t := all.running[token(session, p.Turn)]
		delete(all.running, token(session, p.Turn))
		if all.ended == nil {
			all.ended = map[uuid.UUID]uint64{}
		}
		all.ended[session] = max(all.ended[session], p.Turn)
		all.mu.Unlock()
		if t != nil {
			t.end(s, p.Outcome)
		}
	default:
		number, words := activity(p)
		if number == 0 {
			return
		}
		if t := all.turn(s, session, number, ""); t != nil {
			if a, ok := p.(*event.Approval); ok {
				words = t.approval(a)
			}
			t.report(s, words)
		}
	}
}

// activity describes the agent's activity in few words; turn is 0 when an event
// changes nothing about it. For an approval see turn.approval.
func activity(p event.Payload) (turn uint64, words string) {
	switch p := p.(type) {
	case *event.Ask:
		if p.Round > 1 {
			return p.Turn, fmt.Sprintf("thinking (round %d)", p.Round)
		}
		return p.Turn, "thinking"
	case *event.Call:
		return p.Turn, callTitle(p)
	case *event.Approval:
		return p.Turn, ""
	case *event.Check:
		return p.Turn, p.Heading()
	}
	return 0, ""
}

// approval describes the activity after an approval event: a wait for the person,
// then the call, if it is allowed. After a denial the next request's event says more.
func (t *turn) approval(p *event.Approval) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.State == "asked" {
		if t.asked == nil {
			t.asked = map[uint64]string{}
		}
		t.asked[p.ID] = p.Title
		return "waiting for you: " + p.Title
	}
	title := t.asked[p.ID]
	delete(t.asked, p.ID)
	if p.Decision == string(session.Deny) {
		return ""
	}
	return title
}

// turn returns the progress of a turn, and creates it if necessary; nil when the
// turn has ended. Turns of a session are numbered from 1 and end in order.
func (all *turns) turn(s *Server, session uuid.UUID, number uint64, title string) *turn {
	all.mu.Lock()
	defer all.mu.Unlock()
	name := token(session, number)
	if t := all.running[name]; t != nil {
		return t
	}
	if number <= all.ended[session] {
		return nil
	}
	if title == "" {
		title = "Agent"
	}
	t := &turn{session: session, number: number, token: name, title: oneLine(title, 80)}
	if all.running == nil {
		all.running = map[string]*turn{}
	}
	all.running[name] = t
	s.spawn("create progress", func() {
		ctx, stop := context.WithTimeout(s.ctx, s.config.Limits.Call)
		defer stop()
		err := s.call(ctx, protocol.MethodWindowWorkDoneProgressCreate,
			&protocol.WorkDoneProgressCreateParams{Token: protocol.String(t.token)}, nil)
		t.created(s, err == nil)
	})
	return t
}

// created handles the reply to the token's creation. After a refusal the token is
// never used.
func (t *turn) created(s *Server, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !ok {
		t.state = tokenEnded
		return
	}
	t.state = tokenLive
	begin := &protocol.WorkDoneProgressBegin{Kind: "begin", Title: t.title, Cancellable: new(true)}
	if t.message != "" {
		begin.Message = new(t.message)
	}
	s.progress(t.token, begin)
	if t.finished {
		t.finish(s)
	}
}

// report sends the agent's activity.
func (t *turn) report(s *Server, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if message == "" || t.finished {
		return
	}
	t.message = oneLine(message, 120)
	if t.state == tokenLive {
		s.progress(t.token, &protocol.WorkDoneProgressReport{Kind: "report", Message: new(t.message)})
	}
}

// end reports how the turn ended.
func (t *turn) end(s *Server, outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.finished {
		return
	}
	t.finished, t.message = true, outcome
	if t.state == tokenLive {
		t.finish(s)
	}
}

// finish sends the end; the caller has locked mu.
func (t *turn) finish(s *Server) {
	t.state = tokenEnded
	s.progress(t.token, &protocol.WorkDoneProgressEnd{Kind: "end", Message: new(t.message)})
}

func (s *Server) progress(token string, value any) {
	raw, err := protocol.Marshal(value)
	if err != nil {
		s.config.Log.Error("progress was not sent", "err", err)
		return
	}
	s.notify(protocol.MethodProgress, &protocol.ProgressParams{Token: protocol.String(token), Value: raw})
}

// cancel handles window/workDoneProgress/cancel: the person
// stopped a turn in the editor's progress display.
func (all *turns) cancel(s *Server, name string) {
	all.mu.Lock()
	t := all.running[name]
	all.mu.Unlock()
	if t == nil {
		return // it ended meanwhile
	}
	s.spawn("cancel turn", func() {
		ctx, stop := context.WithTimeout(s.ctx, s.config.Limits.Call)
		defer stop()
		engine, err := s.agent(ctx)
		if err == nil {
			_, err = engine.Cancel(ctx, &t.session, &t.number)
		}
		if err != nil {
			s.log.Warn("the turn was not cancelled", "session", t.session, "turn", t.number, "err", err)
		}
	})
}

// oneLine returns a text on one line of at most max characters; an ellipsis stands
// for the rest.
func oneLine(text string, max int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > max {
		return string(r[:max-1]) + "…"
	}
	return string(r)
}
