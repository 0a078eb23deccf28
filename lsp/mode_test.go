package lsp

import (
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/session/event"
)

// TestAPlanIsADocument shows a plan in a client with and without showDocument, edits
// its document in the buffer or on the disk, and accepts it.
func TestAPlanIsADocument(t *testing.T) {
	for _, tt := range []struct {
		name   string
		no     bool // showDocument
		edit   func(r *rig, uri, path string)
		accept string
		want   string // of the engine's call
		err    string
	}{
		{"as it is", false, func(*rig, string, string) {}, `{}`, `"" "1. do it\n"`, ""},
		{"edited in the buffer", false, func(r *rig, uri, _ string) { r.Open(uri); r.SetText(uri, "2. do that\n") }, `{"mode":"edits"}`, `"edits" "2. do that\n"`, ""},
		{"edited on the disk", false, func(r *rig, _, path string) { write(r.t, path, "3. or this\n") }, `{}`, `"" "3. or this\n"`, ""},
		{"emptied", false, func(r *rig, _, path string) { write(r.t, path, " \n") }, `{}`, "", "text: the plan "},
		{"given by the client", false, func(*rig, string, string) {}, `{"text":"4. mine"}`, `"" "4. mine"`, ""},
		{"given by the client, empty", false, func(*rig, string, string) {}, `{"text":" "}`, "", "text: must not be empty"},
		{"without showDocument", true, func(*rig, string, string) {}, `{}`, `"" "1. do it\n"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, lsptest.Options{Transcript: true, NoShowDocument: tt.no}, nil)
			r.emit(&event.Plan{Turn: 1, Text: "1. do it"})
			var uri, path string
			if tt.no {
				said := string(r.WaitMethod("window/showMessage", 0).Params)
				_, rest, _ := strings.Cut(said, "a plan waits in ")
				path, _, _ = strings.Cut(rest, ":")
				uri = text.URI(path)
			} else {
				var shown struct {
					URI string `json:"uri"`
				}
				if err := unmarshal(string(r.WaitMethod("window/showDocument", 0).Params), &shown); err != nil {
					t.Fatal(err)
				}
				uri = shown.URI
				var err error
				if path, err = text.Path(uri); err != nil {
					t.Fatal(err)
				}
			}
			tt.edit(r, uri, path)
			_, err := r.Command("agent.plan.accept", tt.accept)
			calls := strings.Join(r.engine.asked(), "\n")
			if tt.err != "" {
				if err == nil || err.Code != -32602 || !strings.Contains(err.Message, tt.err) || strings.Contains(calls, "accept") {
					t.Errorf("%v, want %q; the engine was called:\n%s", err, tt.err, calls)
				}
				return
			}
			if err != nil || !strings.Contains(calls, "accept "+firstID.String()+" "+tt.want) {
				t.Errorf("%v; want %s of\n%s", err, tt.want, calls)
			}
			// It was accepted: its document does not count any more.
			if _, err := r.Command("agent.plan.accept", `{}`); err != nil || !strings.HasSuffix(r.engine.asked()[len(r.engine.asked())-1], `"" "" in `+r.dir) {
				t.Errorf("%v, %s", err, r.engine.asked())
			}
		})
	}
}
