package session

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
)

// waitingPrefix starts what a session is doing while it waits for the person.
const waitingPrefix = "waiting for you: "

// refusedPrefix starts the result of a call with a path outside the workspace, in
// the core's words.
const refusedPrefix = "refused: "

// rejectedPrefix starts the result of a call that a person or a rule did not allow.
const rejectedPrefix = "rejected: "

// cancelledText is the result of the calls of a turn that was cancelled before they
// began.
const cancelledText = "cancelled: not started"

// cancelled is the result of the call when its turn is cancelled: whether it had begun.
// What it did until then follows in a note; see late.
func (c *call) cancelled() string {
	began := c.began.Load()
	if began == 0 {
		return cancelledText
	}
	if took := time.Since(time.Unix(0, began)).Truncate(time.Second); took > 0 {
		return "cancelled: stopped after " + took.String()
	}
	return "cancelled: stopped within a second"
}

// performer performs the calls of a session: it asks the person, runs the tools and the
// checks. Its methods run on goroutines of their own, but for finishCall.
type performer struct{ *Session }

// perform runs the calls of one reply: those that only read side by side, those
// that change something in their order. Results reach the core in the order of
// the calls, so that the same script gives the same transcript. After the last
// edit of the reply the checker looks once.
func (s performer) perform(t *turn, calls []*call) { s.performExcept(t, calls, nil) }

// performExcept is perform for a reply of which some calls have an outcome already,
// which is only delivered.
func (s performer) performExcept(t *turn, calls []*call, outcomes map[uint64]tools.Outcome) {
	s.tools.SetBound(s.resultBound(t))
	ops := make([]performed, len(calls))
	lastEdit := -1
	for i, c := range calls {
		ops[i] = performed{call: c}
		if ops[i].outcome, ops[i].known = outcomes[c.id]; !ops[i].known {
			ops[i].decision = s.tools.Decide(t.ctx, c.op)
		}
		if effectOf(t.ctx, s.tools, c) == tools.Write.String() {
			lastEdit = i
		}
	}
	var edited []string
	for i := 0; i < len(ops); {
		n := 1
		if !ops[i].alone() {
			for i+n < len(ops) && !ops[i+n].alone() {
				n++
			}
		}
		if i > 0 && ops[i].alone() && !ops[i].known {
			// What the calls before it changed, or a person allowed for the session,
			// counts: a question shows the change as it will be made.
			ops[i].decision = s.tools.Decide(t.ctx, ops[i].call.op)
		}
		group := ops[i : i+n]
		var wg sync.WaitGroup
		for j := range group {
			if !group[j].known {
				wg.Go(func() { group[j].outcome = s.runCall(t, &group[j]) })
			}
		}
		wg.Wait()
		for j := range group {
			p := &group[j]
			for _, c := range p.outcome.Changes() {
				edited = append(edited, c.Path)
			}
			if i+j == lastEdit && len(edited) > 0 && t.ctx.Err() == nil {
				p.outcome.Text += s.check(t, p.call, edited)
			}
			if !s.mail.call(s.ctx, func() { s.finishCall(t, p.call, p.outcome) }) {
				return
			}
		}
		i += n
	}
}

// performed is a call on its way.
type performed struct {
	call     *call
	decision tools.Decision
	known    bool
	outcome  tools.Outcome
}

// alone reports the calls that nothing may run beside: what changes something, and
// what a person is asked about.
func (p *performed) alone() bool { return p.decision.Mutates || p.decision.Verdict != tools.Allow }

// runCall performs one call if policy and the person allow it.
func (s performer) runCall(t *turn, p *performed) tools.Outcome {
	if t.ctx.Err() != nil {
		return tools.Outcome{State: tools.Cancelled, Text: cancelledText}
	}
	switch p.decision.Verdict {
	case tools.Deny:
		if strings.HasPrefix(p.decision.Reason, refusedPrefix) {
			return tools.Outcome{State: tools.Failed, Text: p.decision.Reason}
		}
		return tools.Outcome{State: tools.Rejected, Text: rejectedPrefix + p.decision.Reason}
	}
	if p.decision.Executes && !s.trusted(t) {
		return tools.Outcome{State: tools.Rejected, Text: rejectedPrefix + tools.Untrusted}
	}
	if p.decision.Verdict == tools.Ask {
		if out, ok := s.approve(t, p, nil); !ok {
			return out
		}
	}
	s.setDoing(p.decision.Title)
	if p.decision.Mutates {
		s.work.begin(t.id, p.call.id)
	}
	p.call.began.Store(time.Now().UnixNano())
	label := fmt.Sprintf("Agent, turn %d: %s", t.id, titleOf(t.prompt))
	out := s.tools.Run(t.ctx, p.call.op, label)
	if out.Again != nil && t.ctx.Err() == nil {
		return s.runAgain(t, p, out, label)
	}
	return out
}

// trusted reports whether programs may run in the session's workspace, which the
// person is asked about before the first one.
func (s performer) trusted(t *turn) bool {
	return s.cfg.Trusts == nil || s.cfg.Trusts(t.ctx, s.root, func() {
		s.setDoing(waitingPrefix + "trust the workspace?")
	})
}

// runAgain runs a call again that the sandbox stopped, with what it lacked, if policy
// and the person allow that.
func (s performer) runAgain(t *turn, p *performed, first tools.Outcome, label string) tools.Outcome {
	again := first.Again
	d := s.tools.Decide(t.ctx, again.Op)
	d.Title, d.Detail = again.Title, again.Detail
	switch d.Verdict {
	case tools.Deny:
		return again.Kept(first, d.Reason)
	case tools.Ask:
		choices := []Choice{{AllowOnce, again.Yes}, {AllowSession, again.Always}, {Deny, again.No}}
		if out, ok := s.approve(t, &performed{call: p.call, decision: d}, choices); !ok {
			return again.Kept(first, strings.TrimPrefix(out.Text, rejectedPrefix))
		}
	}
	s.setDoing(again.Yes)
	return again.Twice(first, s.tools.Run(t.ctx, again.Op, label))
}

// resultBound is how many bytes one result of a turn's calls has at most.
func (s performer) resultBound(t *turn) int {
	p, _ := t.settings.profile(s.profileOf(t))
	return bound(p)
}

// finishCall records a call's result and steps the core with it. Loop only.
func (s performer) finishCall(t *turn, c *call, out tools.Outcome) {
	if note := s.tools.Habit(c.name, c.args); note != "" {
		out.Text = strings.TrimSuffix(out.Text, "\n") + "\n" + note
	}
	out.Text = cut(out.Text, s.resultBound(t), "a result")
	res := resultOf(t, c, out)
	if _, waiting := t.calls[c.id]; !waiting || t.finished || s.broken != nil {
		s.late(t, c, out, res)
		return
	}
	delete(t.calls, c.id)
	if err := s.takePlan(t, out.Plan); err != nil {
		return // the session's store has failed, or the session ends
	}
	if res.State == event.Completed {
		s.todo.take(c.op)
	}
	t.watch(c, res)
	s.step(outputOf(c, res), res)
}

// late records what a call did whose turn ended first, with a result for the call, which
// stands: undo and a person see it in the call's second result, and the model reads it
// before the next prompt. Loop only.
func (s performer) late(t *turn, c *call, out tools.Outcome, res *event.Result) {
	if out.Edit == nil && (effectOf(s.ctx, s.tools, c) != tools.Run.String() || !didSomething(out)) {
		return
	}
	note := &event.Note{Turn: t.id, Model: true, Text: fmt.Sprintf("what the cancelled call %s did all the same, or until it was stopped: %s", c.name, out.Text)}
	if _, err := s.journal.record(s.ctx, res, note); err != nil && s.ctx.Err() == nil {
		s.log.Error("record what a cancelled call did", "session", s.id, "tool", c.name, "err", err)
	}
}

// didSomething reports whether the outcome of a command tells more than that it was
// stopped.
func didSomething(out tools.Outcome) bool {
	return out.State != tools.Cancelled || len(out.Touched) > 0 || strings.Contains(out.Text, "\n") && !strings.HasSuffix(out.Text, tools.NoOutput)
}

// outputOf is a result as the core takes it.
func outputOf(c *call, r *event.Result) core.Event {
	o := &core.Output{ID: c.id, Text: r.Text, Failed: r.State != event.Completed}
	switch op := c.op; {
	case op.Exec != nil:
		return core.Event{Exec: o}
	case op.Git != nil:
		return core.Event{Git: o}
	case op.Browse != nil:
		return core.Event{Browse: o}
	case op.Tool != nil:
		return core.Event{Tool: o}
	default:
		return core.Event{File: o}
	}
}

// watch stops a turn that repeats itself at its next model call.
func (t *turn) watch(c *call, r *event.Result) {
	g := &t.guard
	if c.refused {
		g = &t.refused
	}
	// What the person refused does not count: the model may well ask again.
	if r.State != event.Rejected && g.repeats(c, r.Text) >= maxRepeats {
		t.stopping = &event.Note{Turn: t.id, Cancels: true, Model: true, Text: fmt.Sprintf(
			"stopped: the same %s call gave the same result %d times in a row; prompt again to go on", c.name, maxRepeats)}
	}
}

// guard counts identical calls with identical results in a row.
type guard struct {
	name, args, text string
	n                int
}

func (g *guard) repeats(c *call, text string) int {
	if g.n > 0 && g.name == c.name && g.args == c.args && g.text == text {
		g.n++
	} else {
		*g = guard{c.name, c.args, text, 1}
	}
	return g.n
}
