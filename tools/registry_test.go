package tools

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// TestTheSixToolsAreShownAsEver holds the very bytes: a provider's cache of a
// conversation begins with them.
func TestTheSixToolsAreShownAsEver(t *testing.T) {
	type function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
	}
	want := map[string]function{}
	for _, text := range []string{
		`{"name":"read","description":"Read a text file, or list a directory. Unsaved text in the editor counts. At most 2000 lines or 64 KB a call; the result says where to go on. Free: nobody is asked.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"relative to the workspace root; . is the root"},"offset":{"type":"integer","description":"first line, from 1"},"limit":{"type":"integer","description":"lines, at most 2000"}},"required":["path"],"additionalProperties":false}}`,
		`{"name":"write","description":"Create a file, or replace the whole text of one you have read.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"relative to the workspace root"},"text":{"type":"string","description":"the whole new text"}},"required":["path","text"],"additionalProperties":false}}`,
		`{"name":"patch","description":"Change files by a diff, which may also add, delete and rename files. The lines of a hunk must be those of the file, in one place only; all is applied or nothing.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"the one file that it changes; leave it out when the diff names its files"},"diff":{"type":"string","description":"a unified diff with @@ hunks and three lines of context, or *** Begin Patch … *** End Patch"}},"required":["diff"],"additionalProperties":false}}`,
		`{"name":"exec","description":"Run a program. Its output and exit code come back. A list is run without a shell: no pipes, globs or redirection.","parameters":{"type":"object","properties":{"argv":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"string"}],"description":"program and arguments; one string is split as a shell would, and given to sh -c where it has shell syntax"},"cwd":{"type":"string","description":"directory relative to the workspace root; the root when absent"},"timeout":{"type":"integer","description":"seconds until it is ended"},"background":{"type":"boolean","description":"let it run on, a server for instance, and look at it with job"},"network":{"type":"boolean","description":"true when it must reach other machines, to install packages for instance; the person is asked"}},"required":["argv"],"additionalProperties":false}}`,
		`{"name":"git","description":"Run git in the workspace root.","parameters":{"type":"object","properties":{"argv":{"type":"array","items":{"type":"string"},"description":"arguments after git, e.g. [\"diff\",\"--stat\"]"}},"required":["argv"],"additionalProperties":false}}`,
		`{"name":"browse","description":"Fetch a web page as Markdown, or a text resource as it is.","parameters":{"type":"object","properties":{"url":{"type":"string","description":"http or https"},"body":{"type":"string","description":"sent by POST when given, else GET"}},"required":["url"],"additionalProperties":false}}`,
	} {
		var f function
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		want[f.Name] = f
	}
	size := 0
	for _, d := range Builtin() {
		size += len(d.Description) + len(d.Parameters)
		if w, ok := want[d.Name]; ok {
			if diff := cmp.Diff(w, function{d.Name, d.Description, d.Parameters}); diff != "" {
				t.Error(diff)
			}
			delete(want, d.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("these are missing: %v", want)
	}
	if size > 9000 {
		t.Errorf("the definitions take %d bytes of every request, more than 9000", size)
	}
}

// six is a registry of the six tools that the core has forms for.
func six(t testing.TB) *Registry {
	t.Helper()
	r := new(Registry)
	if err := r.Add(readTool{}, writeTool{}, patchTool{}, execTool{}, gitTool{}, browseTool{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTyped(t *testing.T) {
	const read = "; read takes path (a string) and optionally offset (a whole number) and optionally limit (a whole number)"
	const exec = "; exec takes argv (a list of strings or one string) and optionally cwd (a string)"
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
		"no such tool":    {"bushel", "{}", abi.Call{}, `there is no tool "bushel"; the tools are read, write, patch, exec, git and browse`},
		"no name":         {"", "{}", abi.Call{}, `there is no tool ""; the tools are read, write, patch, exec, git and browse`},
		"another case":    {"Read", "{}", abi.Call{}, `read was not called: the member "path" is missing` + read},
		"unknown member":  {"read", `{"path":"a","line":3}`, abi.Call{}, `read was not called: the member "line" is not known` + read},
		"member's case":   {"read", `{"Path":"a"}`, abi.Call{Read: &abi.Read{Path: "a"}}, ""},
		"given twice":     {"read", `{"path":"a","path":"b"}`, abi.Call{}, `read was not called: the member "path" is given twice` + read},
		"not a string":    {"read", `{"path":7}`, abi.Call{}, `read was not called: the member "path" is a number, not a string` + read},
		"null member":     {"read", `{"path":null}`, abi.Call{}, `read was not called: the member "path" is null, not a string` + read},
		"a line, no list": {"exec", `{"argv":7}`, abi.Call{}, `exec was not called: the member "argv" is a number, not a list of strings or one string` + exec},
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
			got, err := six(t).Typed(tt.name, tt.arguments)
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
		{abi.Call{Tool: &abi.Use{Name: "x", Arguments: `{"a":1}`}}, "x", `{"a":1}`},
		{abi.Call{}, "", "{}"},
	} {
		name, arguments := Untyped(tt.call)
		if name != tt.name || arguments != tt.arguments {
			t.Errorf("got %s %s, want %s %s", name, arguments, tt.name, tt.arguments)
		}
	}
}

func FuzzTypedIsTheInverseOfUntyped(f *testing.F) {
	r := six(f)
	for _, d := range r.Definitions() {
		f.Add(d.Name, `{"path":"a","text":"b"}`)
		f.Add(d.Name, `{"argv":["a","\u2028"],"cwd":null}`)
	}
	f.Add("browse", `{"url":"é","body":""}`)
	f.Add("Browse", `{"url":""}`)
	f.Fuzz(func(t *testing.T, name, arguments string) {
		call, err := r.Typed(name, arguments)
		if err != nil {
			return
		}
		n, a := Untyped(call)
		again, err := r.Typed(n, a)
		if err != nil {
			t.Fatalf("%s %s: %v", n, a, err)
		}
		// A name of habit, or in another case, becomes the tool's own.
		known := strings.EqualFold(n, name) || r.Habit(name, arguments) != ""
		if d := cmp.Diff(call, again); d != "" || !known {
			t.Errorf("%s %s", n, d)
		}
	})
}

// sample is a tool with a member of every kind.
type sample struct{ Tool }

type sampleArgs struct {
	Name string   `json:"name" about:"what it is called"`
	Most *int     `json:"most" about:"at most so many"`
	Deep bool     `json:"deep,omitzero"`
	Tags []string `json:"tags,omitzero"`
	List []struct {
		Text string `json:"text"`
		Done bool   `json:"done,omitzero"`
	} `json:"list,omitzero" about:"items"`
}

func (sample) Definition() Definition {
	return Define[sampleArgs]("sample", "A sample.", None)
}

func TestAToolOfAnyShape(t *testing.T) {
	const schema = `{"type":"object","properties":{` +
		`"name":{"type":"string","description":"what it is called"},` +
		`"most":{"type":"integer","description":"at most so many"},` +
		`"deep":{"type":"boolean"},` +
		`"tags":{"type":"array","items":{"type":"string"}},` +
		`"list":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"done":{"type":"boolean"}},"required":["text"],"additionalProperties":false},"description":"items"}},` +
		`"required":["name"],"additionalProperties":false}`
	if d := cmp.Diff(schema, string(sample{}.Definition().Parameters)); d != "" {
		t.Error(d)
	}
	var r Registry
	if err := r.Add(sample{}, readTool{}); err != nil {
		t.Fatal(err)
	}
	const usage = "; sample takes name (a string) and optionally most (a whole number) and optionally deep (true or false) and optionally tags (a list of strings) and optionally list (a list of objects)"
	for arguments, want := range map[string]string{
		`{"deep":true, "name":"a","most":3}`:            `{"name":"a","most":3,"deep":true}`,
		`{"name":"a","most":null,"deep":null}`:          `{"name":"a"}`,
		`{"name":"a","tags":[ ],"list":[{"text":"x"}]}`: `{"name":"a","tags":[],"list":[{"text":"x"}]}`,
		`{"name":"a","most":1.5}`:                       `error: sample was not called: the member "most" is a number, not a whole number` + usage,
		`{"name":"a","most":"three"}`:                   `error: sample was not called: the member "most" is a string, not a whole number` + usage,
		`{"name":"a","deep":"yes"}`:                     `error: sample was not called: the member "deep" is a string, not true or false` + usage,
		`{"name":"a","tags":[1]}`:                       `error: sample was not called: the member "tags" holds a number at place 1, not a string` + usage,
		`{"name":"a","list":["x"]}`:                     `error: sample was not called: the member "list" holds a string at place 1, not an object` + usage,
		`{"name":"a","list":[{"done":true}]}`:           `error: sample was not called: at place 1 of the member "list" the member "text" is missing` + usage,
		`{"name":"a","list":[{"text":"x","y":1}]}`:      `error: sample was not called: at place 1 of the member "list" the member "y" is not known` + usage,
	} {
		call, err := r.Typed("sample", arguments)
		switch {
		case err != nil && "error: "+err.Error() != want:
			t.Errorf("%s: %v\nwant %s", arguments, err, want)
		case err == nil && (call.Tool == nil || call.Tool.Name != "sample" || call.Tool.Arguments != want):
			t.Errorf("%s is %+v, want %s", arguments, call.Tool, want)
		}
	}
	if err := r.Add(readTool{}); err == nil {
		t.Error("two tools have one name")
	}
}
