package abi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/internal/coretest"
	"github.com/agent-lsp/agent-lsp/core/loop"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// diff compares decoded values; an empty list is as good as none.
func diff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

// checkEvent writes and reads an event in every way there is.
func checkEvent(t *testing.T, choose coretest.Choose, ev abi.Event) {
	t.Helper()
	encoded, err := abi.AppendEvent(nil, ev)
	if err != nil {
		t.Fatal(err)
	}
	marshalled, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(marshalled), string(encoded)); d != "" {
		t.Fatal(d)
	}
	for _, spelling := range [][]byte{encoded, coretest.Respell(choose, encoded)} {
		got, err := abi.DecodeEvent(spelling)
		if err != nil {
			t.Fatalf("%v in %s", err, spelling)
		}
		var unmarshalled abi.Event
		if err := json.Unmarshal(spelling, &unmarshalled); err != nil {
			t.Fatalf("%v in %s", err, spelling)
		}
		if d := diff(ev, got) + diff(ev, unmarshalled); d != "" {
			t.Fatal(d)
		}
	}
}

func TestEventsAreWrittenAndReadAsTheJSONPackageDoes(t *testing.T) {
	for seed := range uint64(300) {
		choose := coretest.Seeded(seed)
		p := coretest.NewPlayer(choose)
		p.Saw([]abi.Action{
			{ID: 1, Op: abi.Op{Model: &abi.Ask{}}}, {ID: 2, Op: abi.Op{Exec: &abi.Exec{}}}, {ID: 18446744073709551615, Op: abi.Op{Git: &abi.Git{}}},
		})
		for range 10 {
			checkEvent(t, choose, p.Next())
		}
	}
}

func TestActionsAreWrittenAndReadAsTheJSONPackageDoes(t *testing.T) {
	for _, text := range coretest.Texts {
		actions := []abi.Action{
			{ID: 1, Op: abi.Op{Emit: &text}},
			{ID: 2, Op: abi.Op{Save: true}},
			{ID: 3, Op: abi.Op{Done: &abi.Done{Turn: 1, Outcome: abi.Outcome{Complete: true}}}},
			{ID: 4, Op: abi.Op{Done: &abi.Done{Turn: 2, Outcome: abi.Outcome{Cancelled: true}}}},
			{ID: 5, Op: abi.Op{Read: &abi.Read{Path: text}}},
			{ID: 6, Op: abi.Op{Write: &abi.Write{Path: text, Text: text}}},
			{ID: 7, Op: abi.Op{Patch: &abi.Patch{Path: text, Diff: text}}},
			{ID: 8, Op: abi.Op{Exec: &abi.Exec{Argv: []string{text, text}, Cwd: &text}}},
			{ID: 9, Op: abi.Op{Git: &abi.Git{Argv: []string{text}}}},
			{ID: 10, Op: abi.Op{Browse: &abi.Browse{URL: text, Body: &text}}},
			{ID: 10, Op: abi.Op{Tool: &abi.Use{Name: text, Arguments: text}}},
			{ID: 11, Op: abi.Op{Model: &abi.Ask{Model: &text, Messages: []abi.Message{
				{User: &text},
				{Agent: &abi.Agent{Text: &text, Calls: []abi.Dispatch{{ID: 9, Call: abi.Call{Git: &abi.Git{}}}}}},
				{Agent: &abi.Agent{}},
				{Tool: &abi.Tool{ID: 9, Text: text, Failed: true}},
			}}}},
		}
		encoded, err := abi.AppendActions(nil, actions)
		if err != nil {
			t.Fatal(err)
		}
		marshalled, err := json.Marshal(actions)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(marshalled), string(encoded)); d != "" {
			t.Fatal(d)
		}
		got, err := abi.DecodeActions(coretest.Respell(coretest.Seeded(7), encoded))
		if err != nil {
			t.Fatal(err)
		}
		var unmarshalled []abi.Action
		if err := json.Unmarshal(encoded, &unmarshalled); err != nil {
			t.Fatal(err)
		}
		if d := diff(actions, got) + diff(actions, unmarshalled); d != "" {
			t.Fatal(d)
		}
	}
}

func TestTheShapesOnTheWire(t *testing.T) {
	for want, got := range map[string]func() ([]byte, error){
		`{"model":null,"prelude":null}`: func() ([]byte, error) { return abi.AppendConfig(nil, abi.Config{}) },
		`"Timer"`:                       func() ([]byte, error) { return abi.AppendEvent(nil, abi.Event{Timer: true}) },
		`{"Cancel":{"turn":7}}`:         func() ([]byte, error) { return abi.AppendEvent(nil, abi.Event{Cancel: &abi.Cancel{Turn: 7}}) },
		`{"Turn":{"id":1,"prompt":""}}`: func() ([]byte, error) { return abi.AppendEvent(nil, abi.Event{Turn: &abi.Turn{ID: 1}}) },
		`{"Model":{"id":2,"reply":{"text":null,"calls":[{"Exec":{"argv":[],"cwd":null}}]}}}`: func() ([]byte, error) {
			return abi.AppendEvent(nil, abi.Event{Model: &abi.Answer{ID: 2, Reply: abi.Reply{Calls: []abi.Call{{Exec: &abi.Exec{}}}}}})
		},
		`{"Model":{"id":2,"reply":{"text":"","calls":[]}}}`: func() ([]byte, error) {
			return abi.AppendEvent(nil, abi.Event{Model: &abi.Answer{ID: 2, Reply: abi.Reply{Text: new("")}}})
		},
		`{"File":{"id":3,"text":"x","failed":true}}`: func() ([]byte, error) {
			return abi.AppendEvent(nil, abi.Event{File: &abi.Output{ID: 3, Text: "x", Failed: true}})
		},
		`{"Tool":{"id":3,"text":"x","failed":true}}`: func() ([]byte, error) {
			return abi.AppendEvent(nil, abi.Event{Tool: &abi.Output{ID: 3, Text: "x", Failed: true}})
		},
		`{"Rebase":{"next_id":7,"turn":2,"messages":[]}}`: func() ([]byte, error) {
			return abi.AppendEvent(nil, abi.Event{Rebase: &abi.Rebase{NextID: 7, Turn: 2}})
		},
		`{"Rebase":{"next_id":7,"turn":2,"messages":[{"User":"hi"}]}}`: func() ([]byte, error) {
			return abi.AppendEvent(nil, abi.Event{Rebase: &abi.Rebase{NextID: 7, Turn: 2, Messages: []abi.Message{{User: new("hi")}}}})
		},
		`{"Model":{"id":2,"reply":{"text":null,"calls":[{"Tool":{"name":"search","arguments":"{}"}}]}}}`: func() ([]byte, error) {
			return abi.AppendEvent(nil, abi.Event{Model: &abi.Answer{ID: 2, Reply: abi.Reply{Calls: []abi.Call{{Tool: &abi.Use{Name: "search", Arguments: "{}"}}}}}})
		},
		`[{"id":4,"op":{"Tool":{"name":"search","arguments":"{}"}}}]`: func() ([]byte, error) {
			return abi.AppendActions(nil, []abi.Action{{ID: 4, Op: abi.Op{Tool: &abi.Use{Name: "search", Arguments: "{}"}}}})
		},
		`[]`: func() ([]byte, error) { return abi.AppendActions(nil, nil) },
		`[{"id":1,"op":"Save"},{"id":2,"op":{"Done":{"turn":1,"outcome":"Complete"}}}]`: func() ([]byte, error) {
			return abi.AppendActions(nil, []abi.Action{
				{ID: 1, Op: abi.Op{Save: true}},
				{ID: 2, Op: abi.Op{Done: &abi.Done{Turn: 1, Outcome: abi.Outcome{Complete: true}}}},
			})
		},
		`{"User":"hi"}`: func() ([]byte, error) { return abi.AppendMessage(nil, abi.Message{User: new("hi")}) },
	} {
		encoded, err := got()
		if err != nil || string(encoded) != want {
			t.Errorf("got %s, %v, want %s", encoded, err, want)
		}
	}
}

// broken are events that no reader may take.
var broken = []string{
	``, ` `, `null`, `true`, `1`, `[]`, `{}`, `"Turn"`, `"timer"`, `"Bogus"`, `{"Bogus":{}}`, `"Timer" 1`, `"Timer"x`,
	`{"Timer":null}`, `{"Timer":true}`, `{"Timer":{}}`,
	`{"Turn":null}`, `{"Turn":{"id":1,"prompt":""},"Turn":{"id":1,"prompt":""}}`, `{"Turn":{"id":1,"prompt":""},"Cancel":{"turn":1}}`,
	`{"Turn":{"id":1,"prompt":"","extra":1}}`, `{"Turn":{"id":1,"id":1,"prompt":""}}`, `{"Turn":{"ID":1,"prompt":""}}`,
	`{"Turn":{"id":-1,"prompt":""}}`, `{"Turn":{"id":1.0,"prompt":""}}`, `{"Turn":{"id":1e0,"prompt":""}}`, `{"Turn":{"id":01,"prompt":""}}`,
	`{"Turn":{"id":18446744073709551616,"prompt":""}}`, `{"Turn":{"id":"1","prompt":""}}`, `{"Turn":{"id":,"prompt":""}}`,
	`{"Turn":{"id":1,"prompt":7}}`, `{"Turn":{"id":1,"prompt":"}}`, `{"Turn":{"id":1,"prompt":""}`, `{"Turn":{"id":1,"prompt":"",}}`,
	`{"Turn":{"id":1 "prompt":""}}`, `{"Turn":{,"id":1,"prompt":""}}`,
	"{\"Turn\":{\"id\":1,\"prompt\":\"\xff\"}}", "{\"Turn\":{\"id\":1,\"prompt\":\"\xed\xa0\x80\"}}", "{\"Turn\":{\"id\":1,\"prompt\":\"\n\"}}",
	`{"Turn":{"id":1,"prompt":"\ud800"}}`, `{"Turn":{"id":1,"prompt":"\udc00\ud800"}}`, `{"Turn":{"id":1,"prompt":"\ud800x"}}`,
	`{"Turn":{"id":1,"prompt":"\ud800\u0041"}}`, `{"Turn":{"id":1,"prompt":"\x41"}}`, `{"Turn":{"id":1,"prompt":"\u00g0"}}`, `{"Turn":{"id":1,"prompt":"\u00`,
	`{"Model":{"id":1}}x`, `{"Model":{"id":1,"reply":{"text":null,"calls":[null]}}}`, `{"Model":{"id":1,"reply":{"text":null,"calls":["Read"]}}}`,
	`{"Model":{"id":1,"reply":{"text":null,"calls":[{}]}}}`, `{"Model":{"id":1,"reply":{"text":null,"calls":[{"Read":null}]}}}`,
	`{"Model":{"id":1,"reply":{"text":null,"calls":[{"Read":{"path":"a"},"Git":{"argv":[]}}]}}}`,
	`{"Model":{"id":1,"reply":{"text":null,"calls":[{"Read":{"path":"a","text":"b"}}]}}}`,
	`{"Model":{"id":1,"reply":{"text":null,"calls":[{"Read":{"path":"a"}},]}}}`, `{"Model":{"id":1,"reply":{"text":null,"calls":[{"Exec":{"argv":[null],"cwd":null}}]}}}`,
	`{"Model":{"id":1,"reply":{"text":null,"calls":[{"Exec":{"argv":"ls","cwd":null}}]}}}`, `{"Model":{"id":1,"reply":null}}`, `{"Model":{"id":1,"reply":"x"}}`,
	`{"Exec":{"id":1,"text":"","failed":null}}`, `{"Exec":{"id":1,"text":"","failed":"true"}}`, `{"Exec":{"id":1,"text":null,"failed":true}}`, `{"Cancel":{"turn":null}}`,
	`{"Rebase":{"next_id":1,"turn":0,"messages":[{}]}}`, `{"Rebase":{"next_id":1,"turn":0,"messages":{}}}`, `{"Rebase":null}`, `"Rebase"`,
	`{"Rebase":{"next_id":-1,"turn":0,"messages":[]}}`, `{"Rebase":{"id":1,"next_id":1,"turn":0,"messages":[]}}`, `{"Rebase":{"next_id":1,"turn":0,"messages":["User"]}}`,
	`{"Model":{"id":1,"reply":{"text":null,"calls":[{"Tool":{"name":"a","arguments":{}}}]}}}`, `{"Model":{"id":1,"reply":{"text":null,"calls":[{"Use":{"name":"a","arguments":""}}]}}}`,
}

func TestBrokenEventsAreRefused(t *testing.T) {
	for _, text := range broken {
		if ev, err := abi.DecodeEvent([]byte(text)); err == nil {
			t.Errorf("%s was read as %+v", text, ev)
		}
		var ev abi.Event
		if err := json.Unmarshal([]byte(text), &ev); err == nil {
			t.Errorf("the json package read %s as %+v", text, ev)
		}
	}
}

// checkWithout leaves out each member of a message in turn.
func checkWithout[T any](t *testing.T, encoded []byte, decode func([]byte) (T, error)) {
	t.Helper()
	if _, err := decode(encoded); err != nil {
		t.Fatal(err)
	}
	for _, text := range coretest.Without(encoded) {
		if got, err := decode(text); err == nil {
			t.Errorf("%s was read as %+v", text, got)
		}
	}
}

func TestEveryMemberMustBeThere(t *testing.T) {
	for seed := range uint64(50) {
		p := coretest.NewPlayer(coretest.Seeded(seed))
		p.Saw([]abi.Action{{ID: 1, Op: abi.Op{Model: &abi.Ask{}}}, {ID: 2, Op: abi.Op{Exec: &abi.Exec{}}}})
		for range 20 {
			encoded, err := abi.AppendEvent(nil, p.Next())
			if err != nil {
				t.Fatal(err)
			}
			checkWithout(t, encoded, abi.DecodeEvent)
			checkWithout(t, encoded, func(data []byte) (ev abi.Event, err error) { return ev, json.Unmarshal(data, &ev) })
			config, err := abi.AppendConfig(nil, p.Config())
			if err != nil {
				t.Fatal(err)
			}
			checkWithout(t, encoded, func(data []byte) ([]byte, error) {
				s, err := loop.New(config, nil)
				if err != nil {
					t.Fatal(err)
				}
				return s.Step(data)
			})
			actions, err := abi.AppendActions(nil, []abi.Action{
				{ID: 1, Op: abi.Op{Model: &abi.Ask{Messages: []abi.Message{{Agent: &abi.Agent{Calls: []abi.Dispatch{{ID: 3, Call: p.Call()}}}}}}}},
				{ID: 2, Op: abi.Op{Done: &abi.Done{Turn: 1, Outcome: abi.Outcome{Complete: true}}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			checkWithout(t, actions, abi.DecodeActions)
		}
	}
}

func TestBrokenActionsAreRefused(t *testing.T) {
	for _, text := range []string{
		`null x`, `{}`, `[{"id":1}]`, `[{"id":1,"op":null}]`, `[{"id":1,"op":"Done"}]`, `[{"id":1,"op":{"Save":null}}]`, `[{"id":1,"op":"Emit"}]`,
		`[{"id":1,"op":{"Emit":null}}]`, `[{"id":1,"op":{"Done":{"turn":1}}}]`, `[{"id":1,"op":{"Done":{"turn":1,"outcome":null}}}]`,
		`[{"id":1,"op":{"Done":{"turn":1,"outcome":{"Complete":null}}}}]`, `[{"id":1,"op":{"Done":{"turn":1,"outcome":"complete"}}}]`,
		`[{"id":1,"op":{"Model":{"model":null,"prelude":null,"messages":[{}]}}}]`, `[{"id":1,"op":{"Model":{"model":null,"prelude":null,"messages":["User"]}}}]`,
		`[{"id":1,"op":{"Model":{"model":null,"prelude":null,"messages":[{"Agent":{"text":null,"calls":[{"id":1}]}}]}}}]`,
		`[{"id":1,"op":"Save"}`, `[{"id":1,"op":"Save"}] []`,
	} {
		if actions, err := abi.DecodeActions([]byte(text)); err == nil {
			t.Errorf("%s was read as %+v", text, actions)
		}
	}
}

func TestTheEncoderRefusesWhatNobodyCouldRead(t *testing.T) {
	bad := "a\xffb"
	for name, ev := range map[string]abi.Event{
		"no variant":         {},
		"two variants":       {Timer: true, Cancel: &abi.Cancel{Turn: 1}},
		"a prompt":           {Turn: &abi.Turn{ID: 1, Prompt: bad}},
		"half a surrogate":   {Turn: &abi.Turn{ID: 1, Prompt: "\xed\xa0\x80"}},
		"a result":           {Exec: &abi.Output{ID: 1, Text: bad}},
		"a reply":            {Model: &abi.Answer{Reply: abi.Reply{Text: &bad}}},
		"a call without any": {Model: &abi.Answer{Reply: abi.Reply{Calls: []abi.Call{{}}}}},
		"a call with two":    {Model: &abi.Answer{Reply: abi.Reply{Calls: []abi.Call{{Read: &abi.Read{}, Git: &abi.Git{}}}}}},
		"an argument":        {Model: &abi.Answer{Reply: abi.Reply{Calls: []abi.Call{{Git: &abi.Git{Argv: []string{"x", bad}}}}}}},
		"a cwd":              {Model: &abi.Answer{Reply: abi.Reply{Calls: []abi.Call{{Exec: &abi.Exec{Cwd: &bad}}}}}},
	} {
		if encoded, err := abi.AppendEvent([]byte("kept"), ev); err == nil {
			t.Errorf("%s was written as %s", name, encoded)
		}
	}
	if _, err := abi.AppendConfig(nil, abi.Config{Prelude: &bad}); err == nil {
		t.Error("a prelude that is not UTF-8 was written")
	}
	if _, err := json.Marshal(abi.Call{}); err == nil {
		t.Error("a call without a variant was marshalled")
	}
}

func TestTheTextOfARefusal(t *testing.T) {
	if got, want := abi.Refused(`..\x`), `refused: ..\x is not inside the workspace`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestADecoderReadsAGrowingConversationAsAFreshOneWould(t *testing.T) {
	var kept abi.Decoder
	var messages []abi.Message
	for i, text := range append(append([]string{}, coretest.Texts...), coretest.Texts...) {
		messages = append(messages, abi.Message{User: &text}, abi.Message{Agent: &abi.Agent{Text: &text, Calls: []abi.Dispatch{}}})
		if i == 8 { // another conversation, and one that is a cut of the one before
			messages = []abi.Message{{User: new("new")}, {User: new("more")}}
		}
		if i == 15 {
			messages = messages[:3]
		}
		if i%4 == 3 { // of the same length, but not the same
			messages = slices.Clone(messages)
			messages[0] = abi.Message{User: new(strings.Repeat(string(rune('a'+i)), len(*messages[0].User)))}
		}
		encoded, err := abi.AppendActions(nil, []abi.Action{{ID: 1, Op: abi.Op{Save: true}}, {ID: 2, Op: abi.Op{Model: &abi.Ask{Messages: messages}}}})
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 { // an answer that is cut leaves nothing behind
			if _, err := kept.Actions(encoded[:len(encoded)-7]); err == nil {
				t.Fatal("a cut answer was read")
			}
		}
		got, err := kept.Actions(encoded)
		if err != nil {
			t.Fatal(err)
		}
		clear(encoded) // nothing read may alias it
		if d := diff(messages, got[1].Op.Model.Messages); d != "" {
			t.Fatal(d)
		}
		got[1].Op.Model.Messages[0] = abi.Message{} // the caller's own
	}
}

func FuzzAnEventIsReadAsTheJSONPackageDoes(f *testing.F) {
	for _, text := range broken {
		f.Add([]byte(text))
	}
	for seed := range uint64(20) {
		encoded, _ := abi.AppendEvent(nil, coretest.NewPlayer(coretest.Seeded(seed)).Next())
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, err := abi.DecodeEvent(data)
		var other abi.Event
		if other2 := json.Unmarshal(data, &other); (err == nil) != (other2 == nil) {
			t.Fatalf("the codec says %v, the json package %v", err, other2)
		}
		if err != nil {
			return
		}
		encoded, err := abi.AppendEvent(nil, ev)
		if err != nil {
			t.Fatal(err)
		}
		again, err := abi.DecodeEvent(encoded)
		if err != nil || diff(ev, again) != "" {
			t.Fatal(err, diff(ev, again))
		}
	})
}

func TestLiteralsAreCanonical(t *testing.T) {
	long := strings.Repeat("x", 61)
	for _, text := range append(coretest.Texts, long+"\n", long+"\u00e9", "\x10\x0b\x1b", "1234567\"", "1234567\\", "12345678\"\u20ac") {
		for pad := range 9 {
			text := strings.Repeat("p", pad) + text
			lit, valid := abi.AppendQuoted(nil, text)
			want, err := json.Marshal(text)
			if err != nil || !valid || string(lit) != string(want) {
				t.Fatalf("got %s, want %s", lit, want)
			}
			for _, spelling := range [][]byte{lit, coretest.Respell(coretest.Seeded(uint64(pad)), lit)} {
				r := abi.NewReader(append(spelling, "      "...))
				got := r.Literal()
				if err := r.End(); err != nil || string(got) != string(want) {
					t.Fatalf("%s was read as %s, %v", spelling, got, err)
				}
				if abi.Unquote(got) != text {
					t.Fatalf("%s means %q", got, abi.Unquote(got))
				}
			}
		}
	}
}
