package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// TestExportNamesDamagedEvents stores events as a broken disk or program may leave
// them, between good ones.
func TestExportNamesDamagedEvents(t *testing.T) {
	const good, newer = `{"kind":"user","turn":1,"text":"a\u009b31m\u007f\u0085é"}`, `{"kind":"hologram","turn":1}`
	for _, tt := range []struct {
		name   string
		events []string
		lines  int
		says   []string
	}{
		{"none", []string{good, newer, good}, 3, nil},
		{"no JSON", []string{good, "\x00\x1b]0;x", good}, 2, []string{"event 1 is damaged"}},
		{"nothing", []string{good, "", good}, 2, []string{"event 1 is damaged"}},
		{"cut", []string{good, good[:20]}, 1, []string{"event 1 is damaged"}},
		{"another type", []string{`{"kind":"user","turn":"one"}`, good}, 1, []string{"event 0 is damaged"}},
		{"no kind", []string{"{}", good, "[1]"}, 1, []string{"event 0 is damaged", "event 2 is damaged"}},
		{"no UTF-8", []string{"{\"kind\":\"user\",\"turn\":1,\"text\":\"\xff\"}", good}, 1, []string{"event 0 is damaged"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dsn := "sqlite:" + filepath.Join(t.TempDir(), "sessions.db")
			st, err := store.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			id := uuid.New()
			if err := st.Put(t.Context(), store.Session{ID: id, Root: "/w", Harness: "p"}); err != nil {
				t.Fatal(err)
			}
			for _, text := range tt.events {
				if _, err := st.Append(t.Context(), id, time.Now(), store.Payload{ContentType: "application/json", Data: []byte(text)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			var out, stderr strings.Builder
			code := run([]string{"sessions", "--store", dsn, "export", id.String()}, stdio{in: strings.NewReader(""), out: &out, err: &stderr})
			if want := map[bool]int{true: exitDone, false: exitError}[tt.says == nil]; code != want {
				t.Errorf("export exits %d, want %d: %s", code, want, &stderr)
			}
			for _, s := range tt.says {
				if !strings.Contains(stderr.String(), s) {
					t.Errorf("%q is not in %q", s, &stderr)
				}
			}
			lines := 0
			for line := range strings.Lines(out.String()) {
				lines++
				var one struct {
					Event struct{ Text string }
				}
				if err := json.Unmarshal([]byte(line), &one); err != nil {
					t.Errorf("%q: %v", line, err)
				}
				if one.Event.Text != "" && one.Event.Text != "a\u009b31m\u007f\u0085é" {
					t.Errorf("the text is %q", one.Event.Text)
				}
			}
			if lines != tt.lines {
				t.Errorf("%d events are exported, want %d:\n%s", lines, tt.lines, &out)
			}
			if shown := out.String() + stderr.String(); strings.ContainsFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) {
				t.Errorf("a control character is printed: %q", shown)
			}
		})
	}
}
