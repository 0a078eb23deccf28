package lsp

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func entriesOf(t *testing.T, payloads ...event.Payload) []session.Entry {
	t.Helper()
	var out []session.Entry
	for i, p := range payloads {
		raw, err := event.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, session.Entry{Index: uint64(i), At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Event: raw})
	}
	return out
}

func TestATranscriptReadsAsMarkdown(t *testing.T) {
	got := Markdown(uuid.Nil, entriesOf(t,
		&event.User{Turn: 1, Text: "fix it\nplease", Context: []event.Context{{Path: "a.go", First: 2, Last: 3, Text: "x\ny\n"}}},
		&event.Ask{Turn: 1, ID: 1, Round: 1},
		&event.Message{Turn: 1, Ask: 1, Text: new("I will *read* it.")},
		&event.Call{Turn: 1, ID: 2, Name: "Read", Call: &abi.Call{Read: &abi.Read{Path: "a_b.go"}}},
		&event.Result{Turn: 1, ID: 2, State: event.Completed, Text: "package a\n"},
		&event.Approval{Turn: 1, ID: 3, State: "asked", Title: "Run rm", Detail: "rm -rf x"},
		&event.Approval{Turn: 1, ID: 3, State: "answered", Decision: "deny", Reason: "no!"},
		&event.Result{Turn: 1, ID: 3, State: event.Rejected, Text: "rejected: no!"},
		&event.Check{Turn: 1, Outcome: "found", Command: []string{"go", "vet"}, Findings: make([]event.Finding, 2), Text: "a.go:1:1: bad"},
		&event.Error{Turn: 1, Source: "model", Message: "out of money"},
		&event.Note{Text: "a note"},
		&event.Unknown{Name: "later", Raw: jsontext.Value(`{"kind":"later"}`)},
		&event.Done{Turn: 1, Outcome: "complete"},
	))
	want := "# Session 00000000-0000-0000-0000-000000000000\n\n## Turn 1\n\n*2026-01-02 03:04:05 UTC*\n\n> fix it\n> please\n\nWith `a.go`, lines 2–3\n\n" +
		"```\nx\ny\n```\n\nI will *read* it.\n\n**Read a\\_b.go**\n\n```\npackage a\n```\n\n*Asked you: Run rm*\n\n```\nrm -rf x\n```\n\n*denied: no\\!*\n\n" +
		"*rejected*\n\n```\nrejected: no!\n```\n\n**Check:** go vet found 2 problems\n\n```\na.go:1:1: bad\n```\n\n**Error** (model)\n\n```\nout of money\n```\n\n" +
		"*Note:* a note\n\n*Turn 1 ended: complete.*\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestHostileTextCannotChangeATranscriptsStructure(t *testing.T) {
	marker := "\n## Turn 9\n"
	for _, s := range []string{
		"```\nrm -rf", "~~~~ text", "````\n```\n", "a ``` b", "   ```go\nx", "<script>alert(1)</script>", "x\x1b[31m\x00y", "```\n" + "`````",
	} {
		got := Markdown(uuid.Nil, entriesOf(t,
			&event.User{Turn: 1, Text: s},
			&event.Message{Turn: 1, Text: new(s)},
			&event.Result{Turn: 1, State: event.Completed, Text: s, Edit: &event.Edit{Diff: s}},
			&event.Note{Text: s},
			&event.User{Turn: 9, Text: "next"},
		))
		// Whatever was open is closed before the next turn's heading.
		before, _, ok := strings.Cut(got, marker)
		if !ok {
			t.Errorf("%q hides the next turn:\n%s", s, got)
			continue
		}
		if closeFence(before) != before {
			t.Errorf("%q leaves a fence open:\n%s", s, before)
		}
		if strings.ContainsAny(got, "\x1b\x00") {
			t.Errorf("%q: control characters are left", s)
		}
	}
}

func TestATranscriptIsShownAsMarkdown(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options lsptest.Options
		uri     string // a prefix of what is shown
		err     string
	}{
		{"virtual", lsptest.Options{}, "agent://session/" + firstID.String() + ".md", ""},
		{"as a file", lsptest.Options{NoContent: true}, "file://", ""},
		{"not at all", lsptest.Options{NoShowDocument: true}, "", "read agent://session/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, tt.options, nil)
			r.engine.listing.Sessions = []session.Info{
				{ID: secondID, Root: r.dir, UpdatedAt: time.Unix(1, 0)}, {ID: firstID, Root: r.dir, UpdatedAt: time.Unix(2, 0)}, {ID: uuid.Max, Root: "/elsewhere", UpdatedAt: time.Unix(3, 0)},
			}
			r.engine.entries = entriesOf(t, &event.User{Turn: 1, Text: "hello"})
			raw, err := r.Command("agent.transcript.open", `{}`)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Message, tt.err) {
					t.Errorf("%v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var result struct {
				URI string `json:"uri"`
			}
			if err := unmarshal(string(raw), &result); err != nil || !strings.HasPrefix(result.URI, tt.uri) {
				t.Errorf("%s, %v", raw, err)
			}
			shown := string(r.WaitMethod("window/showDocument", 0).Params)
			if !strings.Contains(shown, result.URI) {
				t.Errorf("shown %s", shown)
			}
			if path, err := text.Path(result.URI); err == nil {
				r.dir = filepath.Dir(path)
				if s := r.read(filepath.Base(path)); !strings.Contains(s, "> hello") {
					t.Errorf("the file holds %q", s)
				}
				return
			}
			content, err := r.Call("workspace/textDocumentContent", `{"uri":"`+result.URI+`"}`)
			if err != nil || !strings.Contains(string(content), `> hello`) {
				t.Errorf("%s, %v", content, err)
			}
			r.side().Event(firstID, r.dir, store.Event{Payload: store.Payload{Data: []byte(`{"kind":"done"}`)}}, &event.Done{Turn: 1})
			r.WaitMethod("workspace/textDocumentContent/refresh", 0)
		})
	}
}

func TestOnlyTheServersOwnDocumentsHaveContent(t *testing.T) {
	r := start(t, lsptest.Options{}, nil)
	r.engine.listing.Sessions = []session.Info{{ID: secondID, Root: "/elsewhere"}}
	for _, uri := range []string{"agent://session/x.md", "agent://session/" + firstID.String(), "file:///etc/passwd", "", "agent://session/" + secondID.String() + ".md"} {
		if _, err := r.Call("workspace/textDocumentContent", `{"uri":"`+uri+`"}`); err == nil || err.Code != -32602 {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
