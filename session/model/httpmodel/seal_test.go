package httpmodel

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
)

func TestWhatIsSealed(t *testing.T) {
	signed, call := Segment{Sealed: jsontext.Value(`{"type":"thinking","signature":"s"}`)}, Segment{Call: new(model.FunctionCall)}
	long := Segment{Sealed: jsontext.Value(`"` + strings.Repeat("x", maxSealed) + `"`)}
	said := func(text string, calls int) model.Response {
		resp := model.Response{Calls: make([]model.FunctionCall, calls)}
		if text != "" {
			resp.Text = &text
		}
		return resp
	}
	for name, c := range map[string]struct {
		resp     model.Response
		segments []Segment
		want     string // of the parts; "" for no seal
	}{
		"in order":           {said("ab", 2), []Segment{{Text: "a"}, signed, call, {Text: "b"}, call}, `[1,{"type":"thinking","signature":"s"},null,1,null]`},
		"nothing signed":     {said("a", 1), []Segment{{Text: "a"}, call}, ""},
		"another order":      {said("a", 1), []Segment{call, {Text: "a"}}, `[null,1]`},
		"two texts":          {said("ab", 1), []Segment{{Text: "a"}, {Text: "b"}, call}, `[1,1,null]`},
		"between calls":      {said("ab", 2), []Segment{{Text: "a"}, call, {Text: "b"}, call}, `[1,null,1,null]`},
		"texts, no call":     {said("ab", 0), []Segment{{Text: "a"}, {Text: "b"}}, ""},
		"no call":            {said("a", 0), []Segment{signed, {Text: "a"}}, ""},
		"a call too few":     {said("", 2), []Segment{signed, call}, ""},
		"text that is other": {said("b", 1), []Segment{signed, {Text: "a"}, call}, ""},
		"text from nowhere":  {said("a", 1), []Segment{signed, call}, ""},
		"text that is lost":  {said("", 1), []Segment{signed, {Text: "a"}, call}, ""},
		"too much":           {said("", 1), []Segment{long, call}, ""},
		"not JSON":           {said("", 1), []Segment{{Sealed: jsontext.Value(`{"a":1,"a":2}`)}, call}, ""},
		"not UTF-8":          {said("", 1), []Segment{{Sealed: jsontext.Value("\"\xff\"")}, call}, ""},
	} {
		got := string(Seal("who", c.resp, c.segments))
		if c.want == "" && got != "" || c.want != "" && !strings.HasSuffix(got, `"parts":`+c.want+`}`) {
			t.Errorf("%s: %.200s, want %s", name, got, c.want)
		}
	}
	// Text of nothing but white space is recorded and not sent.
	sealed := Seal("who", said(" \n", 1), []Segment{signed, {Text: " \n"}, call})
	if got := Segments(&model.Message{Sealed: sealed, Calls: []model.FunctionCall{{Arguments: "{}"}}}, "who"); len(got) != 2 || got[0].Sealed == nil || got[1].Call == nil {
		t.Errorf("segments %+v of %s", got, sealed)
	}
}
