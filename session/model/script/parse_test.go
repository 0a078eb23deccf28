package script

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/google/go-cmp/cmp"
)

func mustParse(t *testing.T, text string) *Script {
	t.Helper()
	s, err := Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParse(t *testing.T) {
	s := mustParse(t, `
version: 1
entries:
  - when: "1/1"                    # optional key
    text: Let me look.
    reasoning: The build is broken.
    calls:
      - read: {path: main.go}
      - exec: {argv: [go, build, ./...], cwd: sub}
    usage: {input: 120, output: 18}
  - calls: [{write: {path: main.go, text: "package main\n"}}]
  - calls: [{raw: {id: call_3, name: no_such_tool, arguments: "{not json"}}]
  - {text: Fixed., latency: 30s, stream: [Fix, ed.]}
  - {fail: {kind: error, error: overloaded, message: try later}}
  - calls:
      - exec: {argv: [sleep, 30, 1.50, 010, true]}
      - git: {argv: []}
      - browse: {url: "http://a", body: ""}
      - patch: {path: a, diff: ""}
  - {fail: {kind: hang}, stream: [par, tial]}
  - {text: "", finish: length, provider_id: p9}
`)
	want := &Script{Name: "s.yaml", Epoch: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), Entries: []Entry{
		{
			Line: 4, When: "1/1", Text: new("Let me look."), Reasoning: new("The build is broken."),
			Calls: []model.FunctionCall{
				{ID: "call_1", Name: "read", Arguments: `{"path":"main.go"}`},
				{ID: "call_2", Name: "exec", Arguments: `{"argv":["go","build","./..."],"cwd":"sub"}`},
			},
			Usage: model.Usage{Input: 120, Output: 18}, Finish: "tool_calls", ProviderID: "script-1",
		},
		{
			Line: 11, Calls: []model.FunctionCall{{ID: "call_4", Name: "write", Arguments: `{"path":"main.go","text":"package main\n"}`}},
			Finish: "tool_calls", ProviderID: "script-2",
		},
		{
			Line: 12, Calls: []model.FunctionCall{{ID: "call_3", Name: "no_such_tool", Arguments: "{not json"}},
			Finish: "tool_calls", ProviderID: "script-3",
		},
		{Line: 13, Text: new("Fixed."), Latency: 30 * time.Second, Stream: []string{"Fix", "ed."}, Finish: "stop", ProviderID: "script-4"},
		{Line: 14, Fail: &Fail{Kind: FailError, Error: model.Overloaded, Message: "try later"}, ProviderID: "script-5"},
		{
			Line: 15, Calls: []model.FunctionCall{
				{ID: "call_5", Name: "exec", Arguments: `{"argv":["sleep","30","1.50","010","true"]}`},
				{ID: "call_6", Name: "git", Arguments: `{"argv":[]}`},
				{ID: "call_7", Name: "browse", Arguments: `{"url":"http://a","body":""}`},
				{ID: "call_8", Name: "patch", Arguments: `{"path":"a","diff":""}`},
			},
			Finish: "tool_calls", ProviderID: "script-6",
		},
		{Line: 20, Fail: &Fail{Kind: FailHang}, Stream: []string{"par", "tial"}, ProviderID: "script-7"},
		{Line: 21, Text: new(""), Finish: "length", ProviderID: "p9"},
	}}
	want.Digest = s.Digest
	if d := cmp.Diff(want, s); d != "" || len(s.Digest) != 64 {
		t.Error(d, s.Digest)
	}
}

func TestIDsComeFromTheScript(t *testing.T) {
	s := mustParse(t, "version: 1\n")
	got := []string{s.ID(1).String(), s.ID(2).String()}
	want := []string{"b18ea4e2-3df2-5b58-b537-9452727244ef", "a82f3595-c55e-5ae8-a12d-e18c452362ce"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if mustParse(t, "version: 1\n\n").ID(1) == s.ID(1) {
		t.Error("another script gives the same ids")
	}
}

func TestParseReadsTheEpoch(t *testing.T) {
	s := mustParse(t, "version: 1\nepoch: 2026-08-29T08:00:00+02:00\n")
	if got := s.Epoch.Format(time.RFC3339); got != "2026-08-29T06:00:00Z" {
		t.Errorf("epoch %s", got)
	}
}

func TestParseErrorsNameThePlace(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"empty":               {"", "s.yaml:1:1: the script names no version"},
		"no version":          {"entries: []", "s.yaml:1:1: the script names no version"},
		"other version":       {"version: 2", "s.yaml:1:1: the script is of version 2, this program reads version 1"},
		"syntax":              {"version: 1\nentries:\n  - {text: a\n", "s.yaml:3:"},
		"list":                {"- 1", "s.yaml:1:1: "},
		"unknown key":         {"version: 1\nentires: []\n", `s.yaml:2:1: unknown field "entires"`},
		"key given twice":     {"version: 1\nversion: 1\n", "s.yaml:2:1: "},
		"unknown entry key":   {"version: 1\nentries:\n  - txt: a\n", `s.yaml:3:5: unknown field "txt"`},
		"unknown usage key":   {"version: 1\nentries:\n  - {text: a, usage: {in: 1}}\n", `s.yaml:3:23: unknown field "in"`},
		"negative usage":      {"version: 1\nentries:\n  - {usage: {input: -1}}\n", "s.yaml:3:21: "},
		"wrong type":          {"version: 1\nentries:\n  - text: [1]\n", "s.yaml:3:11: "},
		"null entry":          {"version: 1\nentries:\n  -\n  - {text: a}\n", "s.yaml:"},
		"bad epoch":           {"version: 1\nepoch: soon\n", `s.yaml:2:8: epoch "soon" is not an instant`},
		"bad latency":         {"version: 1\nentries:\n  - {latency: 30}\n", `s.yaml:3:15: latency "30" is not a duration`},
		"negative latency":    {"version: 1\nentries:\n  - {latency: -3s}\n", `s.yaml:3:15: latency "-3s" is not a duration`},
		"stream is not text":  {"version: 1\nentries:\n  - {text: ab, stream: [a, c]}\n", `s.yaml:3:6: stream joined is "ac", but text is "ab"`},
		"unknown failure":     {"version: 1\nentries:\n  - {fail: {kind: crash}}\n", `s.yaml:3:13: fail has the kind "crash"; it is error, timeout or hang`},
		"unknown error":       {"version: 1\nentries:\n  - {fail: {kind: error, error: oops}}\n", `s.yaml:3:13: fail has the error "oops"; it is one of`},
		"hang with an error":  {"version: 1\nentries:\n  - {fail: {kind: hang, error: rate}}\n", "s.yaml:3:13: fail of kind hang takes no error"},
		"failure with text":   {"version: 1\nentries:\n  - {text: a, fail: {kind: hang}}\n", "s.yaml:3:6: an entry that fails answers no text"},
		"arguments in a list": {"version: 1\nentries:\n  - calls: [{read: [a]}]\n", "s.yaml:3:20: the arguments of a call are an object"},
		"call is a string":    {"version: 1\nentries:\n  - calls: [read]\n", "s.yaml:3:13: a call is one tool's name"},
		"two tools in one":    {"version: 1\nentries:\n  - calls: [{read: {path: a}, git: {argv: [a]}}]\n", "s.yaml:3:14: a call is one tool's name"},
		"unknown raw member":  {"version: 1\nentries:\n  - calls: [{raw: {args: a}}]\n", `s.yaml:3:20: unknown field "args"`},
		"provider id twice":   {"version: 1\nentries:\n  - {provider_id: a}\n  - {provider_id: a}\n", `s.yaml:4:1: entry 2 has the provider_id "a" of entry 1`},
		"message not seen":    {"version: 1\nentries:\n  - {request: {tools: a, messages: \"1-2\"}}\n", `s.yaml:3:1: entry 1: request names the message "1-2"`},
		"message run is back": {"version: 1\nentries:\n  - {request: {tools: a, messages: \"user:a user:b 2-1\"}}\n", `s.yaml:3:1: entry 1: request names the message "2-1"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("s.yaml", []byte(tt.in))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s…", err, tt.want)
			}
		})
	}
}

func TestParseDoesNotQuoteTheSource(t *testing.T) {
	_, err := Parse("s.yaml", []byte("version: 1\nentries:\n  - text: sk-secret\n    txt: a\n"))
	if err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("version: 1\nentries:\n  - calls: [{read: {path: a}}, {raw: {id: a}}]\n    request: {tools: a, messages: user:b 1-1}\n"))
	f.Add([]byte("version: 1\na: &x [*x]\nentries: *x"))
	f.Add([]byte("version: 1\nentries:\n  - calls: !0\n0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := Parse("f", data); err == nil && s == nil {
			t.Fatal("neither a script nor an error")
		}
	})
}

// A script knows no tools: which there are, and what they take, is for the session
// that plays it.
func TestACallIsAnyNameWithAnyArguments(t *testing.T) {
	for yaml, want := range map[string]string{
		`read: {path: 010}`:                           `read {"path":"010"}`,
		`write: {path: a, text: 42}`:                  `write {"path":"a","text":"42"}`,
		`exec: {argv: [sleep, 010, 1.50], cwd: ~}`:    `exec {"argv":["sleep","010","1.50"],"cwd":null}`,
		`search: {pattern: a, max: 5, literal: true}`: `search {"pattern":"a","max":5,"literal":true}`,
		`db__query: {rows: [1, "2", {deep: 1.5}]}`:    `db__query {"rows":[1,"2",{"deep":1.5}]}`,
		`todo: {items: [{text: 7, state: active}]}`:   `todo {"items":[{"text":"7","state":"active"}]}`,
		`clock: {}`:                           `clock {}`,
		"patch: {diff: \"a\\nb\", path: 'x'}": `patch {"diff":"a\nb","path":"x"}`,
	} {
		s, err := Parse("s.yaml", []byte("version: 1\nentries:\n  - calls: [{"+yaml+"}]\n"))
		if err != nil {
			t.Errorf("%s: %v", yaml, err)
			continue
		}
		if c := s.Entries[0].Calls[0]; c.Name+" "+c.Arguments != want {
			t.Errorf("%s is %s %s, want %s", yaml, c.Name, c.Arguments, want)
		}
	}
}
