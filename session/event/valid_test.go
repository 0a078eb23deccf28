package event_test

import (
	"testing"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// TestAnEventOfAnyBytesIsStored has bytes that are not UTF-8 in every
// member of every kind of event.
func TestAnEventOfAnyBytesIsStored(t *testing.T) {
	const bad, text, name = "a\xe9\x80\xc3b\xff", "a\ufffdb\ufffd", `a\xE9\x80\xC3b\xFF`
	list := func(s string) []string { return []string{"fine", s} }
	missing := map[event.Kind]bool{}
	for _, k := range event.Kinds() {
		missing[k] = true
	}
	for _, c := range []struct{ raw, want event.Payload }{
		{&event.User{Text: bad, Context: []event.Context{{Path: bad, Text: bad}}}, &event.User{Text: text, Context: []event.Context{{Path: name, Text: text}}}},
		{&event.Ask{Profile: bad, Digest: bad}, &event.Ask{Profile: text, Digest: text}},
		{
			&event.Message{Text: new(bad), Reasoning: new(bad), Calls: []model.FunctionCall{{ID: bad, Name: bad, Arguments: bad}}, Finish: bad, ProviderID: bad, Profile: bad, Sealed: jsontext.Value(bad)},
			&event.Message{Text: new(text), Reasoning: new(text), Calls: []model.FunctionCall{{ID: text, Name: text, Arguments: text}}, Finish: text, ProviderID: text, Profile: text},
		},
		{
			&event.Call{ProviderID: bad, Name: bad, Arguments: bad, Call: &abi.Call{Exec: &abi.Exec{Argv: list(bad), Cwd: new(bad)}}},
			&event.Call{ProviderID: text, Name: text, Arguments: text, Call: &abi.Call{Exec: &abi.Exec{Argv: list(text), Cwd: new(text)}}},
		},
		{
			&event.Approval{Title: bad, Detail: bad, Reason: bad},
			&event.Approval{Title: text, Detail: text, Reason: text},
		},
		{
			&event.Intent{Text: bad, Edit: &event.Edit{Path: bad, Diff: bad}},
			&event.Intent{Text: text, Edit: &event.Edit{Path: name, Diff: text}},
		},
		{
			&event.Result{State: bad, Text: bad, Changed: list(bad), Edit: &event.Edit{Path: bad, Diff: bad}},
			&event.Result{State: text, Text: text, Changed: list(name), Edit: &event.Edit{Path: name, Diff: text}},
		},
		{
			&event.Check{Root: bad, Text: bad, Command: list(bad), Findings: []event.Finding{{Path: bad, Code: bad, Message: bad}}},
			&event.Check{Root: name, Text: text, Command: list(text), Findings: []event.Finding{{Path: name, Code: text, Message: text}}},
		},
		{&event.Summary{Text: bad, ProviderID: bad}, &event.Summary{Text: text, ProviderID: text}},
		{&event.Activation{Defs: []jsontext.Value{[]byte(bad), []byte(`{}`)}}, &event.Activation{Defs: []jsontext.Value{nil, []byte(`{}`)}}},
		{&event.Queued{Text: bad, Context: []event.Context{{Path: bad}}}, &event.Queued{Text: text, Context: []event.Context{{Path: name}}}},
		{&event.Steer{Text: bad}, &event.Steer{Text: text}},
		{&event.Usage{Profile: bad}, &event.Usage{Profile: text}},
		{&event.Emit{Text: bad}, &event.Emit{Text: text}},
		{&event.Done{Outcome: bad}, &event.Done{Outcome: text}},
		{&event.Error{Source: bad, Message: bad}, &event.Error{Source: text, Message: text}},
		{&event.Note{Text: bad, Refused: &event.Refused{Files: list(bad)}}, &event.Note{Text: text, Refused: &event.Refused{Files: list(text)}}},
		{&event.Mode{Mode: bad, Before: bad, Why: bad}, &event.Mode{Mode: text, Before: text, Why: text}},
		{&event.Plan{Text: bad}, &event.Plan{Text: text}},
	} {
		delete(missing, c.raw.Kind())
		event.Valid(c.raw)
		if d := cmp.Diff(c.want, c.raw); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.raw.Kind(), d)
		}
		if data, err := event.Encode(c.raw); err != nil || !utf8.Valid(data) {
			t.Errorf("%s: %s, %v", c.raw.Kind(), data, err)
		} else if read, err := event.Decode(data); err != nil || read.Kind() != c.raw.Kind() {
			t.Errorf("%s is read as %T, %v", c.raw.Kind(), read, err)
		}
	}
	if len(missing) > 0 {
		t.Errorf("no case for %v", missing)
	}
}

func TestWhatOthersShareIsNotMended(t *testing.T) {
	command, said := []string{"ls", "\xe9"}, "\xe9"
	event.Valid(&event.Check{Command: command})
	event.Valid(&event.Message{Text: &said})
	if command[1] != "\xe9" || said != "\xe9" {
		t.Errorf("the caller's own are %q and %q now", command, said)
	}
}
