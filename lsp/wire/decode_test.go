package wire_test

import (
	"math"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
)

func TestDidChangeIsDecodedStrictly(t *testing.T) {
	whole := func(s string) []text.Change { return []text.Change{{Text: s}} }
	ranged := func(l1, c1, l2, c2 uint32) []text.Change {
		return []text.Change{{Text: "x", Range: &protocol.Range{
			Start: protocol.Position{Line: l1, Character: c1}, End: protocol.Position{Line: l2, Character: c2},
		}}}
	}
	for _, tt := range []struct {
		changes string
		want    []text.Change
		err     string
	}{
		{`[]`, []text.Change{}, ""},
		{`[{"text":"all"}]`, whole("all"), ""},
		{`[{"range":{"start":{"line":1,"character":2},"end":{"line":3,"character":4}},"text":"x"}]`, ranged(1, 2, 3, 4), ""},
		{`[{"range":{"start":{"line":0.0,"character":1e0},"end":{"line":3,"character":4}},"text":"x","rangeLength":-1}]`, ranged(0, 1, 3, 4), ""},
		{`[{"range":{"start":{"line":1,"character":2},"end":{"line":9007199254740991,"character":0}},"text":"x","new":{}}]`, ranged(1, 2, math.MaxUint32, 0), ""},
		{`[{"range":{"start":{"line":-1,"character":2},"end":{"line":3,"character":4}},"text":"x"}]`, nil, "contentChanges/0/range/start/line"},
		{`[{"range":{"start":{"line":1.5,"character":2},"end":{"line":3,"character":4}},"text":"x"}]`, nil, "whole number"},
		{`[{"range":{"start":{"line":1,"character":"2"},"end":{"line":3,"character":4}},"text":"x"}]`, nil, "start/character"},
		{`[{"range":{"start":{"line":1},"end":{"line":3,"character":4}},"text":"x"}]`, nil, "start/character is missing"},
		{`[{"range":{},"text":"x"}]`, nil, "start/line is missing"},
		{`[{"range":null,"text":"x"}]`, nil, "contentChanges/0/range is a JSON null"},
		{`[{"range":[],"text":"x"}]`, nil, "contentChanges/0/range"},
		{`[{"text":"a"},{"range":{}}]`, nil, "contentChanges/1/text is missing"},
		{`[{"text":7}]`, nil, "contentChanges/0/text"},
		{`{}`, nil, "contentChanges"},
	} {
		got, err := wire.DecodeDidChange(jsontext.Value(`{"textDocument":{"uri":"file:///C:/[x]","version":2.0},"contentChanges":` + tt.changes + `}`))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want one with %q", tt.changes, err, tt.err)
			}
			continue
		}
		want := wire.DidChange{URI: "file:///C:/[x]", Version: 2, Changes: tt.want}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.changes, err, diff)
		}
	}
	for params, want := range map[string]string{
		`{"textDocument":{"uri":"x","version":null},"contentChanges":[]}`:       "textDocument/version",
		`{"textDocument":{"uri":"x"},"contentChanges":[]}`:                      "textDocument/version is missing",
		`{"textDocument":{"version":1},"contentChanges":[]}`:                    "textDocument/uri is missing",
		`{"textDocument":{"uri":"x","version":3000000000},"contentChanges":[]}`: "32 bit",
		`{}`: "textDocument/uri is missing",
	} {
		if _, err := wire.DecodeDidChange(jsontext.Value(params)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", params, err, want)
		}
	}
}

func TestDocumentsKeepTheClientsSpelling(t *testing.T) {
	const uri = "file:///C:/w/%5bid%5d/a+b.go"
	open, err := wire.DecodeDidOpen(jsontext.Value(`{"textDocument":{"uri":"` + uri + `","languageId":"go","version":0,"text":"x"}}`))
	if want := (wire.DidOpen{URI: uri, Language: "go", Text: "x"}); err != nil || open != want {
		t.Errorf("didOpen is %+v, %v", open, err)
	}
	save, err := wire.DecodeDidSave(jsontext.Value(`{"textDocument":{"uri":"` + uri + `"},"text":"y"}`))
	if err != nil || save.URI != uri || *save.Text != "y" {
		t.Errorf("didSave is %+v, %v", save, err)
	}
	closed, err := wire.DecodeDidClose(jsontext.Value(`{"textDocument":{"uri":"` + uri + `"}}`))
	if err != nil || closed.URI != uri {
		t.Errorf("didClose is %+v, %v", closed, err)
	}
	if _, err := wire.DecodeDidOpen(jsontext.Value(`{"textDocument":{"uri":"x"}}`)); err == nil {
		t.Error("didOpen without a text was taken")
	}
}
