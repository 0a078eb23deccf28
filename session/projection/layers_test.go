package projection

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/go-json-experiment/json/jsontext"
)

// with is the default configuration with a change.
func with(change func(*Config)) *Config {
	cfg := Default()
	change(&cfg)
	return &cfg
}

func TestOnlyTheBaseLayerCarriesTheCacheBreakpoint(t *testing.T) {
	check(t, given{
		history: talk(say("hi")), model: Model{PromptCache: true},
		system: System{Base: "BASE", Static: []string{"one"}, Dynamic: []string{"now"}},
	}, `
{"role":"system","content":[{"type":"text","text":"BASE","cache_control":{"type":"ephemeral"}}]}
{"role":"system","content":"one"}
{"role":"user","content":"hi"}
{"role":"system","content":"now"}`)
}

func TestBlankLayersAreLeftOut(t *testing.T) {
	check(t, given{
		history: talk(say("hi")), model: Model{PromptCache: true},
		system: System{Static: []string{"", "\n"}, Dynamic: []string{"", "now", " "}, Reminder: new("")},
	}, `
{"role":"user","content":"hi"}
{"role":"system","content":"now"}`)
	check(t, given{history: talk(say("hi")), system: System{Dynamic: []string{""}}}, `{"role":"user","content":"hi"}`)
}

func TestTheTailSeparatorStandsBetweenDynamicLayers(t *testing.T) {
	check(t, given{
		config: with(func(c *Config) { c.TailSeparator = " | " }),
		system: System{Dynamic: []string{"a", "b"}},
	}, `{"role":"system","content":"a | b"}`)
}

func TestTheSummaryReplacesWhatItCovers(t *testing.T) {
	h := talk(say("old question"), reply("old answer"), say("new question"), reply("new answer"))
	h.Summary = &history.Summary{Text: "They discussed old stuff.", CoveredUpTo: 2}
	check(t, given{history: h, system: System{Base: "BASE", Static: []string{"rules"}}}, `
{"role":"system","content":"BASE"}
{"role":"system","content":"rules"}
{"role":"system","content":"[CONTEXT SUMMARY — earlier messages were compacted into this summary]\n\nThey discussed old stuff."}
{"role":"user","content":"new question"}
{"role":"assistant","content":"new answer"}`)
	h.Summary.CoveredUpTo = 1 // an answer may be the first to survive
	check(t, given{
		history: h, config: with(func(c *Config) { c.SummarySuffix = new("[End of summary]") }),
	}, `
{"role":"system","content":"[CONTEXT SUMMARY — earlier messages were compacted into this summary]\n\nThey discussed old stuff.\n\n[End of summary]"}
{"role":"assistant","content":"old answer"}
{"role":"user","content":"new question"}
{"role":"assistant","content":"new answer"}`)
	h.Summary = &history.Summary{CoveredUpTo: 4} // a summary that says nothing covers nothing
	check(t, given{history: h}, `
{"role":"user","content":"old question"}
{"role":"assistant","content":"old answer"}
{"role":"user","content":"new question"}
{"role":"assistant","content":"new answer"}`)
}

func TestTheWindowOpensOnAUser(t *testing.T) {
	a := func(id string) history.Message { return reply("", call(id, "x", history.Done, "r"+id)) }
	for _, c := range []struct {
		name   string
		talk   []history.Message
		max    int
		opens  string // the first message shown
		length int    // messages on the wire, results included
	}{
		{"under the limit", []history.Message{say("u"), a("1"), say("v")}, 3, `"content":"u"`, 4},
		{"no limit", []history.Message{say("u"), a("1"), say("v")}, 0, `"content":"u"`, 4},
		{"on an answer", []history.Message{say("u"), a("1"), say("v")}, 2, `"content":"v"`, 1},
		{"on the second of two answers", []history.Message{say("u"), a("1"), a("2"), say("v"), a("3")}, 3, `"content":"v"`, 3},
		{"on the first of two answers", []history.Message{say("u"), a("1"), a("2"), say("v")}, 3, `"content":"v"`, 1},
		{"inside one long turn", []history.Message{say("t"), a("0"), say("u"), a("1"), a("2"), a("3")}, 2, `"content":"u"`, 7},
		{"without any user", []history.Message{a("1"), a("2"), a("3")}, 2, `"id":"1"`, 6},
		{"on a system message", []history.Message{say("u"), {Role: history.System, Text: "s"}, a("1"), say("v")}, 3, `"content":"s"`, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := wireOf(t, given{history: talk(c.talk...), config: with(func(cfg *Config) { cfg.MaxMessages = c.max })})
			if len(got) != c.length || !strings.Contains(got[0], c.opens) {
				t.Errorf("%d messages, want %d that open with %s:\n%s", len(got), c.length, c.opens, strings.Join(got, "\n"))
			}
		})
	}
}

func TestTheWindowCountsWhatTheSummaryLeaves(t *testing.T) {
	h := talk(say("a"), reply("b"), say("c"), reply("d"), say("e"))
	h.Summary = &history.Summary{Text: "s", CoveredUpTo: 2}
	check(t, given{history: h, config: with(func(c *Config) { c.MaxMessages, c.SummaryPrefix = 3, "" })}, `
{"role":"system","content":"s"}
{"role":"user","content":"c"}
{"role":"assistant","content":"d"}
{"role":"user","content":"e"}`)
}

func TestEveryCutOfAConversationKeepsPairs(t *testing.T) {
	rounds := func(n string) []history.Message {
		return []history.Message{say("u" + n), reply("", call("a"+n, "x", history.Done, "r1"), call("b"+n, "x", history.Failed, "r2")), reply("", call("c"+n, "x", history.Done, "r3")), reply("text")}
	}
	h := talk(append(append(rounds("1"), rounds("2")...), say("u3"))...)
	for covered := range uint64(len(h.Messages)) {
		for window := range len(h.Messages) + 1 {
			h.Summary = &history.Summary{Text: "s", CoveredUpTo: covered}
			if covered == 0 {
				h.Summary = nil
			}
			got, err := Project(t.Context(), h, System{}, Model{}, *with(func(c *Config) { c.MaxMessages = window }), Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, got)
			if covered > 0 {
				got = got[1:]
			}
			// The one limit on messages does not count results.
			kept := 0
			for _, m := range got {
				if !strings.HasPrefix(string(m), `{"role":"tool"`) {
					kept++
				}
			}
			cut := window > 0 && len(h.Messages)-int(covered) > window
			if cut && kept > window || !cut && kept != len(h.Messages)-int(covered) {
				t.Errorf("%d messages covered, a window of %d: %d are shown", covered, window, kept)
			}
			if (cut || covered == 0) && !strings.HasPrefix(string(got[0]), `{"role":"user"`) {
				t.Errorf("%d messages covered, a window of %d: it opens with %s", covered, window, got[0])
			}
		}
	}
}

func TestFailedMessagesAreLeftOut(t *testing.T) {
	orphan := say("orphan")
	orphan.Failed = true
	broken := reply("broken", call("c1", "x", history.Done, "r"))
	broken.Failed = true
	check(t, given{history: talk(say("u"), orphan, broken, reply("a"))}, `
{"role":"user","content":"u"}
{"role":"assistant","content":"a"}`)
}

func TestRolesOnTheWire(t *testing.T) {
	check(t, given{history: talk(
		say("one"), say("two"), history.Message{Role: history.Agent, Text: "from another"}, reply("a"),
		history.Message{Role: history.System, Text: "stored"}, say("three"))}, `
{"role":"user","content":"one\n\ntwo\n\nfrom another"}
{"role":"assistant","content":"a"}
{"role":"system","content":"stored"}
{"role":"user","content":"three"}`)
}

func TestAnUnknownRoleIsAnError(t *testing.T) {
	_, err := Project(t.Context(), talk(say("u"), history.Message{Role: "tool"}), System{}, Model{}, Default(), Hooks{})
	if err == nil || !strings.Contains(err.Error(), `message 2: role "tool"`) {
		t.Errorf("Project = %v, want an error that names message 2 and its role", err)
	}
}

func TestNothingIsSentEmpty(t *testing.T) {
	thought := reply("")
	thought.Reasoning = new("hm")
	check(t, given{history: talk(
		say(""), thought, reply(" \n", call("c1", "mkdir", history.Done, "")), reply("\n"), say(" "), reply("a"), say(""), say("x"))}, `
{"role":"user","content":"(empty message)"}
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"mkdir","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"(no output)"}
{"role":"user","content":"(empty message)"}
{"role":"assistant","content":"a"}
{"role":"user","content":"x"}`)
}

func TestResultTexts(t *testing.T) {
	configured := Config{InterruptedText: "INT", RejectedDefault: "REJ", CancelledDefault: "CAN"}
	for _, c := range []struct {
		call       history.Call
		cfg        Config
		want, name string
	}{
		{name: "done", call: call("", "", history.Done, "r"), want: "r"},
		{name: "done, none", call: call("", "", history.Done), want: "(no output)"},
		{name: "failed", call: call("", "", history.Failed, "r"), want: "Error: r"},
		{name: "failed, empty", call: call("", "", history.Failed, ""), want: "Error: "},
		{name: "failed, none", call: call("", "", history.Failed), want: "Error: unknown error"},
		{name: "rejected", call: call("", "", history.Rejected, "r"), cfg: configured, want: "r"},
		{name: "rejected, empty", call: call("", "", history.Rejected, ""), cfg: configured, want: "REJ"},
		{name: "rejected, none, no default", call: call("", "", history.Rejected), want: "rejected"},
		{name: "cancelled", call: call("", "", history.Cancelled, "r"), cfg: configured, want: "r"},
		{name: "cancelled, none", call: call("", "", history.Cancelled), cfg: configured, want: "CAN"},
		{name: "cancelled, none, no default", call: call("", "", history.Cancelled), want: "cancelled"},
		{name: "running", call: call("", "", history.Running, "part"), cfg: configured, want: "INT"},
		{name: "awaiting", call: call("", "", history.Awaiting), cfg: configured, want: "INT"},
		{
			name: "running, default", call: call("", "", history.Running), cfg: Default(),
			want: "[interrupted: this tool call did not complete — the session restarted before a result was recorded]",
		},
		{name: "running, nothing configured", call: call("", "", history.Running), want: "interrupted"},
	} {
		if got := resultText(c.call, c.cfg); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestReasoningIsEchoedNeverEmpty(t *testing.T) {
	a, empty, silent := reply("a"), reply("b"), reply("", call("c1", "x", history.Done, "r"))
	a.Reasoning, empty.Reasoning = new("because"), new("")
	h := talk(say("q"), a, say("q"), empty, say("q"), silent)
	check(t, given{history: h}, `
{"role":"user","content":"q"}
{"role":"assistant","content":"a","reasoning_content":"because"}
{"role":"user","content":"q"}
{"role":"assistant","content":"b"}
{"role":"user","content":"q"}
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"x","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"r"}`)
	check(t, given{history: h, config: with(func(c *Config) {
		c.ReasoningEcho, c.ReasoningPlaceholder = Both, new("(none)")
	})}, `
{"role":"user","content":"q"}
{"role":"assistant","content":"a","reasoning_content":"because","reasoning":"because"}
{"role":"user","content":"q"}
{"role":"assistant","content":"b"}
{"role":"user","content":"q"}
{"role":"assistant","content":"","reasoning_content":"(none)","reasoning":"(none)","tool_calls":[{"id":"c1","type":"function","function":{"name":"x","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"r"}`)
}

func TestSealedReasoningGoesToWhoReadsIt(t *testing.T) {
	called, said, torn := reply("a", call("c1", "x", history.Done, "r")), reply("b"), reply("", call("c2", "x", history.Done, "r"))
	called.Reasoning, called.Sealed, said.Sealed, torn.Sealed = new("hm"), jsontext.Value(`{"by":"m"}`), jsontext.Value(`{"by":"m"}`), jsontext.Value(`{"by"`)
	h := talk(say("q"), called, torn, said)
	const want = `
{"role":"user","content":"q"}
{"role":"assistant","content":"a","reasoning_content":"hm","_sealed":{"by":"m"},"tool_calls":[{"id":"c1","type":"function","function":{"name":"x","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"r"}
{"role":"assistant","content":"","tool_calls":[{"id":"c2","type":"function","function":{"name":"x","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c2","content":"r"}
{"role":"assistant","content":"b"}`
	check(t, given{history: h, model: Model{Sealed: true}}, want)
	check(t, given{history: h}, strings.Replace(want, `,"_sealed":{"by":"m"}`, "", 1))
}

func TestArgumentsStayAsTheModelWroteThem(t *testing.T) {
	c := call("c1", "write", history.Done, "ok")
	c.Arguments = "{ \"z\": \"<&>\",\n\"a\":1.0 }"
	check(t, given{history: talk(say("go"), reply("", c))}, `
{"role":"user","content":"go"}
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"write","arguments":"{ \"z\": \"<&>\",\n\"a\":1.0 }"}}]}
{"role":"tool","tool_call_id":"c1","content":"ok"}`)
}

func TestProviderIDsAreUniqueAndNeverEmpty(t *testing.T) {
	c := call("", "x", history.Done, "r")
	c.ID = 7
	check(t, given{history: talk(
		say("go"), reply("", call("a", "x", history.Done, "1"), call("a", "x", history.Done, "2"), c),
		reply("", call("a_2", "x", history.Done, "3"), call("a", "x", history.Done, "4")))}, `
{"role":"user","content":"go"}
{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}},{"id":"a_2","type":"function","function":{"name":"x","arguments":"{}"}},{"id":"call_7","type":"function","function":{"name":"x","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"a","content":"1"}
{"role":"tool","tool_call_id":"a_2","content":"2"}
{"role":"tool","tool_call_id":"call_7","content":"r"}
{"role":"assistant","content":"","tool_calls":[{"id":"a_2_2","type":"function","function":{"name":"x","arguments":"{}"}},{"id":"a_3","type":"function","function":{"name":"x","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"a_2_2","content":"3"}
{"role":"tool","tool_call_id":"a_3","content":"4"}`)
}

func TestNamesThatNoProviderTakesAreMended(t *testing.T) {
	long := strings.Repeat("n", 70)
	for name, want := range map[string]string{
		"read": "read", "mcp__gmail__send-all": "mcp__gmail__send-all", "functions.read": "functions_read",
		"größe file": "gr__e_file", "": "unnamed", long: long[:64], "aÿ": "a_",
	} {
		if got := toolName(name); got != want {
			t.Errorf("toolName(%q) = %q, want %q", name, got, want)
		}
	}
	check(t, given{history: talk(say("go"), reply("", call("c1", "no such", history.Failed, "no tool is named \"no such\"")))}, `
{"role":"user","content":"go"}
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"no_such","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"Error: no tool is named \"no such\""}`)
}

func activation(anchor uint64, names ...string) history.Activation {
	a := history.Activation{Anchor: anchor}
	for _, n := range names {
		a.Defs = append(a.Defs, jsontext.Value(`{"type":"function","function":{"name":"`+n+`"}}`))
	}
	return a
}

func TestActivationModes(t *testing.T) {
	h := talk(say("use mail"), reply("activating", call("c1", "read", history.Done, "file"), call("c2", "activate_tools", history.Done, "activated")), reply("ok"))
	h.Activations = []history.Activation{activation(2, "send"), activation(2, "list")}
	h.Activations[1].Defs = append(h.Activations[1].Defs, jsontext.Value(`{"function":{"name":7}}`), jsontext.Value(`{not json`), jsontext.Value(`7`))
	anchor := with(func(c *Config) { c.ActivationAnchorTool = "activate_tools" })
	const head = `
{"role":"user","content":"use mail"}
{"role":"assistant","content":"activating","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"activate_tools","arguments":"{}"}}]}
`
	check(t, given{history: h, config: anchor}, head+`{"role":"tool","tool_call_id":"c1","content":"file"}
{"role":"tool","tool_call_id":"c2","content":"activated"}
{"role":"assistant","content":"ok"}`)
	check(t, given{history: h, config: anchor, model: Model{Rendering: DeferredToolReference}}, head+`{"role":"tool","tool_call_id":"c1","content":"file"}
{"role":"tool","tool_call_id":"c2","content":"activated","_tool_references":["send","list"]}
{"role":"assistant","content":"ok"}`)
	check(t, given{history: h, model: Model{Rendering: DeferredToolReference}}, head+`{"role":"tool","tool_call_id":"c1","content":"file","_tool_references":["send","list"]}
{"role":"tool","tool_call_id":"c2","content":"activated"}
{"role":"assistant","content":"ok"}`)
	other := with(func(c *Config) { c.ActivationAnchorTool = "another" })
	check(t, given{history: h, config: other, model: Model{Rendering: DeferredToolReference}}, head+`{"role":"tool","tool_call_id":"c1","content":"file"}
{"role":"tool","tool_call_id":"c2","content":"activated"}
{"role":"assistant","content":"ok"}`)
	check(t, given{history: h, config: anchor, model: Model{Rendering: SystemToolBlock}}, head+`{"role":"tool","tool_call_id":"c1","content":"file"}
{"role":"tool","tool_call_id":"c2","content":"activated"}
{"role":"system","tools":[{"type":"function","function":{"name":"send"}},{"type":"function","function":{"name":"list"}},{"function":{"name":7}}]}
{"role":"assistant","content":"ok"}`)
}

func TestActivationsSurviveACompaction(t *testing.T) {
	h := talk(say("a"), reply("", call("c1", "activate_tools", history.Done, "activated")), say("b"), reply("plain"), say("c"), reply("", call("c2", "read", history.Done, "r")))
	h.Activations = []history.Activation{activation(3, "on a user"), activation(2, "covered")}
	h.Summary = &history.Summary{Text: "s", CoveredUpTo: 2}
	cfg := with(func(c *Config) { c.SummaryPrefix, c.ActivationAnchorTool = "", "activate_tools" })
	const head = `
{"role":"system","content":"s"}
{"role":"user","content":"b"}
{"role":"assistant","content":"plain"}
{"role":"user","content":"c"}
{"role":"assistant","content":"","tool_calls":[{"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]}
`
	check(t, given{history: h, config: cfg, model: Model{Rendering: DeferredToolReference}}, head+`
{"role":"tool","tool_call_id":"c2","content":"r","_tool_references":["covered","on a user"]}`[1:])
	check(t, given{history: h, config: cfg, model: Model{Rendering: SystemToolBlock}}, head+`
{"role":"tool","tool_call_id":"c2","content":"r"}
{"role":"system","tools":[{"type":"function","function":{"name":"covered"}},{"type":"function","function":{"name":"on a user"}}]}`[1:])
	h.Messages = h.Messages[:5] // nothing to tell it at yet
	check(t, given{history: h, config: cfg, model: Model{Rendering: SystemToolBlock}}, `
{"role":"system","content":"s"}
{"role":"user","content":"b"}
{"role":"assistant","content":"plain"}
{"role":"user","content":"c"}`)
}

func TestReasoningGoesToItsOwnModel(t *testing.T) {
	h := talk(say("go"), reply("a", call("c1", "x", history.Done, "r")), reply("b", call("c2", "x", history.Done, "r")), reply("c", call("c3", "x", history.Done, "r")))
	for i, profile := range []string{"one", "two", ""} {
		h.Messages[1+i].Reasoning, h.Messages[1+i].Profile = new("thought "+profile), profile
	}
	for name, c := range map[string]struct {
		profile string
		echo    ReasoningEcho
		want    []string
	}{
		"one":     {"one", ContentOnly, []string{"thought one", "thought "}},
		"two":     {"two", ContentOnly, []string{"thought two", "thought "}},
		"anybody": {"", ContentOnly, []string{"thought one", "thought two", "thought "}},
		"off":     {"one", Off, nil},
	} {
		wire := strings.Join(wireOf(t, given{history: h, model: Model{Profile: c.profile}, config: with(func(cfg *Config) { cfg.ReasoningEcho = c.echo })}), "\n")
		for _, text := range []string{"thought one", "thought two", "thought "} {
			if got, want := strings.Contains(wire, `"reasoning_content":"`+text+`"`), slices.Contains(c.want, text); got != want {
				t.Errorf("%s: %q is sent: %v, want %v", name, text, got, want)
			}
		}
	}
}
