package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		"a made id is in use":   {[]FunctionCall{call("", "x", "1"), call("call_1", "x", "2")}, []FunctionCall{call("call_2", "x", "1"), call("call_1", "x", "2")}},
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
