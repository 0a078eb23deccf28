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

// turn is the progress of one turn. Its token belongs to the client from the
// answer to window/workDoneProgress/create on; until then what happens is only
// remembered, and an answer that refuses leaves nothing to tell.
type turn struct {
	session uuid.UUID
	number  uint64
	token   string

	mu      sync.Mutex // guards what follows, and keeps the notifications in order
	state   tokenState
	title   string
	message string
	over    bool
	asked   map[uint64]string // what was asked about, by the core's call
}

type tokenState int

const (
	asked tokenState = iota // create is not answered yet
	live                    // begin was sent
	gone                    // end was sent, or create was refused
)

func token(session uuid.UUID, turn uint64) string {
	return fmt.Sprintf("agent/%s/%d", session, turn)
}

// follow turns an event into progress of its turn.
func (all *turns) follow(s *Server, session uuid.UUID, p event.Payload) {
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
		number, doing := doing(p)
		if number == 0 {
			return
		}
		if t := all.turn(s, session, number, ""); t != nil {
			if a, ok := p.(*event.Approval); ok {
				doing = t.approval(a)
			}
			t.report(s, doing)
		}
	}
}

// doing is what the agent is at, in few words; turn 0 when an event does not say.
// An approval's words are its turn's to tell.
func doing(p event.Payload) (turn uint64, words string) {
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

// approval is what an approval means for its turn: a wait for the person, then
// what was asked about when it is allowed. After a denial the next ask tells.
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

// turn answers the progress of a turn, beginning it if need be; nil when the turn
// is over. Turns of a session are numbered from 1 and end in order.
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

// created takes the answer to the token's creation. After a refusal the token is
// never used.
func (t *turn) created(s *Server, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !ok {
		t.state = gone
		return
	}
	t.state = live
	begin := &protocol.WorkDoneProgressBegin{Kind: "begin", Title: t.title, Cancellable: new(true)}
	if t.message != "" {
		begin.Message = new(t.message)
	}
	s.progress(t.token, begin)
	if t.over {
		t.finish(s)
	}
}

// report says what the agent is doing.
func (t *turn) report(s *Server, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if message == "" || t.over {
		return
	}
	t.message = oneLine(message, 120)
	if t.state == live {
		s.progress(t.token, &protocol.WorkDoneProgressReport{Kind: "report", Message: new(t.message)})
	}
}

// end says how the turn ended.
func (t *turn) end(s *Server, outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.over, t.message = true, outcome
	if t.state == live {
		t.finish(s)
	}
}

// finish sends the end; the caller holds mu.
func (t *turn) finish(s *Server) {
	t.state = gone
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

// oneLine is a text on one line of at most max characters; what is left out is
// shown as an ellipsis.
func oneLine(text string, max int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > max {
		return string(r[:max-1]) + "…"
	}
	return string(r)
}
