package model

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestToolsAreWhatModelsMayCall(t *testing.T) {
	var shapes []string
	var all []byte
	for _, raw := range Tools() {
		all = append(all, raw...)
		var def struct {
			Type     string `json:"type"`
			Function struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				Parameters  struct {
					Type       string `json:"type"`
					Properties map[string]struct {
						Type        string         `json:"type"`
						Items       jsontext.Value `json:"items"`
						Description string         `json:"description"`
					} `json:"properties"`
					Required             []string `json:"required"`
					AdditionalProperties bool     `json:"additionalProperties"`
				} `json:"parameters"`
			} `json:"function"`
		}
		if err := json.Unmarshal(raw, &def, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
		f := def.Function
		if def.Type != "function" || f.Description == "" || f.Parameters.Type != "object" || f.Parameters.AdditionalProperties {
			t.Errorf("%s", raw)
		}
		var members []string
		for _, m := range []string{"path", "text", "diff", "argv", "cwd", "url", "body"} {
			if p, ok := f.Parameters.Properties[m]; ok {
				if p.Description == "" || (p.Type == "array") != (string(p.Items) == `{"type":"string"}`) {
					t.Errorf("%s: %+v", m, p)
				}
				members = append(members, m+" "+p.Type)
			}
		}
		shapes = append(shapes, f.Name+": "+strings.Join(members, ", ")+"; required "+strings.Join(f.Parameters.Required, ", "))
	}
	want := []string{
		"read: path string; required path",
		"write: path string, text string; required path, text",
		"patch: path string, diff string; required path, diff",
		"exec: argv array, cwd string; required argv",
		"git: argv array; required argv",
		"browse: url string, body string; required url",
	}
	if d := cmp.Diff(want, shapes); d != "" {
		t.Error(d)
	}
	if len(all) > 3000 {
		t.Errorf("the definitions take %d bytes of every request, more than 3000", len(all))
	}
	if again := bytes.Join(asBytes(Tools()), nil); !bytes.Equal(all, again) {
		t.Error("two calls gave different bytes")
	}
}

func asBytes(vs []jsontext.Value) (out [][]byte) {
	for _, v := range vs {
		out = append(out, v)
	}
	return out
}

func TestTyped(t *testing.T) {
	const read = "; read takes path (a string)"
	const exec = "; exec takes argv (a list of strings) and optionally cwd (a string)"
	for name, tt := range map[string]struct {
		name, arguments string
		want            abi.Call
		err             string
	}{
		"read":            {"read", `{"path":"a.go"}`, abi.Call{Read: &abi.Read{Path: "a.go"}}, ""},
		"any order":       {"write", ` { "text" : "b\n" , "path" : "a" } ` + "\n", abi.Call{Write: &abi.Write{Path: "a", Text: "b\n"}}, ""},
		"empty text":      {"write", `{"path":"a","text":""}`, abi.Call{Write: &abi.Write{Path: "a"}}, ""},
		"patch":           {"patch", `{"path":"a","diff":"@@"}`, abi.Call{Patch: &abi.Patch{Path: "a", Diff: "@@"}}, ""},
		"exec":            {"exec", `{"argv":["go","test"],"cwd":"sub"}`, abi.Call{Exec: &abi.Exec{Argv: []string{"go", "test"}, Cwd: new("sub")}}, ""},
		"exec at root":    {"exec", `{"argv":["ls"]}`, abi.Call{Exec: &abi.Exec{Argv: []string{"ls"}}}, ""},
		"null is absent":  {"exec", `{"argv":["ls"],"cwd":null}`, abi.Call{Exec: &abi.Exec{Argv: []string{"ls"}}}, ""},
		"git":             {"git", `{"argv":["status"]}`, abi.Call{Git: &abi.Git{Argv: []string{"status"}}}, ""},
		"browse":          {"browse", `{"url":"http://a"}`, abi.Call{Browse: &abi.Browse{URL: "http://a"}}, ""},
		"post":            {"browse", `{"url":"http://a","body":""}`, abi.Call{Browse: &abi.Browse{URL: "http://a", Body: new("")}}, ""},
		"escapes":         {"read", `{"path":"\u00e9\ud83e\udd8a"}`, abi.Call{Read: &abi.Read{Path: "é🦊"}}, ""},
		"escaped name":    {"read", `{"p\u0061th":"a"}`, abi.Call{Read: &abi.Read{Path: "a"}}, ""},
		"empty arguments": {"read", "", abi.Call{}, `read was not called: the member "path" is missing` + read},
		"blank arguments": {"read", " \n", abi.Call{}, `read was not called: the member "path" is missing` + read},
		"null arguments":  {"read", "null", abi.Call{}, `read was not called: the member "path" is missing` + read},
		"no such tool":    {"bash", "{}", abi.Call{}, `there is no tool "bash"; the tools are read, write, patch, exec, git and browse`},
		"no name":         {"", "{}", abi.Call{}, `there is no tool ""; the tools are read, write, patch, exec, git and browse`},
		"another case":    {"Read", "{}", abi.Call{}, `there is no tool "Read"; the tools are read, write, patch, exec, git and browse`},
		"unknown member":  {"read", `{"path":"a","line":3}`, abi.Call{}, `read was not called: the member "line" is not known` + read},
		"member's case":   {"read", `{"Path":"a"}`, abi.Call{}, `read was not called: the member "Path" is not known` + read},
		"given twice":     {"read", `{"path":"a","path":"b"}`, abi.Call{}, `read was not called: the member "path" is given twice` + read},
		"not a string":    {"read", `{"path":7}`, abi.Call{}, `read was not called: the member "path" is a number, not a string` + read},
		"null member":     {"read", `{"path":null}`, abi.Call{}, `read was not called: the member "path" is null, not a string` + read},
		"a line, no list": {"exec", `{"argv":"go test"}`, abi.Call{}, `exec was not called: the member "argv" is a string, not a list of strings` + exec},
		"a mixed list":    {"exec", `{"argv":["sleep",30]}`, abi.Call{}, `exec was not called: the member "argv" holds a number at place 2, not a string` + exec},
		"a list":          {"exec", `["ls"]`, abi.Call{}, "exec was not called: the arguments are a list, not a JSON object" + exec},
		"a string":        {"read", `"a"`, abi.Call{}, "read was not called: the arguments are a string, not a JSON object" + read},
		"cut short":       {"read", `{"path": "a`, abi.Call{}, "read was not called: the arguments end inside the JSON object" + read},
		"no JSON":         {"read", `path: a`, abi.Call{}, "read was not called: the arguments are not JSON at byte "},
		"NaN":             {"read", `{"path":NaN}`, abi.Call{}, "read was not called: the arguments are not JSON at byte "},
		"lone surrogate":  {"read", `{"path":"\ud83d"}`, abi.Call{}, "read was not called: the arguments are not JSON at byte "},
		"not UTF-8":       {"read", "{\"path\":\"\xff\"}", abi.Call{}, "read was not called: the arguments are not JSON at byte "},
		"two objects":     {"read", `{"path":"a"}{"path":"b"}`, abi.Call{}, "read was not called: the arguments go on after the JSON object" + read},
		"a long name":     {strings.Repeat("n", 1000), "{}", abi.Call{}, `there is no tool "` + strings.Repeat("n", 64) + `…"; the tools`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Typed(FunctionCall{Name: tt.name, Arguments: tt.arguments})
			switch {
			case tt.err == "" && err != nil:
				t.Fatal(err)
			case tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)):
				t.Fatalf("got  %v\nwant %s", err, tt.err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUntyped(t *testing.T) {
	for _, tt := range []struct {
		call            abi.Call
		name, arguments string
	}{
		{abi.Call{Read: &abi.Read{Path: "a<b>&\u2028"}}, "read", "{\"path\":\"a<b>&\u2028\"}"},
		{abi.Call{Write: &abi.Write{Path: "a", Text: "\"\n\x00"}}, "write", `{"path":"a","text":"\"\n\u0000"}`},
		{abi.Call{Exec: &abi.Exec{}}, "exec", `{"argv":[]}`},
		{abi.Call{Exec: &abi.Exec{Argv: []string{"a", ""}, Cwd: new("")}}, "exec", `{"argv":["a",""],"cwd":""}`},
		{abi.Call{Browse: &abi.Browse{URL: "u"}}, "browse", `{"url":"u"}`},
		{abi.Call{}, "", "{}"},
	} {
		name, arguments := Untyped(tt.call)
		if name != tt.name || arguments != tt.arguments {
			t.Errorf("got %s %s, want %s %s", name, arguments, tt.name, tt.arguments)
		}
	}
}

func FuzzTypedIsTheInverseOfUntyped(f *testing.F) {
	for _, tool := range tools {
		f.Add(tool.name, `{"path":"a","text":"b"}`)
		f.Add(tool.name, `{"argv":["a","\u2028"],"cwd":null}`)
	}
	f.Add("browse", `{"url":"é","body":""}`)
	f.Fuzz(func(t *testing.T, name, arguments string) {
		call, err := Typed(FunctionCall{Name: name, Arguments: arguments})
		if err != nil {
			return
		}
		n, a := Untyped(call)
		again, err := Typed(FunctionCall{Name: n, Arguments: a})
		if err != nil {
			t.Fatalf("%s %s: %v", n, a, err)
		}
		if d := cmp.Diff(call, again); d != "" || n != name {
			t.Errorf("%s %s", n, d)
		}
	})
}

func TestNormalize(t *testing.T) {
	call := func(id, name, arguments string) FunctionCall { return FunctionCall{id, name, arguments} }
	for name, tt := range map[string]struct{ in, want []FunctionCall }{
		"none":               {nil, []FunctionCall{}},
		"already distinct":   {[]FunctionCall{call("a", "read", "{"), call("b", "read", "{")}, []FunctionCall{call("a", "read", "{"), call("b", "read", "{")}},
		"the same one twice": {[]FunctionCall{call("a", "exec", "{}"), call("a", "exec", "{}")}, []FunctionCall{call("a", "exec", "{}")}},
		"the same, blank":    {[]FunctionCall{call("a", "exec", ""), call("a", "exec", " null ")}, []FunctionCall{call("a", "exec", "{}")}},
		"two under one id": {
			[]FunctionCall{call("a", "exec", "1"), call("a", "exec", "2"), call("a", "read", "1")},
			[]FunctionCall{call("a", "exec", "1"), call("a_2", "exec", "2"), call("a_3", "read", "1")},
		},
		"both repeated": {
			[]FunctionCall{call("a", "exec", "1"), call("a", "exec", "2"), call("a", "exec", "1"), call("a", "exec", "2")},
			[]FunctionCall{call("a", "exec", "1"), call("a_2", "exec", "2")},
		},
		"a fresh id that is taken": {
			[]FunctionCall{call("a", "x", "1"), call("a", "x", "2"), call("a_2", "x", "3")},
			[]FunctionCall{call("a", "x", "1"), call("a_3", "x", "2"), call("a_2", "x", "3")},
		},
		"no ids":                {[]FunctionCall{call("", "x", "1"), call("", "x", "1")}, []FunctionCall{call("call_1", "x", "1"), call("call_2", "x", "1")}},
		"a minted id is taken":  {[]FunctionCall{call("", "x", "1"), call("call_1", "x", "2")}, []FunctionCall{call("call_2", "x", "1"), call("call_1", "x", "2")}},
		"arguments of no words": {[]FunctionCall{call("a", "x", ""), call("b", "x", "\t\n"), call("c", "x", "null"), call("d", "x", "{not")}, []FunctionCall{call("a", "x", "{}"), call("b", "x", "{}"), call("c", "x", "{}"), call("d", "x", "{not")}},
	} {
		t.Run(name, func(t *testing.T) {
			in := append([]FunctionCall(nil), tt.in...)
			if d := cmp.Diff(tt.want, Normalize(tt.in)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(in, tt.in); d != "" {
				t.Errorf("the input changed: %s", d)
			}
		})
	}
}

func TestNormalizeStepMintsIdsOfTheSession(t *testing.T) {
	in := []FunctionCall{{Name: "x"}, {Name: "x"}}
	want := []FunctionCall{{"call_2_3_1", "x", "{}"}, {"call_2_3_2", "x", "{}"}}
	if d := cmp.Diff(want, NormalizeStep("2/3", in)); d != "" {
		t.Error(d)
	}
}

func FuzzNormalize(f *testing.F) {
	f.Add("a", "a", "", "call_1", uint8(3))
	f.Fuzz(func(t *testing.T, a, b, c, d string, same uint8) {
		in := []FunctionCall{{ID: a, Arguments: "1"}, {ID: b}, {ID: c, Arguments: "2"}, {ID: d}}
		for i := range in {
			if same>>i&1 == 1 {
				in = append(in, in[i])
			}
		}
		out := Normalize(in)
		seen := map[string]bool{}
		for _, c := range out {
			if c.ID == "" || seen[c.ID] || c.Arguments == "" {
				t.Fatalf("%+v from %+v", out, in)
			}
			seen[c.ID] = true
		}
		if d := cmp.Diff(out, Normalize(out)); d != "" {
			t.Errorf("not settled: %s", d)
		}
	})
}

func TestErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  Error
		want string
	}{
		{Error{Kind: Rate, Status: 429, Message: "slow down"}, "model answered rate (status 429): slow down"},
		{Error{Kind: Network, Message: "no route"}, "model answered network: no route"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
