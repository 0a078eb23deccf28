package tools

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/google/go-cmp/cmp"
)

func TestHabitsAreTakenForOurs(t *testing.T) {
	w := newWorld(t, nil)
	use := func(name, arguments string) abi.Call {
		return abi.Call{Tool: &abi.Use{Name: name, Arguments: arguments}}
	}
	for _, tt := range []struct {
		name, arguments string
		want            abi.Call
		note            string
	}{
		{"read", `{"path":"a"}`, readOp("a"), ""},
		{"functions.read", `{"path":"a"}`, readOp("a"), "[functions.read is called read here]"},
		{"Read", `{"file_path":"a"}`, readOp("a"), "[Read is called read here; file_path is called path]"},
		{"view", `{"path":"a","view_range":[10,20]}`, use("read", `{"path":"a","offset":10,"limit":11}`), "[view is called read here; a range of lines is offset and limit]"},
		{"view", `{"path":"a","view_range":[10,-1]}`, use("read", `{"path":"a","offset":10}`), "[view is called read here; a range of lines is offset and limit]"},
		{
			"read_file", `{"target_file":"a","start_line":"3","end_line":5,"explanation":"why"}`, use("read", `{"path":"a","offset":3,"limit":3}`),
			"[read_file is called read here; a range of lines is offset and limit; target_file is called path; explanation was left out]",
		},
		{"read", `{"path":"a","offset":"7"}`, use("read", `{"path":"a","offset":7}`), ""},
		{"ls", `{}`, readOp("."), "[ls is called read here]"},
		{"LS", ``, readOp("."), "[LS is called read here]"},
		{"list_dir", `{"relative_workspace_path":"src"}`, readOp("src"), "[list_dir is called read here; relative_workspace_path is called path]"},
		{"grep", `{"pattern":"x","include":"*.go","path":"src"}`, use("search", `{"pattern":"x","path":"src","glob":"*.go"}`), "[grep is called search here; include is called glob]"},
		{"grep_search", `{"query":"x","case_sensitive":false}`, use("search", `{"pattern":"(?i)x"}`), "[grep_search is called search here; query is called pattern; case_sensitive is (?i) in the pattern]"},
		{
			"Grep", `{"pattern":"x","-i":true,"-n":true,"-C":2,"head_limit":5}`, use("search", `{"pattern":"(?i)x","context":2,"max":5}`),
			"[Grep is called search here; -C is called context; head_limit is called max; -n was left out; -i is (?i) in the pattern]",
		},
		{"glob", `{"pattern":"**/*.go"}`, use("find", `{"glob":"**/*.go"}`), "[glob is called find here; pattern is called glob]"},
		{"file_search", `{"query":"main.go"}`, use("find", `{"glob":"main.go"}`), "[file_search is called find here; query is called glob]"},
		{"write_file", `{"file_path":"a","content":"b"}`, writeOp("a", "b"), "[write_file is called write here; content is called text; file_path is called path]"},
		{"write", `{"path":"a.json","text":{"b": 1}}`, writeOp("a.json", `{"b": 1}`), "[text is a string: the JSON in it was taken as its text]"},
		{"apply_patch", `{"path":"a","input":"@@"}`, patchOp("a", "@@"), "[apply_patch is called patch here; input is called diff]"},
		{
			"bash", `{"command":"go test ./...","description":"tests"}`, execOp("go", "test", "./..."),
			"[bash is called exec here; command is called argv; description was left out]",
		},
		{"run_terminal_cmd", `{"command":"ls | wc -l"}`, execOp("sh", "-c", "ls | wc -l"), "[run_terminal_cmd is called exec here; command is called argv]"},
		{"shell", `{"command":["ls","-l"],"workdir":"d"}`, abi.Call{Exec: &abi.Exec{Argv: []string{"ls", "-l"}, Cwd: new("d")}}, "[shell is called exec here; command is called argv; workdir is called cwd]"},
		{"exec", `{"argv":"[\"ls\"]"}`, execOp("ls"), "[argv is a list, not a string with one]"},
		{"read", "```json\n{\"path\":\"a\"}\n```", readOp("a"), "[send the arguments without a fence]"},
		{"write", "{\"path\":\"a\",\"text\":\"one\ntwo\t\\\"3\\\"\"}", writeOp("a", "one\ntwo\t\"3\""), `[write line breaks within JSON strings as \n]`},
		{"read", `"{\"path\":\"a\"}"`, readOp("a"), "[send the arguments as an object, not as a string]"},
	} {
		got, err := w.Typed(tt.name, tt.arguments)
		if err != nil {
			t.Errorf("%s %s: %v", tt.name, tt.arguments, err)
			continue
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s %s: %s", tt.name, tt.arguments, d)
		}
		if note := w.Habit(tt.name, tt.arguments); note != tt.note {
			t.Errorf("%s %s: the note is\n%s\nwant\n%s", tt.name, tt.arguments, note, tt.note)
		}
	}
}

// TestWhatFitsNothingIsRefused has calls that are near to one of ours.
func TestWhatFitsNothingIsRefused(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct{ name, arguments, err string }{
		{"grep", `{}`, `search was not called: the member "pattern" is missing`},
		{"view", `{"path":"a","file_path":"b"}`, `read was not called: the member "file_path" is not known`},
		{"view", `{"path":"a","colour":"red"}`, `read was not called: the member "colour" is not known`},
		{"view", `{"path":["a"]}`, `read was not called: the member "path" is a list, not a string`},
		{"frobnicate", `{"path":"a"}`, `there is no tool "frobnicate"`},
		{"read", `{"path":"a`, "read was not called: the arguments end inside the JSON object"},
		{"read", "```\n{\"path\":\n```", "read was not called: "},
		{"exec", `{"argv":""}`, `exec was not called: the member "argv" is a string`},
	} {
		if got, err := w.Typed(tt.name, tt.arguments); err == nil || !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%s %s: %+v, %v, want %s", tt.name, tt.arguments, got, err, tt.err)
		}
	}
}

// grepper is a tool of another server whose name is one of habit.
type grepper struct{ Tool }

func (grepper) Definition() Definition { return Define[struct{}]("grep", "", Read) }

func TestAToolOfThatNameComesFirst(t *testing.T) {
	w := newWorld(t, nil, func(c *Config) { c.Tools = []Tool{grepper{}} })
	call, err := w.Typed("grep", `{}`)
	if err != nil || call.Tool == nil || call.Tool.Name != "grep" {
		t.Errorf("%+v, %v", call, err)
	}
}
