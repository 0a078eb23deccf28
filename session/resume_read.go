package session

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
)

// log is a session's transcript with what is under way at its end.
type log struct {
	events  []logged
	intents map[uint64][]*event.Intent // by call: what its edits were about to do, the last of each file
	asked   map[uint64]bool            // calls that wait for the person's word
	ask     *ask                       // the model call that awaits its reply
	rounds  map[uint64]int             // by turn
	jobs    jobsSeen                   // that run
	calls   []*call                    // dispatched, without a result
}

type logged struct {
	event   store.Event
	payload event.Payload
}

// reading is a transcript on its way into a log: the turns that are under way and
// what the model has seen of files.
type reading struct {
	*log
	session *Session
	open    map[uint64]*turn
	waiting map[uint64]*call
	refused map[uint64]*call  // by the core
	seen    map[string]string // by path
}

// readLog decodes and folds the whole transcript and rebuilds the turns that are
// under way.
func readLog(ctx context.Context, s *Session) (*log, error) {
	r := &reading{
		log:     &log{intents: map[uint64][]*event.Intent{}, asked: map[uint64]bool{}, rounds: map[uint64]int{}, jobs: jobsSeen{}},
		session: s, open: map[uint64]*turn{}, waiting: map[uint64]*call{}, refused: map[uint64]*call{}, seen: map[string]string{},
	}
	for e, err := range s.journal.store.Transcript(ctx, s.id, nil) {
		if err != nil {
			return nil, fmt.Errorf("read the transcript of session %s: %w", s.id, err)
		}
		p, err := event.Decode(e.Payload.Data)
		if err != nil {
			return nil, fmt.Errorf("transcript event %d of session %s: %w", e.Index, s.id, err)
		}
		if err := s.journal.replayed(e, p); err != nil {
			return nil, err
		}
		r.events = append(r.events, logged{e, p})
		r.take(e.Index, p)
	}
	r.calls = sortedCalls(r.waiting)
	s.tools.Remember(r.seen)
	if v, ok := s.clock.(*clock.Virtual); ok && len(r.events) > 0 {
		v.Reach(r.events[len(r.events)-1].event.At)
	}
	return r.log, nil
}

func (r *reading) take(index uint64, p event.Payload) {
	switch p := p.(type) {
	case *event.User:
		r.begun(p)
	case *event.Queued:
		r.queued(p)
	case *event.Ask:
		r.rounds[p.Turn] = p.Round
		if t := r.open[p.Turn]; t != nil {
			t.round = p.Round
			r.ask = &ask{turn: t, id: p.ID, round: p.Round, event: p}
		}
	case *event.Message:
		r.countRequest(p.Profile, stepOf(p.Turn, r.rounds[p.Turn]), p.ProviderID)
		if !p.Refused {
			r.ask = nil
		}
	case *event.Call:
		t := r.open[p.Turn]
		switch {
		case t == nil || p.ID == 0:
		case p.Dispatched:
			c := &call{id: p.ID, index: index, name: p.Name, args: p.Arguments, effect: p.Effect, op: *p.Call}
			r.waiting[p.ID], t.calls[p.ID] = c, c
		default:
			r.refused[p.ID] = &call{id: p.ID, index: index, name: p.Name, args: p.Arguments, refused: true}
		}
	case *event.Approval:
		r.asked[p.ID] = p.State == "asked" && !p.Again
	case *event.Intent:
		r.intents[p.ID] = append(slices.DeleteFunc(r.intents[p.ID], func(o *event.Intent) bool { return o.Edit.Path == p.Edit.Path }), p)
	case *event.Result:
		r.result(p)
	case *event.Summary:
		r.countRequest(p.Profile, stepOf(p.Turn, 0), p.ProviderID)
	case *event.Error:
		r.session.nextTurn = max(r.session.nextTurn, p.Turn) // also of a prompt that was not taken up
		if p.Cancels {
			r.countCancelled(p.Turn)
		}
	case *event.Note:
		r.jobs.note(p)
		if p.Refused != nil {
			r.withheld(p)
		}
		if p.Cancels && !p.Model { // a note for the model ends the turn instead of asking
			r.countCancelled(p.Turn)
		}
	case *event.Done:
		r.done(p)
	}
}

// countCancelled counts the ask of a turn that ended in it: the model was asked, and a
// script's entry is used.
func (r *reading) countCancelled(turn uint64) {
	if r.ask != nil && r.ask.turn.id == turn {
		r.countRequest(r.ask.event.Profile, stepOf(turn, r.rounds[turn]), "")
	}
}

// withheld keeps what a provider did not take, and counts its refusal.
func (r *reading) withheld(p *event.Note) {
	r.session.requests.pictures.refuse(p.Refused)
	r.session.requests.pictures.begin(p.Turn)
	r.session.requests.pictures.blind[p.Refused.Profile] = true
	r.countRequest(p.Refused.Profile, stepOf(p.Turn, r.rounds[p.Turn]), "")
}

// countRequest counts a request that a model replied to.
func (r *reading) countRequest(profile, step, providerID string) {
	r.session.requests.earlier = append(r.session.requests.earlier, earlierRequest{profile, step, providerID})
}

func (r *reading) result(p *event.Result) {
	for _, e := range p.Edits() {
		r.seen[e.Path] = cmp.Or(e.Read, e.After)
	}
	c := r.waiting[p.ID]
	r.jobs.result(c, p)
	if c != nil && p.State == event.Completed {
		r.session.todo.take(c.op)
	}
	// What the model was shown wins: after an edit that was merged with another one
	// it is not all of the file.
	if c != nil && p.Read != "" {
		r.seen[path.Clean(pathOf(c.op))] = p.Read
	}
	if t := r.open[p.Turn]; t != nil {
		if c != nil {
			t.watch(c, p)
		} else if no := r.refused[p.ID]; no != nil {
			t.watch(no, p)
		}
		delete(t.calls, p.ID)
	}
	delete(r.refused, p.ID)
	delete(r.waiting, p.ID)
}

func (r *reading) done(p *event.Done) {
	if t := r.open[p.Turn]; t != nil {
		r.session.queue = remove(r.session.queue, t)
		r.unqueue(p.Turn)
		t.finished, t.ended, t.result = true, true, TurnResult{Outcome: p.Outcome}
		close(t.done)
		delete(r.open, p.Turn)
	}
	if r.ask != nil && r.ask.turn.id == p.Turn {
		r.ask = nil
	}
}

// reopen rebuilds a turn that was accepted before.
func (r *reading) reopen(id uint64, text string) *turn {
	if r.open[id] == nil {
		r.open[id] = r.session.backlog.numbered(id, text)
	}
	r.open[id].prompt = text
	return r.open[id]
}

// begun rebuilds a turn that began.
func (r *reading) begun(u *event.User) {
	r.session.enter(r.reopen(u.Turn, u.Text), u.InCore())
	r.unqueue(u.Turn)
}

// queued rebuilds a prompt that waits.
func (r *reading) queued(q *event.Queued) {
	r.session.backlog.put(waiting{r.reopen(q.Turn, q.Text), Prompt{Text: q.Text, Context: q.Context}}, q.First)
}

// unqueue takes a turn out of those that wait.
func (r *reading) unqueue(turn uint64) {
	b := &r.session.backlog
	if i := b.find(turn); i >= 0 {
		b.entries = slices.Delete(b.entries, i, i+1)
	}
}
