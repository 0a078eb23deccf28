package lsp

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestCommandArgumentsAreStrict(t *testing.T) {
	read := func(a *arguments) error {
		a.text("text")
		a.session(false)
		a.flag("wait")
		a.index("after")
		for i, x := range a.list("list", false) {
			o := a.object(x, "list["+string(rune('0'+i))+"]")
			readRange(o, "range", true)
			_ = o.done()
		}
		return a.done()
	}
	for _, tt := range []struct{ raw, want string }{
		{`{"text":"x"}`, ""},
		{`{"text":"x","session":null,"wait":true,"after":0}`, ""},
		{`{"text":"x","session":"01890a5d-ac96-774b-bcce-b302099a8057"}`, ""},
		{`{"text":"x","list":[{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":4}}}]}`, ""},
		{`{}`, "text: is missing: it must be a string"},
		{`{"text":null}`, "text: is missing: it must be a string"},
		{`{"text":" "}`, "text: must not be empty"},
		{`{"text":7}`, "text: must be a string, not a number"},
		{`{"text":"x","wait":"yes"}`, "wait: must be a boolean, not a string"},
		{`{"text":"x","after":-1}`, "after: must be a whole number that is not negative, not -1"},
		{`{"text":"x","after":1.5}`, "after: must be a whole number that is not negative, not 1.5"},
		{`{"text":"x","session":"7"}`, `session: must be a session id such as 123e4567-e89b-12d3-a456-426614174000, not "7"`},
		{`{"text":"x","list":{}}`, "list: must be an array, not an object"},
		{`{"text":"x","list":[7]}`, "list[0]: must be an object, not a number"},
		{`{"text":"x","list":[{}]}`, "list[0].range: is missing: it must be a range"},
		{`{"text":"x","list":[{"range":{"start":{"line":0,"character":0}}}]}`, "list[0].range.end: is missing: it must be a position"},
		{
			`{"text":"x","list":[{"range":{"start":{"line":0,"character":-1},"end":{"line":0,"character":0}}}]}`,
			"list[0].range.start.character: must be a whole number that is not negative, not -1",
		},
		{
			`{"text":"x","list":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"url":"x"}]}`,
			"list[0].url: unknown member: use range",
		},
		{`{"text":"x","sesion":"7"}`, "sesion: unknown member: use text, session, wait, after, list"},
		{`[]`, "arguments[0]: must be an object, not an array"},
		{`"x"`, "arguments[0]: must be an object, not a string"},
	} {
		err := read(readArguments([]jsontext.Value{jsontext.Value(tt.raw)}))
		if got := errText(err); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.raw, got, tt.want)
		}
	}
	two := []jsontext.Value{jsontext.Value("{}"), jsontext.Value("{}")}
	if got := errText(readArguments(two).done()); got != "arguments: must hold one object, not 2 values" {
		t.Error(got)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
