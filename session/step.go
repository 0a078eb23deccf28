package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/go-json-experiment/json"
)

// step steps the core with what happened and performs the actions it returns. What
// caused the step and every action are in the transcript, in one append, before
// any of them is performed. Loop only.
func (s *Session) step(ev core.Event, causes ...event.Payload) {
	event.Valid(&ev)
	for _, c := range causes {
		event.Valid(c) // to be what the core is stepped with
	}
	actions, err := s.stepCore(s.ctx, ev)
	if err != nil {
		if s.ctx.Err() == nil {
			s.recoverCore(fmt.Errorf("step the agent's core: %w", err), causes[0])
		}
		return
	}
	plan := s.plan(actions, callsIn(ev), causes)
	for _, d := range plan.done {
		s.ending(d.turn)
	}
	first, err := s.journal.recordAt(s.ctx, plan.place, plan.payloads...)
	if err != nil {
		for _, d := range plan.done {
			s.queue = slices.Concat([]*turn{d.turn}, s.queue) // its end is not recorded
		}
		if s.ctx.Err() == nil {
			s.lose(err, causes[0])
		}
		return
	}
	s.recovered = false
	if plan.save {
		s.save(first + uint64(len(plan.payloads)) - 1)
	}
	for _, r := range plan.refused {
		plan.turn.watch(r.call, r.result)
	}
	if len(plan.calls) > 0 {
		s.wg.Go(func() { performer{s}.perform(plan.turn, plan.calls) })
	}
	for _, d := range plan.done {
		s.finish(d.turn, d.outcome)
	}
	if len(plan.done) > 0 {
		defer s.backlog.next()
	}
	if plan.ask != nil {
		if s.cfg.agreed != nil {
			s.cfg.agreed(history.Agree(s.journal.history(), actions[len(actions)-1].Op.Model.Messages))
		}
		s.ask(plan.ask)
	}
}

// stepCore is a step of the core, within the time that one may take.
func (s *Session) stepCore(ctx context.Context, ev core.Event) ([]core.Action, error) {
	limit := s.cfg.stepTime
	if limit == 0 {
		limit = defaultStepTime
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	return s.core.Step(ctx, ev)
}

// plan is what a step is going to write and do.
type plan struct {
	payloads []event.Payload
	turn     *turn     // of calls
	calls    []*call   // to perform, index relative to the append's first
	refused  []refused // Call of their results likewise
	done     []ending
	ask      *ask
	save     bool
}

// place makes relative indices absolute.
func (p *plan) place(first uint64) {
	for _, c := range p.calls {
		c.index += first
	}
	for _, r := range p.refused {
		r.result.Call += first
	}
}

// refused is a call that the core refused, with its text for the model.
type refused struct {
	call   *call
	result *event.Result
}

type ending struct {
	turn    *turn
	outcome string
}

// ask is one model call that the core wants.
type ask struct {
	turn  *turn
	id    uint64
	round int
	event *event.Ask

	before <-chan struct{} // closed when the session's ask before it has come back; nil for the first
}

// ledger is what a session knows of its turns, enough to see which events a
// step's actions are.
type ledger struct {
	queue   []*turn // accepted turns; the first one runs
	highest uint64  // of the turns, by their numbers in the core
	asked   chain   // what was in the core's requests so far
	profile string  // the name that asks carry; "": the turn's own
}

// enter adds a turn that begins, with its number in the core.
func (l *ledger) enter(t *turn, core uint64) {
	t.core = core
	l.highest = max(l.highest, core)
	l.queue = append(l.queue, t)
}

// turnOf returns a turn under way by its number in the core, nil for none.
func (l *ledger) turnOf(core uint64) *turn {
	for _, t := range l.queue {
		if t.core == core {
			return t
		}
	}
	return nil
}

// inCore is the number in the core of a turn under way; of another one its own, which
// the core does not know.
func (l *ledger) inCore(turn uint64) uint64 {
	for _, t := range l.queue {
		if t.id == turn {
			return t.core
		}
	}
	return turn
}

// plan turns actions into transcript events. The turn that an action belongs to
// is the first of the queue, less those that end in this very step. Calls are
// those of the reply that caused the step, typed.
func (l *ledger) plan(actions []core.Action, calls []core.Call, causes []event.Payload) *plan {
	p := &plan{payloads: causes}
	queue := l.queue
	if m, ok := causes[0].(*event.Message); ok && len(m.Calls) > 0 {
		p.planCalls(queue[0], m, calls, actions)
	}
	for _, a := range actions {
		switch op := a.Op; {
		case op.Model != nil:
			t := queue[0]
			t.round++
			l.asked.add(op.Model.Messages)
			p.ask = &ask{turn: t, id: a.ID, round: t.round, event: &event.Ask{
				Turn: t.id, ID: a.ID, Round: t.round, Attempt: 1, Profile: l.profileOf(t),
				Messages: l.asked.count, Digest: l.asked.digest(),
			}}
			p.payloads = append(p.payloads, p.ask.event)
		case op.Emit != nil:
			queue[0].result.Text = *op.Emit
			p.payloads = append(p.payloads, &event.Emit{Turn: queue[0].id, ID: a.ID, Text: *op.Emit})
		case op.Save:
			p.save = true
		case op.Done != nil:
			id := op.Done.Turn
			if t := l.turnOf(op.Done.Turn); t != nil {
				id = t.id
				p.done = append(p.done, ending{t, outcomeOf(op.Done, id, causes[0])})
				queue = remove(queue, t)
			}
			p.payloads = append(p.payloads, &event.Done{Turn: id, ID: a.ID, Outcome: outcomeOf(op.Done, id, causes[0])})
		}
	}
	return p
}

// outcomeOf is how a turn ended. To the core a failure is a cancel.
func outcomeOf(done *core.Done, turn uint64, cause event.Payload) string {
	if !done.Outcome.Cancelled {
		return "complete"
	}
	if e, ok := cause.(*event.Error); ok && e.Turn == turn {
		return "failed"
	}
	return "cancelled"
}

// planCalls writes one event for each call of a reply, and the result of those
// that the core refused. Every call has an id of the core, in order; a refused
// one is a hole among the actions.
func (p *plan) planCalls(t *turn, m *event.Message, calls []core.Call, actions []core.Action) {
	p.turn = t
	dispatched := map[uint64]bool{}
	for _, a := range actions {
		dispatched[a.ID] = true
	}
	first := firstCallID(calls, actions)
	for i, fc := range m.Calls {
		id := first + uint64(i)
		typed := calls[i]
		about := described{}
		if len(t.described) == len(calls) {
			about = t.described[i]
		}
		at := uint64(len(p.payloads))
		p.payloads = append(p.payloads, &event.Call{
			Turn: t.id, ID: id, ProviderID: fc.ID, Name: fc.Name, Arguments: fc.Arguments,
			Call: &typed, Dispatched: dispatched[id], Title: about.title, Effect: about.effect,
		})
		c := &call{id: id, index: at, name: fc.Name, args: fc.Arguments, effect: about.effect, op: typed, refused: !dispatched[id]}
		if dispatched[id] {
			t.calls[id] = c
			p.calls = append(p.calls, c)
			continue
		}
		p.refused = append(p.refused, refused{c, &event.Result{
			Turn: t.id, ID: id, Call: at, State: event.Failed, Text: refusal(typed),
		}})
	}
	for _, r := range p.refused {
		p.payloads = append(p.payloads, r.result)
	}
}

// firstCallID is the id that the core gave to the first call of a reply; the
// others follow it. A refused call is no action and shows only as a hole, so the
// first action is looked for among the calls; a reply with nothing but refused
// ones is followed by a request, whose conversation has it.
func firstCallID(calls []core.Call, actions []core.Action) uint64 {
	if ask := actions[len(actions)-1].Op.Model; ask != nil {
		for _, msg := range slices.Backward(ask.Messages) {
			if msg.Agent != nil {
				return msg.Agent.Calls[0].ID
			}
		}
	}
	first := callOf(actions[0].Op)
	for i, c := range calls {
		if reflect.DeepEqual(c, first) {
			return actions[0].ID - uint64(i)
		}
	}
	panic(fmt.Sprintf("the core's action %d is no call of the reply", actions[0].ID))
}

// callOf is the call that an action performs.
func callOf(op core.Op) core.Call {
	return core.Call{Read: op.Read, Write: op.Write, Patch: op.Patch, Exec: op.Exec, Git: op.Git, Browse: op.Browse, Tool: op.Tool}
}

// refusal is the core's text for the model about a call that it did not dispatch.
func refusal(c core.Call) string { return abi.Refused(pathOf(c)) }

// pathOf is the path that a call names, "" for one without.
func pathOf(c core.Call) string {
	switch {
	case c.Read != nil:
		return c.Read.Path
	case c.Write != nil:
		return c.Write.Path
	case c.Patch != nil:
		return c.Patch.Path
	case c.Exec != nil && c.Exec.Cwd != nil:
		return *c.Exec.Cwd
	case c.Tool != nil:
		var args struct {
			Path string `json:"path"`
		}
		if err := json.Unmarshal([]byte(c.Tool.Arguments), &args); err == nil {
			return args.Path
		}
	}
	return ""
}

// callsIn are the calls of the reply that an event brings, if it brings one.
func callsIn(ev core.Event) []core.Call {
	if ev.Model == nil {
		return nil
	}
	return ev.Model.Reply.Calls
}

// save keeps the core's state as it is after the event at index at.
func (s *Session) save(at uint64) {
	state, err := s.core.Snapshot(s.ctx)
	if err == nil {
		err = s.journal.saveSnapshot(s.ctx, at, state)
	}
	if err != nil && s.ctx.Err() == nil {
		// The journal alone still resumes the session; it only takes longer.
		s.log.Warn("save snapshot", "session", s.id, "err", err)
	}
}

// chain digests the growing conversation of a session's asks: each digest covers
// the one before and the messages since, so that an ask costs what is new in it.
type chain struct {
	count int
	sum   [sha256.Size]byte
}

func (c *chain) add(messages []core.Message) {
	h := sha256.New()
	h.Write(c.sum[:])
	for _, m := range messages[min(c.count, len(messages)):] {
		text, err := abi.AppendMessage(nil, m)
		if err != nil {
			panic(fmt.Sprintf("the core's own message does not encode: %v", err))
		}
		h.Write(text)
		h.Write([]byte{'\n'})
	}
	c.count = len(messages)
	h.Sum(c.sum[:0])
}

// resume goes on behind an ask of the transcript.
func (c *chain) resume(a *event.Ask) error {
	sum, err := hex.DecodeString(a.Digest)
	if err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("ask %d has the digest %q, which is no SHA-256", a.ID, a.Digest)
	}
	c.count = a.Messages
	copy(c.sum[:], sum)
	return nil
}

func (c *chain) digest() string { return hex.EncodeToString(c.sum[:]) }
