package session

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// odd are texts that break records which are not framed or escaped with care, and
// what is kept of them: bytes that are not UTF-8 become U+FFFD, the rest stays.
var odd = map[string]string{
	"lines":     "a\nb\rc\r\nd\u2028e\u2029f",
	"control":   "nul \x00 escape \x1b[31m bell \a del \x7f",
	"markup":    "</x> <|end|> \\u0000 \\\" \"}]}",
	"not UTF-8": "\xff \xc3( \xed\xa0\xbd cut \xf0\x9f\xa6",
	"non-BMP":   "😀 e\u0301 \U0010FFFF \ufeff",
	"long":      strings.Repeat("0123456789abcde\n", 10<<20/16),
}

type oddModel struct{ text string }

func (m oddModel) Respond(_ context.Context, req model.Request, _ func(model.Delta)) (model.Response, error) {
	if strings.HasSuffix(req.Step, "/1") {
		return model.Response{Text: &m.text, Sealed: jsontext.Value(m.text), Calls: []model.FunctionCall{{ID: "a", Name: "exec", Arguments: `{"argv":["x"],"cwd":null}`}}}, nil
	}
	return model.Response{Text: &m.text, Reasoning: &m.text, Finish: "stop"}, nil
}

type oddTools struct {
	Tools
	text string
}

func (x oddTools) Run(context.Context, tools.Op, string) tools.Outcome {
	return tools.Outcome{State: tools.Completed, Text: x.text}
}

func TestOddTextsAreKeptAndResumed(t *testing.T) {
	for name, text := range odd {
		t.Run(name, func(t *testing.T) {
			if name == "long" && testing.Short() {
				t.Skip("10 MiB")
			}
			said := text
			if len(text) > 1<<20 {
				said = "see the result" // a conversation holds 16 MiB
			}
			path := filepath.Join(t.TempDir(), "sessions.db")
			st, err := store.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			manage := func() *rig {
				r := over(t, t.TempDir(), st, "version: 1\nentries: []\n")
				r.Shutdown()
				inner := r.cfg.Tools
				r.cfg.Tools = func(ws tools.Workspace) (Tools, error) {
					x, err := inner(ws)
					return oddTools{x, text}, err
				}
				r.cfg.Provider = func(context.Context, model.Profile, ProviderEnv) (model.Model, error) { return oddModel{said}, nil }
				r.Manager = NewManager(r.cfg, r)
				return r
			}
			r := manage()
			id, turn, err := r.Prompt(t.Context(), Prompt{Root: r.dir, Text: said, Context: []event.Context{{Path: "a.txt", Text: said}}})
			if err != nil {
				t.Fatal(err)
			}
			want := cut(strings.ToValidUTF8(text, "\ufffd"), maxText, "a result")
			if res := r.result(id, turn); res.Outcome != "complete" || res.Text != strings.ToValidUTF8(said, "\ufffd") {
				t.Fatalf("the turn ended %.200q", res)
			}
			r.Shutdown()
			var results []string
			for e, err := range st.Transcript(t.Context(), id, nil) {
				if err != nil {
					t.Fatal(err)
				}
				if !utf8.Valid(e.Payload.Data) || strings.ContainsAny(string(e.Payload.Data), "\n\r\x00\x1b") {
					t.Errorf("event %d is not one line of text", e.Index)
				}
				p, err := event.Decode(e.Payload.Data)
				if err != nil {
					t.Fatal(err)
				}
				if res, ok := p.(*event.Result); ok {
					results = append(results, res.Text)
				}
			}
			if len(results) != 1 || results[0] != want {
				t.Errorf("kept results: %s", cmp.Diff([]string{want}, results))
			}
			next := manage()
			if _, err := next.Resume(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if name == "long" {
				return // a second result would not fit the conversation
			}
			turn = must(next.Prompt(t.Context(), Prompt{Session: &id, Text: said}))
			if res := next.result(id, turn); res.Outcome != "complete" {
				t.Errorf("the turn after the resume ended %.200q", res)
			}
		})
	}
}
