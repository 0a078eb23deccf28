// Package historytest makes random transcripts together with the conversation
// that the core would have, for tests of whatever folds or projects them.
package historytest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json/jsontext"
)

// Talk is a transcript, whose events have the indices of their places, its model
// calls, and what the core was stepped with to come to them.
type Talk struct {
	Payloads []event.Payload
	Asks     []Ask
	Steps    []abi.Event
}

// Ask is one model call: what was in the transcript by then, and what the core
// said.
type Ask struct {
	ID        uint64 // the core's action
	Turn      uint64
	Events    int  // how many events the transcript had
	Compacted bool // a summary was made since the ask before
	Core      []abi.Message
}

// Events returns the first n events as a store would.
func (t Talk) Events(n int) ([]store.Event, error) {
	out := make([]store.Event, n)
	for i, p := range t.Payloads[:n] {
		data, err := event.Encode(p)
		if err != nil {
			return nil, err
		}
		out[i] = store.Event{Index: uint64(i), Payload: store.Payload{ContentType: "application/json", Data: data}}
	}
	return out, nil
}

// Random makes a talk of some turns with parallel calls in any order of results,
// refusals, rejections, cancels, interrupts, failed model calls, queued prompts,
// notes, late and doubled results, activations and compactions. Equal sources of
// randomness give equal talks.
func Random(r *rand.Rand, turns int) Talk {
	m := &maker{Rand: r}
	for len(m.queue) > 0 || turns > 0 {
		if len(m.queue) == 0 {
			m.prompt()
			turns--
		}
		m.turn()
	}
	return m.talk
}

// maker plays engine and core.
type maker struct {
	*rand.Rand
	talk      Talk
	folder    history.Folder
	core      []abi.Message
	queue     []waiting
	turns     uint64 // the highest turn
	action    uint64 // the highest id
	running   bool
	compacted bool
}

type waiting struct {
	turn uint64
	text string
}

// open is a call that waits for its result.
type open struct{ id, event uint64 }

func (m *maker) record(p event.Payload) uint64 {
	index := uint64(len(m.talk.Payloads))
	m.talk.Payloads = append(m.talk.Payloads, p)
	if err := m.folder.Add(store.Event{Index: index}, p); err != nil {
		panic(err) // the maker writes only what can be folded
	}
	return index
}

func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

func (m *maker) step(e abi.Event) { m.talk.Steps = append(m.talk.Steps, e) }

func (m *maker) id() uint64 {
	m.action++
	return m.action
}

// prompt accepts a turn.
func (m *maker) prompt() {
	m.turns++
	u := &event.User{Turn: m.turns, Text: m.text()}
	if m.chance(20) {
		u.Context = []event.Context{{Path: "a.go", First: 1, Last: 2, Text: m.text()}}
	}
	m.record(u)
	text := history.Prompt(u.Text, u.Context)
	m.step(abi.Event{Turn: &abi.Turn{ID: u.Turn, Prompt: text}})
	if m.running {
		m.id() // the core saves when a turn waits
	}
	m.queue = append(m.queue, waiting{m.turns, text})
}

// turn plays the next turn to its end.
func (m *maker) turn() {
	next := m.queue[0]
	m.queue = m.queue[1:]
	m.running = true
	m.core = append(m.core, abi.Message{User: &next.text})
	if m.chance(15) {
		m.compact(next.turn)
	}
	for m.round(next.turn) {
	}
}

// compact sums up what was said before a turn.
func (m *maker) compact(turn uint64) {
	if id, ok := m.folder.History().Before(turn); ok {
		m.record(&event.Summary{Text: "summary " + m.text() + ".", CoveredUpTo: id})
		m.compacted = true
	}
}

// round asks the model once and says whether the turn goes on.
func (m *maker) round(turn uint64) bool {
	if m.chance(5) {
		m.compact(turn)
	}
	ask := m.id()
	for attempt := 1; ; attempt++ {
		m.record(&event.Ask{Turn: turn, ID: ask, Attempt: attempt})
		m.talk.Asks = append(m.talk.Asks, Ask{
			ID: ask, Events: len(m.talk.Payloads), Turn: turn, Compacted: m.compacted, Core: append([]abi.Message(nil), m.core...),
		})
		m.compacted = false
		if attempt > 2 || !m.chance(10) {
			break
		}
		m.refused(turn, ask)
	}
	m.aside(turn)
	switch n := m.IntN(100); {
	case n < 6: // the model failed for good
		m.record(&event.Error{Turn: turn, Source: "network", Message: "cut"})
		m.record(&event.Note{Turn: turn, Cancels: true})
		m.step(abi.Event{Cancel: &abi.Cancel{Turn: turn}})
		m.finish(turn, "cancelled")
		return false
	case n < 12: // nothing at all
		m.record(&event.Message{Turn: turn, Ask: ask, Reasoning: new("hm")})
		m.step(abi.Event{Model: &abi.Answer{ID: ask, Reply: abi.Reply{}}})
		m.finish(turn, "complete")
		return false
	case n < 35:
		text := m.text()
		m.record(&event.Message{Turn: turn, Ask: ask, Text: &text})
		m.core = append(m.core, abi.Message{Agent: &abi.Agent{Text: &text}})
		m.step(abi.Event{Model: &abi.Answer{ID: ask, Reply: abi.Reply{Text: &text}}})
		m.record(&event.Emit{Turn: turn, ID: m.id(), Text: text})
		m.finish(turn, "complete")
		return false
	}
	return m.calls(turn, ask)
}

// refused is a reply that never reaches the core.
func (m *maker) refused(turn, ask uint64) {
	msg := &event.Message{Turn: turn, Ask: ask, Refused: true}
	for i := range 1 + m.IntN(2) {
		msg.Calls = append(msg.Calls, model.FunctionCall{ID: m.providerID(i), Name: "nosuch", Arguments: pick(m, badArguments)})
	}
	m.record(msg)
	for _, c := range msg.Calls {
		index := m.record(&event.Call{Turn: turn, ProviderID: c.ID, Name: c.Name, Arguments: c.Arguments})
		m.record(&event.Result{Turn: turn, Call: index, State: event.Failed, Text: m.text()})
	}
}

// calls is a reply with calls and their results; it says whether the turn goes
// on.
func (m *maker) calls(turn, ask uint64) bool {
	msg := &event.Message{Turn: turn, Ask: ask}
	if m.chance(50) {
		msg.Text = new(m.text())
	}
	if m.chance(30) {
		msg.Reasoning = new(m.text())
	}
	agent := &abi.Agent{Text: msg.Text}
	for i := range 1 + m.IntN(4) {
		msg.Calls = append(msg.Calls, model.FunctionCall{ID: m.providerID(i), Name: pick(m, names), Arguments: pick(m, goodArguments)})
		path := "a.go"
		if m.chance(10) {
			path = outside
		}
		agent.Calls = append(agent.Calls, abi.Dispatch{ID: m.id(), Call: abi.Call{Read: &abi.Read{Path: path}}})
	}
	reply := abi.Reply{Text: msg.Text}
	for _, d := range agent.Calls {
		reply.Calls = append(reply.Calls, d.Call)
	}
	m.step(abi.Event{Model: &abi.Answer{ID: ask, Reply: reply}})
	anchor := m.record(msg)
	m.core = append(m.core, abi.Message{Agent: agent})
	var waits []open
	for i, d := range agent.Calls {
		c := msg.Calls[i]
		inside := d.Call.Read.Path != outside
		index := m.record(&event.Call{Turn: turn, ID: d.ID, ProviderID: c.ID, Name: c.Name, Arguments: c.Arguments, Dispatched: inside})
		if inside {
			waits = append(waits, open{d.ID, index})
			continue
		}
		text := abi.Refused(outside)
		m.core = append(m.core, abi.Message{Tool: &abi.Tool{ID: d.ID, Text: text, Failed: true}})
		m.record(&event.Result{Turn: turn, ID: d.ID, Call: index, State: event.Failed, Text: text})
	}
	m.Shuffle(len(waits), func(i, k int) { waits[i], waits[k] = waits[k], waits[i] })
	for len(waits) > 0 {
		m.aside(turn)
		if m.chance(4) {
			m.cancel(turn, waits)
			return false
		}
		m.answer(turn, waits[0])
		waits = waits[1:]
	}
	if m.chance(10) {
		m.record(&event.Activation{Anchor: anchor, Defs: []jsontext.Value{
			jsontext.Value(`{"type":"function","function":{"name":"tool_` + strconv.FormatUint(anchor, 10) + `"}}`),
		}})
	}
	return true
}

// answer resolves a call, sometimes after asking the person.
func (m *maker) answer(turn uint64, w open) {
	if m.chance(10) {
		m.record(&event.Approval{Turn: turn, ID: w.id, State: "asked"})
		m.record(&event.Approval{Turn: turn, ID: w.id, State: "answered", Decision: "deny"})
	}
	state, text := pick(m, states), m.text()
	m.record(&event.Result{Turn: turn, ID: w.id, Call: w.event, State: state, Text: text})
	out := abi.Output{ID: w.id, Text: text, Failed: state != event.Completed}
	m.core = append(m.core, abi.Message{Tool: new(abi.Tool(out))})
	m.step(abi.Event{File: &out})
	if m.chance(5) {
		m.record(&event.Result{Turn: turn, ID: w.id, Call: w.event, State: event.Completed, Text: "doubled"})
	}
}

// cancel ends a turn whose calls run. Some calls stop before the turn is done,
// some after, and some never say so.
func (m *maker) cancel(turn uint64, waits []open) {
	m.record(&event.Note{Turn: turn, Cancels: true})
	m.step(abi.Event{Cancel: &abi.Cancel{Turn: turn}})
	slices.SortFunc(waits, func(a, b open) int { return cmp.Compare(a.id, b.id) }) // as the core takes them
	after := m.IntN(len(waits) + 1)
	stop := func(waits []open) {
		for _, w := range waits {
			if m.chance(80) {
				m.record(&event.Result{Turn: turn, ID: w.id, Call: w.event, State: event.Cancelled, Text: "stopped"})
			}
		}
	}
	stop(waits[:after])
	for _, w := range waits {
		m.core = append(m.core, abi.Message{Tool: &abi.Tool{ID: w.id, Text: "cancelled", Failed: true}})
	}
	m.finish(turn, "cancelled")
	stop(waits[after:])
}

func (m *maker) finish(turn uint64, outcome string) {
	m.running = false
	m.id() // the core saves when a turn ends
	m.record(&event.Done{Turn: turn, ID: m.id(), Outcome: outcome})
	if m.chance(20) {
		m.record(&event.Note{Turn: turn, Text: m.text(), Model: m.chance(50)})
	}
}

// aside is what happens beside the turn.
func (m *maker) aside(turn uint64) {
	switch n := m.IntN(100); {
	case n < 6:
		m.prompt()
	case n < 9 && len(m.queue) > 0:
		last := len(m.queue) - 1
		m.record(&event.Note{Turn: m.queue[last].turn, Cancels: true})
		m.step(abi.Event{Cancel: &abi.Cancel{Turn: m.queue[last].turn}})
		m.id() // the core saves before it says that the turn is done
		m.record(&event.Done{Turn: m.queue[last].turn, ID: m.id(), Outcome: "cancelled"})
		m.queue = m.queue[:last]
	case n < 12:
		m.record(&event.Note{Turn: turn, Text: m.text(), Model: true})
	case n < 15:
		m.record(&event.Check{Turn: turn, Root: ".", Outcome: "clean"})
	case n < 18:
		m.record(&event.Unknown{Name: "later", Raw: jsontext.Value(`{"kind":"later"}`)})
	}
}

// providerID is sometimes one that was used before, or none.
func (m *maker) providerID(i int) string {
	switch m.IntN(10) {
	case 0:
		return ""
	case 1:
		return "call_" + strconv.Itoa(i)
	default:
		return "tc_" + strconv.FormatUint(m.action, 10) + "_" + strconv.Itoa(len(m.talk.Payloads)) + "_" + strconv.Itoa(i)
	}
}

func (m *maker) text() string { return pick(m, texts) }

func pick[T any](m *maker, from []T) T { return from[m.IntN(len(from))] }

// outside is a path that the core refuses.
const outside = "../x"

var (
	names  = []string{"read", "write", "exec", "activate_tools"}
	states = []event.State{
		event.Completed, event.Completed, event.Completed, event.Failed, event.Rejected, event.Cancelled, event.Interrupted,
	}
	texts = []string{
		"", " ", "\n", "ok", "größe 漢 🦊", "line one\r\nline two\n", `a "quoted" \ word`, "<&>\u2028", "\x00\x1b[31m",
		"a longer text that a small limit cuts, with é and 👩‍👩‍👧 in it, more than once: é 👩‍👩‍👧",
	}
	goodArguments = []string{``, `{}`, `{"path":"a.go"}`, " {\"b\": [1, 2.50], \"a\":\"\\u00e9\"}\n"}
	badArguments  = []string{`{"p": "a`, `p": 1}`, `null`, `"x"`, `[1]`, `NaN`, `{"a":1,"a":2}`, `{"a":"\ud83d"}`}
)
