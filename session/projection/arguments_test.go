package projection

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/go-json-experiment/json"
)

func TestArgumentsAreAlwaysAnObject(t *testing.T) {
	for _, c := range []struct {
		raw, want string
		lost      bool
	}{
		{``, `{}`, false},
		{`null`, `{}`, false},
		{`{}`, `{}`, false},
		{`{"z":1,"a":"<&>"}`, `{"z":1,"a":"<&>"}`, false},
		{" {\n\"a\" : 1.0}\t", " {\n\"a\" : 1.0}\t", false},
		{`{"a":1,"b":2,"a":[3,{"c":4,"c":5}]}`, `{"a":[3,{"c":5}],"b":2}`, false},
		{`{"a":"\ud83d"}`, `{"a":"` + "\ufffd" + `"}`, false},
		{"{\"a\":\"\xff\"}", `{"a":"` + "\ufffd" + `"}`, false},
		{`{"\ud83d":1,"\ud83e":2}`, `{"` + "\ufffd" + `":2}`, false},
		{`{"a":1.50,"a":true,"b":null}`, `{"a":true,"b":null}`, false},
		{`{"a":1.50,"b":1e400,"b":[1e3]}`, `{"a":1.50,"b":[1e3]}`, false},
		{`{"p": "a`, `{}`, true},
		{`p": 1}`, `{}`, true},
		{`"x"`, `{}`, true},
		{`[1]`, `{}`, true},
		{`NaN`, `{}`, true},
		{`{"a":NaN}`, `{}`, true},
		{`{"a":1}{"b":2}`, `{}`, true},
		{`{"a":1,"a":2} x`, `{}`, true},
		{`{"a":1,"a":2,}`, `{}`, true},
		{strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000), `{}`, true},
	} {
		got, lost := new(reader).object(c.raw)
		if got != c.want || lost != c.lost {
			t.Errorf("object(%.60q) = %.60q, %t, want %q, %t", c.raw, got, lost, c.want, c.lost)
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(got), &m); err != nil {
			t.Errorf("object(%.60q): %v", c.raw, err)
		}
	}
}

func TestUnreadableArgumentsAreToldInTheResult(t *testing.T) {
	bad := call("c1", "read", history.Failed, "no such tool")
	bad.Arguments = `{"p": "a`
	said := call("c2", "read", history.Failed, `arguments do not fit: [1]`)
	said.Arguments = `[1]`
	check(t, given{history: talk(say("go"), reply("", bad, said))}, `
{"role":"user","content":"go"}
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"Error: no such tool\n[the arguments were not a JSON object: {\"p\": \"a]"}
{"role":"tool","tool_call_id":"c2","content":"Error: arguments do not fit: [1]"}`)
}

func FuzzArgumentsAreAlwaysAnObject(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":2}`, `{"p": "a`, `[1]`, `{"a":"\ud83d"}`, `{"a":{"b":[1,2,{}]},"a":""}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, _ := new(reader).object(raw)
		var m map[string]any
		if err := json.Unmarshal([]byte(got), &m); err != nil {
			t.Fatalf("object(%q) = %q: %v", raw, got, err)
		}
	})
}
