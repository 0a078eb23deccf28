package loop_test

import (
	"path"
	"regexp"
	"strings"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// oracle is the loop as one would write it without care for speed: on typed
// values, which it copies as it likes.
type oracle struct {
	config   abi.Config
	last     uint64
	highest  uint64
	saved    bool // nothing changed since the last save
	turn     uint64
	ask      uint64
	awaited  []abi.Dispatch
	queue    []abi.Turn
	messages []abi.Message
}

func newOracle(c abi.Config) *oracle { return &oracle{config: c, saved: true} }

// step returns the actions for an event.
func (o *oracle) step(ev abi.Event) (out []abi.Action) {
	act := func(op abi.Op) {
		o.last++
		out = append(out, abi.Action{ID: o.last, Op: op})
		o.saved = op.Save || o.saved && op.Done != nil
	}
	ask := func() {
		act(abi.Op{Model: &abi.Ask{Model: o.config.Model, Prelude: o.config.Prelude, Messages: append([]abi.Message(nil), o.messages...)}})
		o.ask = o.last
	}
	start := func(t abi.Turn) {
		o.turn = t.ID
		o.messages = append(o.messages, abi.Message{User: &t.Prompt})
		ask()
	}
	end := func(how abi.Outcome) {
		act(abi.Op{Save: true})
		act(abi.Op{Done: &abi.Done{Turn: o.turn, Outcome: how}})
		o.turn, o.ask, o.awaited = 0, 0, nil
		if len(o.queue) > 0 {
			next := o.queue[0]
			o.queue = o.queue[1:]
			start(next)
		}
	}
	switch {
	case ev.Turn != nil:
		if ev.Turn.ID <= o.highest {
			return nil
		}
		o.highest = ev.Turn.ID
		if o.turn != 0 {
			o.queue = append(o.queue, *ev.Turn)
			act(abi.Op{Save: true})
			return out
		}
		start(*ev.Turn)
	case ev.Model != nil:
		if o.ask == 0 || ev.Model.ID != o.ask {
			return nil
		}
		o.ask = 0
		reply := ev.Model.Reply
		if len(reply.Calls) == 0 {
			if reply.Text != nil {
				o.messages = append(o.messages, abi.Message{Agent: &abi.Agent{Text: reply.Text}})
				act(abi.Op{Emit: reply.Text})
			}
			end(abi.Outcome{Complete: true})
			return out
		}
		agent := &abi.Agent{Text: reply.Text}
		o.messages = append(o.messages, abi.Message{Agent: agent})
		for _, c := range reply.Calls {
			place := callPath(c)
			if place != nil && outside(*place) {
				o.last++
				o.messages = append(o.messages, abi.Message{Tool: &abi.Tool{
					ID: o.last, Text: "refused: " + *place + " is not inside the workspace", Failed: true,
				}})
			} else {
				act(abi.Op{Read: c.Read, Write: c.Write, Patch: c.Patch, Exec: c.Exec, Git: c.Git, Browse: c.Browse, Tool: c.Tool})
				o.awaited = append(o.awaited, abi.Dispatch{ID: o.last, Call: c})
			}
			agent.Calls = append(agent.Calls, abi.Dispatch{ID: o.last, Call: c})
		}
		o.saved = false
		if len(o.awaited) == 0 {
			ask()
		}
	case ev.Rebase != nil:
		if b := ev.Rebase; o.turn == 0 && b.NextID > o.last && b.Turn >= o.highest {
			o.last, o.highest, o.messages = b.NextID-1, b.Turn, append([]abi.Message(nil), b.Messages...)
			act(abi.Op{Save: true})
		}
	case ev.Timer:
		if !o.saved {
			act(abi.Op{Save: true})
		}
	case ev.Cancel != nil && ev.Cancel.Turn != 0 && ev.Cancel.Turn == o.turn:
		for _, d := range o.awaited {
			o.messages = append(o.messages, abi.Message{Tool: &abi.Tool{ID: d.ID, Text: "cancelled", Failed: true}})
		}
		end(abi.Outcome{Cancelled: true})
	case ev.Cancel != nil:
		for i, t := range o.queue {
			if t.ID == ev.Cancel.Turn {
				o.queue = append(append([]abi.Turn(nil), o.queue[:i]...), o.queue[i+1:]...)
				act(abi.Op{Save: true})
				act(abi.Op{Done: &abi.Done{Turn: t.ID, Outcome: abi.Outcome{Cancelled: true}}})
				break
			}
		}
	default:
		result, fits := delivered(ev)
		for i, d := range o.awaited {
			if d.ID != result.ID || !fits(d.Call) {
				continue
			}
			o.awaited = append(append([]abi.Dispatch(nil), o.awaited[:i]...), o.awaited[i+1:]...)
			o.messages = append(o.messages, abi.Message{Tool: &abi.Tool{ID: d.ID, Text: result.Text, Failed: result.Failed}})
			o.saved = false
			if len(o.awaited) == 0 {
				ask()
			}
			break
		}
	}
	return out
}

func callPath(c abi.Call) *string {
	switch {
	case c.Read != nil:
		return &c.Read.Path
	case c.Write != nil:
		return &c.Write.Path
	case c.Patch != nil:
		return &c.Patch.Path
	case c.Exec != nil:
		return c.Exec.Cwd
	}
	return nil
}

func delivered(ev abi.Event) (*abi.Output, func(abi.Call) bool) {
	switch {
	case ev.Exec != nil:
		return ev.Exec, func(c abi.Call) bool { return c.Exec != nil }
	case ev.Git != nil:
		return ev.Git, func(c abi.Call) bool { return c.Git != nil }
	case ev.Browse != nil:
		return ev.Browse, func(c abi.Call) bool { return c.Browse != nil }
	case ev.Tool != nil:
		return ev.Tool, func(c abi.Call) bool { return c.Tool != nil }
	}
	return ev.File, func(c abi.Call) bool { return c.Read != nil || c.Write != nil || c.Patch != nil }
}

var escape = regexp.MustCompile(`^(/|\.\.$|\.\./|[A-Za-z]:)`)

func outside(p string) bool {
	return escape.MatchString(path.Clean(strings.ReplaceAll(p, `\`, "/")))
}
