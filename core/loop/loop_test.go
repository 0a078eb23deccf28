package loop_test

import (
	"bytes"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/internal/coretest"
	"github.com/agent-lsp/agent-lsp/core/loop"
	"github.com/google/go-cmp/cmp"
)

// run is a session under test.
type run struct {
	t *testing.T
	*loop.Session
}

func begin(t *testing.T, c abi.Config) run {
	t.Helper()
	encoded, err := abi.AppendConfig(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := loop.New(encoded, nil)
	if err != nil {
		t.Fatal(err)
	}
	return run{t, s}
}

// tell steps the session and returns its result as text.
func (r run) tell(ev abi.Event) string {
	r.t.Helper()
	encoded, err := abi.AppendEvent(nil, ev)
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := r.Step(encoded)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(answer)
}

// check is tell and a look at the result.
func (r run) check(ev abi.Event, want ...abi.Action) {
	r.t.Helper()
	encoded, err := abi.AppendActions(nil, want)
	if err != nil {
		r.t.Fatal(err)
	}
	if d := cmp.Diff(string(encoded), r.tell(ev)); d != "" {
		r.t.Fatal(d)
	}
}

func (r run) restored() run {
	r.t.Helper()
	s, err := loop.Restore(bytes.Clone(r.Snapshot()), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return run{r.t, s}
}

// play drives the fast loop and the oracle by the same choices, the fast one in
// another spelling and through a snapshot now and then.
func play(t *testing.T, choose coretest.Choose, events int) {
	p := coretest.NewPlayer(choose)
	config := p.Config()
	o := newOracle(config)
	r := begin(t, config)
	for range events {
		ev := p.Next()
		actions := o.step(ev)
		p.Saw(actions)
		want, err := abi.AppendActions(nil, actions)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := abi.AppendEvent(nil, ev)
		if err != nil {
			t.Fatal(err)
		}
		if choose(3) == 0 {
			encoded = coretest.Respell(choose, encoded)
		}
		answer, err := r.Step(encoded)
		if err != nil {
			t.Fatalf("%v in %s", err, encoded)
		}
		if d := cmp.Diff(string(want), string(answer)); d != "" {
			t.Fatalf("to %s\n%s", encoded, d)
		}
		if choose(5) == 0 {
			before := bytes.Clone(r.Snapshot())
			r = r.restored()
			if !bytes.Equal(before, r.Snapshot()) {
				t.Fatal("a restored session has another snapshot")
			}
		}
	}
}

func TestTheLoopAnswersAsTheOracleDoes(t *testing.T) {
	for seed := range uint64(200) {
		play(t, coretest.Seeded(seed), 60)
	}
}

func FuzzTheLoopAnswersAsTheOracleDoes(f *testing.F) {
	f.Add([]byte("\x01\x02\x03 some choices"))
	f.Fuzz(func(t *testing.T, data []byte) {
		play(t, coretest.FromBytes(data), min(len(data)/4, 200))
	})
}

func user(text string) abi.Message { return abi.Message{User: &text} }

func agent(text *string, calls ...abi.Dispatch) abi.Message {
	return abi.Message{Agent: &abi.Agent{Text: text, Calls: calls}}
}

func tool(id uint64, text string, failed bool) abi.Message {
	return abi.Message{Tool: &abi.Tool{ID: id, Text: text, Failed: failed}}
}

func ask(id uint64, messages ...abi.Message) abi.Action {
	return abi.Action{ID: id, Op: abi.Op{Model: &abi.Ask{Messages: messages}}}
}

func save(id uint64) abi.Action { return abi.Action{ID: id, Op: abi.Op{Save: true}} }

func emit(id uint64, text string) abi.Action { return abi.Action{ID: id, Op: abi.Op{Emit: &text}} }

func done(id, turn uint64, how abi.Outcome) abi.Action {
	return abi.Action{ID: id, Op: abi.Op{Done: &abi.Done{Turn: turn, Outcome: how}}}
}

func action(id uint64, c abi.Call) abi.Action {
	return abi.Action{ID: id, Op: abi.Op{Read: c.Read, Write: c.Write, Patch: c.Patch, Exec: c.Exec, Git: c.Git, Browse: c.Browse, Tool: c.Tool}}
}

func turn(id uint64, prompt string) abi.Event {
	return abi.Event{Turn: &abi.Turn{ID: id, Prompt: prompt}}
}

func reply(id uint64, text *string, calls ...abi.Call) abi.Event {
	return abi.Event{Model: &abi.Answer{ID: id, Reply: abi.Reply{Text: text, Calls: calls}}}
}

func output(id uint64, text string) *abi.Output { return &abi.Output{ID: id, Text: text} }

func cancel(id uint64) abi.Event { return abi.Event{Cancel: &abi.Cancel{Turn: id}} }

var (
	complete  = abi.Outcome{Complete: true}
	cancelled = abi.Outcome{Cancelled: true}
	read      = abi.Call{Read: &abi.Read{Path: "a.go"}}
	exec      = abi.Call{Exec: &abi.Exec{Argv: []string{"go", "test"}, Cwd: new("sub")}}
	git       = abi.Call{Git: &abi.Git{Argv: []string{"status"}}}
	use       = abi.Call{Tool: &abi.Use{Name: "search", Arguments: `{"pattern":"../x"}`}}
	browse    = abi.Call{Browse: &abi.Browse{URL: "https://example.com"}}
	escaping  = abi.Call{Read: &abi.Read{Path: "../up"}}
)

func dispatched(id uint64, c abi.Call) abi.Dispatch { return abi.Dispatch{ID: id, Call: c} }

func TestATurnWithCallsOfEveryFamily(t *testing.T) {
	r := begin(t, abi.Config{})
	r.check(turn(1, "go"), ask(1, user("go")))
	calls := []abi.Call{
		read, exec, git, browse,
		{Write: &abi.Write{Path: "b", Text: "x\n"}},
		{Patch: &abi.Patch{Path: "b", Diff: "@@"}},
		use,
	}
	r.check(reply(1, new("I look"), calls...),
		action(2, calls[0]), action(3, calls[1]), action(4, calls[2]), action(5, calls[3]), action(6, calls[4]), action(7, calls[5]), action(8, calls[6]))
	r.check(abi.Event{File: output(7, "seven")})
	r.check(abi.Event{Browse: output(5, "five")})
	r.check(abi.Event{File: output(2, "two")})
	r.check(abi.Event{Git: &abi.Output{ID: 4, Text: "four", Failed: true}})
	r.check(abi.Event{File: output(6, "six")})
	r.check(abi.Event{Tool: output(8, "eight")})
	said := agent(new("I look"), dispatched(2, calls[0]), dispatched(3, calls[1]), dispatched(4, calls[2]),
		dispatched(5, calls[3]), dispatched(6, calls[4]), dispatched(7, calls[5]), dispatched(8, calls[6]))
	r.check(abi.Event{Exec: output(3, "three")}, ask(9, user("go"), said,
		tool(7, "seven", false), tool(5, "five", false), tool(2, "two", false), tool(4, "four", true), tool(6, "six", false), tool(8, "eight", false), tool(3, "three", false)))
	r.check(reply(9, new("done")), emit(10, "done"), save(11), done(12, 1, complete))
}

func TestAReplyWithoutTextAddsNothingAndEmptyTextIsText(t *testing.T) {
	r := begin(t, abi.Config{Model: new("m"), Prelude: new("p\n")})
	with := func(id uint64, messages ...abi.Message) abi.Action {
		return abi.Action{ID: id, Op: abi.Op{Model: &abi.Ask{Model: new("m"), Prelude: new("p\n"), Messages: messages}}}
	}
	r.check(turn(1, "a"), with(1, user("a")))
	r.check(reply(1, nil), save(2), done(3, 1, complete))
	r.check(turn(2, "b"), with(4, user("a"), user("b")))
	r.check(reply(4, new("")), emit(5, ""), save(6), done(7, 2, complete))
	r.check(turn(3, "c"), with(8, user("a"), user("b"), agent(new("")), user("c")))
}

func TestATurnIsTakenOnce(t *testing.T) {
	r := begin(t, abi.Config{})
	r.check(turn(0, "never"))
	r.check(turn(5, "a"), ask(1, user("a")))
	before := bytes.Clone(r.Snapshot())
	for _, id := range []uint64{0, 1, 4, 5} {
		r.check(turn(id, "again"))
	}
	if !bytes.Equal(before, r.Snapshot()) {
		t.Fatal("a turn that came again changed the session")
	}
	r.check(turn(7, "b"), save(2))
	r.check(turn(6, "late"))
	r.check(turn(7, "b"))
}

func TestQueuedTurnsRunInOrderAndCanBeCancelled(t *testing.T) {
	r := begin(t, abi.Config{})
	r.check(turn(1, "a"), ask(1, user("a")))
	r.check(turn(2, "b"), save(2))
	r.check(turn(3, "c"), save(3))
	r.check(turn(4, "d"), save(4))
	r.check(cancel(3), save(5), done(6, 3, cancelled))
	r.check(cancel(3))
	r.check(cancel(9))
	r.check(cancel(0))
	r.check(reply(1, new("A")), emit(7, "A"), save(8), done(9, 1, complete), ask(10, user("a"), agent(new("A")), user("b")))
	r.check(turn(3, "c"))
	r.check(cancel(1))
	r.check(cancel(2), save(11), done(12, 2, cancelled), ask(13, user("a"), agent(new("A")), user("b"), user("d")))
	r.check(reply(10, new("late")))
	r.check(reply(13, nil), save(14), done(15, 4, complete))
}

func TestACancelAnswersEveryCallAndLateResultsChangeNothing(t *testing.T) {
	r := begin(t, abi.Config{})
	r.check(turn(1, "a"), ask(1, user("a")))
	r.check(reply(1, nil, read, escaping, exec, git), action(2, read), action(4, exec), action(5, git))
	r.check(abi.Event{Exec: output(4, "ran")})
	r.check(cancel(1), save(6), done(7, 1, cancelled))
	before := bytes.Clone(r.Snapshot())
	r.check(abi.Event{File: output(2, "late")})
	r.check(abi.Event{Git: output(5, "late")})
	r.check(cancel(1))
	if !bytes.Equal(before, r.Snapshot()) {
		t.Fatal("a late result changed the session")
	}
	r.check(turn(2, "b"), ask(8, user("a"),
		agent(nil, dispatched(2, read), dispatched(3, escaping), dispatched(4, exec), dispatched(5, git)),
		tool(3, abi.Refused("../up"), true), tool(4, "ran", false), tool(2, "cancelled", true), tool(5, "cancelled", true), user("b")))
}

// TestEveryCallHasOneResultBeforeTheNextAsk goes through all orders in which
// two results, one of them a refusal by the person, a second copy of each and a
// cancel can arrive.
func TestEveryCallHasOneResultBeforeTheNextAsk(t *testing.T) {
	events := []abi.Event{
		{File: &abi.Output{ID: 2, Text: "done"}},
		{Exec: &abi.Output{ID: 3, Text: "rejected: by the user", Failed: true}},
		cancel(1),
		{File: &abi.Output{ID: 2, Text: "late"}},
		{Exec: &abi.Output{ID: 3, Text: "late"}},
	}
	var orders func(rest []abi.Event, order []abi.Event)
	orders = func(rest, order []abi.Event) {
		if len(rest) == 0 {
			checkOrder(t, order)
		}
		for i := range rest {
			next := append(append([]abi.Event{}, rest[:i]...), rest[i+1:]...)
			orders(next, append(append([]abi.Event{}, order...), rest[i]))
		}
	}
	orders(events, nil)
}

func checkOrder(t *testing.T, order []abi.Event) {
	t.Helper()
	r := begin(t, abi.Config{})
	r.tell(turn(1, "a"))
	r.tell(reply(1, nil, read, exec))
	asks := 0
	for _, ev := range append(order, turn(2, "b")) {
		actions, err := abi.DecodeActions([]byte(r.tell(ev)))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range actions {
			if a.Op.Model == nil {
				continue
			}
			asks++
			results := map[uint64]int{}
			for _, m := range a.Op.Model.Messages {
				if m.Tool != nil {
					results[m.Tool.ID]++
				}
			}
			if results[2] != 1 || results[3] != 1 || len(results) != 2 {
				t.Fatalf("an ask with results %v after %v", results, order)
			}
		}
	}
	if asks == 0 {
		t.Fatal("nothing was asked")
	}
}

func TestResultsAreTakenOnlyForTheirFamilyAndOnce(t *testing.T) {
	r := begin(t, abi.Config{})
	r.check(turn(1, "a"), ask(1, user("a")))
	r.check(reply(1, nil, read, exec, git, browse, use), action(2, read), action(3, exec), action(4, git), action(5, browse), action(6, use))
	before := bytes.Clone(r.Snapshot())
	for id := range uint64(9) {
		for family, ev := range map[uint64]abi.Event{2: {File: output(id, "x")}, 3: {Exec: output(id, "x")}, 4: {Git: output(id, "x")}, 5: {Browse: output(id, "x")}, 6: {Tool: output(id, "x")}} {
			if family != id {
				r.check(ev)
			}
		}
		r.check(reply(id, new("x")))
	}
	if !bytes.Equal(before, r.Snapshot()) {
		t.Fatal("a result that nobody awaits changed the session")
	}
	r.check(abi.Event{File: output(2, "x")})
	r.check(abi.Event{File: output(2, "again")})
	r.check(abi.Event{Exec: output(3, "x")})
	r.check(abi.Event{Git: output(4, "x")})
	r.check(abi.Event{Browse: output(5, "x")})
	r.check(abi.Event{Tool: output(6, "x")}, ask(7, user("a"),
		agent(nil, dispatched(2, read), dispatched(3, exec), dispatched(4, git), dispatched(5, browse), dispatched(6, use)),
		tool(2, "x", false), tool(3, "x", false), tool(4, "x", false), tool(5, "x", false), tool(6, "x", false)))
}

func TestTheTimerSavesOnceAfterAChange(t *testing.T) {
	timer := abi.Event{Timer: true}
	r := begin(t, abi.Config{})
	r.check(timer)
	r.check(turn(1, "a"), ask(1, user("a")))
	r.check(timer, save(2))
	r.check(timer)
	r.check(turn(1, "a"))
	r.check(timer)
	r.check(reply(1, nil, read, exec), action(3, read), action(4, exec))
	r.check(timer, save(5))
	r.check(abi.Event{File: output(3, "x")})
	r = r.restored()
	r.check(timer, save(6))
	r.check(timer)
	r.tell(abi.Event{Exec: output(4, "x")})
	r.check(reply(7, nil), save(8), done(9, 1, complete))
	r.check(timer)
}
