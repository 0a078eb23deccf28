package history

import (
	"fmt"
	"slices"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Folder is Fold in steps: Add takes each event once, and History returns the
// conversation so far at any time. The zero value is an empty conversation. It is
// not safe for concurrent use.
type Folder struct {
	next        uint64 // events below it were added
	messages    []Message
	summary     *Summary
	activations []Activation

	running  uint64    // the turn that runs, 0 for none
	highest  uint64    // the highest turn accepted, by its number in the core
	queue    []Message // prompts that wait in the core, in order
	steers   []Message // for the next request
	notes    []Message // for the start of the next turn
	answered uint64    // the highest ask whose reply reached the core

	open      int              // calls without a result
	numbering bool             // the last message takes the calls that follow
	numbered  int              // how many calls of the last message have an event
	byEvent   map[uint64]place // by the index of the call's event
	byCall    map[uint64]place // by the core's id
}

// place is where a call is: its message and its ordinal.
type place struct{ message, call int }

// Add folds one event whose payload was decoded already. Events must come in the
// order of their indices; one that was added before is skipped.
func (f *Folder) Add(e store.Event, p event.Payload) error {
	if e.Index < f.next {
		return nil
	}
	f.next = e.Index + 1
	switch p := p.(type) {
	case *event.User:
		return f.user(e.Index, p)
	case *event.Steer:
		f.steers = append(f.steers, Message{ID: e.Index, Role: User, Text: p.Text, Steer: true})
	case *event.Queued:
		if p.Steered {
			f.steers = nil
		}
	case *event.Message:
		f.message(e.Index, p)
	case *event.Ask:
		f.ask(p)
	case *event.Call:
		f.call(e.Index, p)
	case *event.Approval:
		f.approval(p)
	case *event.Result:
		f.result(p)
	case *event.Done:
		f.done(p)
	case *event.Summary:
		if p.Text != "" {
			f.summary = &Summary{Text: p.Text, CoveredUpTo: p.CoveredUpTo}
		}
	case *event.Activation:
		f.activations = append(f.activations, Activation{Anchor: p.Anchor, Defs: slices.Clone(p.Defs)})
	case *event.Note:
		if p.Model && p.Text != "" {
			f.notes = append(f.notes, Message{ID: e.Index, Role: Agent, Text: Note(p.Text)})
		}
	}
	return nil
}

// History returns the conversation so far. Later events do not change what was
// returned.
func (f *Folder) History() History {
	h := History{Messages: slices.Clone(f.messages), Activations: slices.Clone(f.activations)}
	if f.summary != nil {
		h.Summary = new(*f.summary)
	}
	return h
}

// user takes a prompt. The core ignores a turn that it has seen, so does this.
func (f *Folder) user(index uint64, u *event.User) error {
	if u.Turn != 0 && u.InCore() <= f.highest {
		return nil
	}
	meta, err := metadata(u.Context)
	if err != nil {
		return fmt.Errorf("fold transcript event %d: %w", index, err)
	}
	m := Message{ID: index, Role: User, Text: Prompt(u.Text, u.Context), Metadata: meta, Turn: u.Turn}
	f.highest = max(f.highest, u.InCore())
	if f.running != 0 {
		f.queue = append(f.queue, m)
		return nil
	}
	f.start(m)
	return nil
}

// start opens a turn: what the host had to say first, then the prompt.
func (f *Folder) start(m Message) {
	for _, note := range f.notes {
		note.Turn = m.Turn
		f.messages = append(f.messages, note)
	}
	f.notes = nil
	f.messages = append(f.messages, m)
	f.running, f.numbering = m.Turn, false
}

// done ends the running turn and starts the next one that waits, or takes a
// cancelled one out of the queue.
func (f *Folder) done(d *event.Done) {
	if d.Turn != f.running {
		f.queue = slices.DeleteFunc(f.queue, func(m Message) bool { return m.Turn == d.Turn })
		return
	}
	f.running, f.numbering = 0, false
	if len(f.queue) > 0 {
		next := f.queue[0]
		f.queue = slices.Delete(f.queue, 0, 1)
		f.start(next)
	}
}

// message takes a model's reply. One that came after its turn had ended, or a
// second one to a request, never reached the core and is left out with its calls.
func (f *Folder) message(index uint64, m *event.Message) {
	f.numbering = false
	if (m.Turn != 0 && m.Turn != f.running) || (m.Ask != 0 && m.Ask <= f.answered) {
		return
	}
	if !m.Refused {
		f.answered = max(f.answered, m.Ask)
	}
	out := Message{ID: index, Role: Assistant, Turn: m.Turn, Sealed: m.Sealed, Profile: m.Profile}
	if m.Text != nil {
		out.Text = *m.Text
	}
	if m.Reasoning != nil && *m.Reasoning != "" {
		out.Reasoning = new(*m.Reasoning)
	}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, Call{ProviderID: c.ID, Name: c.Name, Arguments: c.Arguments, State: Running})
	}
	f.messages = append(f.messages, out)
	f.open += len(out.Calls)
	f.numbering, f.numbered = true, 0
}

// Steers are the texts that were said into a turn and that no request has yet.
func (f *Folder) Steers() []string {
	var out []string
	for _, m := range f.steers {
		out = append(out, m.Text)
	}
	return out
}

// ask adds what was said into the turn, and settles what is still open of others: in
// the core those calls ended as cancelled, and a result that comes after the model was
// asked again would change what it has read already.
func (f *Folder) ask(a *event.Ask) {
	for _, m := range f.steers {
		m.Turn = a.Turn
		f.messages = append(f.messages, m)
		f.numbering = false
	}
	f.steers = nil
	for i := range f.messages {
		if f.open == 0 {
			return
		}
		if f.messages[i].Turn == a.Turn {
			continue
		}
		for k := range f.messages[i].Calls {
			if at := (place{i, k}); f.isOpen(at) {
				f.change(at, func(c *Call) { c.State = Cancelled })
				f.open--
			}
		}
	}
}

// call sets the core's id of the next call of the last message.
func (f *Folder) call(index uint64, c *event.Call) {
	at := place{len(f.messages) - 1, f.numbered}
	if !f.numbering || at.call >= len(f.messages[at.message].Calls) {
		return
	}
	f.numbered++
	f.change(at, func(call *Call) { call.ID = c.ID })
	if f.byEvent == nil {
		f.byEvent, f.byCall = map[uint64]place{}, map[uint64]place{}
	}
	f.byEvent[index] = at
	if c.ID != 0 {
		f.byCall[c.ID] = at
	}
}

func (f *Folder) approval(a *event.Approval) {
	at, ok := f.byCall[a.ID]
	if !ok || !f.isOpen(at) {
		return
	}
	state := Running
	if a.State == "asked" {
		state = Awaiting
	}
	f.change(at, func(call *Call) { call.State = state })
}

// result resolves a call. The first result counts.
func (f *Folder) result(r *event.Result) {
	at, ok := f.byEvent[r.Call]
	if !ok && r.ID != 0 {
		at, ok = f.byCall[r.ID]
	}
	if !ok || !f.isOpen(at) {
		return
	}
	f.change(at, func(call *Call) {
		call.State, call.Result = ended(r.State), new(r.Text)
	})
	f.open--
}

func (f *Folder) isOpen(at place) bool {
	state := f.messages[at.message].Calls[at.call].State
	return state == Running || state == Awaiting
}

// change edits a copy of the message's calls: histories that were returned
// before share the old ones.
func (f *Folder) change(at place, edit func(*Call)) {
	m := &f.messages[at.message]
	m.Calls = slices.Clone(m.Calls)
	edit(&m.Calls[at.call])
}

// ended maps how a call ended. Whatever is not a success, a refusal or a cancel
// was a failure; an interrupted call says so in its text.
func ended(s event.State) CallState {
	switch s {
	case event.Completed:
		return Done
	case event.Rejected:
		return Rejected
	case event.Cancelled:
		return Cancelled
	default:
		return Failed
	}
}

// metadata says to a projection's hooks what the person pointed at, without the
// text, which is in the message.
func metadata(context []event.Context) (jsontext.Value, error) {
	if len(context) == 0 {
		return nil, nil
	}
	places := slices.Clone(context)
	for i := range places {
		places[i].Text = ""
	}
	return json.Marshal(struct {
		Context []event.Context `json:"context"`
	}{places})
}
