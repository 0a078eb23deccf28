package session

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
)

var updateGolden = flag.Bool("update", false, "rewrite the expected episode")

// An episode is all that is stored of a scripted session: its record and its
// events with their times. It must be the same bytes whenever and wherever the
// script runs.

const (
	episodeGolden = "testdata/episode.golden"
	episodeOut    = "AGENT_LSP_TEST_EPISODE" // the child writes its episode to this file
)

var episodeFiles = map[string]string{"main.txt": "one\ntwo\n", "sub/b.txt": "b\n"}

const episodeScript = `
version: 1
entries:
  - {text: Reading., reasoning: First look., calls: [{read: {path: main.txt}}, {read: {path: nope}}, {read: {path: ../out}}], latency: 2s, usage: {input: 10, output: 3}}
  - calls: [{raw: {id: x, name: read, arguments: "{}"}}]
  - calls: [{write: {path: main.txt, text: "one\nTWO\n"}}, {exec: {argv: [cat, main.txt], cwd: sub/..}}, {exec: {argv: [cat, b.txt], cwd: sub}}]
  - {text: Changed., latency: 30s, stream: [Chan, ged.]}
  - {fail: {kind: error, error: overloaded, message: try later}, latency: 1s}
  - {fail: {kind: timeout}}
  - fail: {kind: hang}
  - {text: Still here., latency: 250ms}
`

// episode plays the script in a fresh store and returns what is stored.
func episode(t *testing.T, dsn string) []byte {
	t.Helper()
	r := start(t, episodeFiles, "version: 1\nentries: []\n")
	st, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	r = over(t, r.dir, st, episodeScript)
	settings := r.cfg.Settings
	settings.RequestTimeout = time.Minute
	r.Configure(settings)
	id, _ := r.run("change it")
	for range 4 {
		r.run("again")
	}
	r.Shutdown()
	rec, ok, err := st.Get(t.Context(), id)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	var b bytes.Buffer
	title := ""
	if rec.Title != nil {
		title = *rec.Title
	}
	fmt.Fprintln(&b, rec.ID, rec.Subject, rec.Harness, title, rec.Turns, rec.CreatedAt.Format(time.RFC3339Nano), rec.UpdatedAt.Format(time.RFC3339Nano))
	for e, err := range st.Transcript(t.Context(), id, nil) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d %s %s\n", e.Index, e.At.Format(time.RFC3339Nano), e.Payload.Data)
	}
	return b.Bytes()
}

// TestEpisodeChild is the child of the test below: it does nothing in a plain run.
func TestEpisodeChild(t *testing.T) {
	out := os.Getenv(episodeOut)
	if out == "" {
		return
	}
	if err := os.WriteFile(out, episode(t, "memory:"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAScriptedEpisodeIsTheSameBytesEverywhere plays it twice in this process, in
// stores of two kinds, and once in another one; all equal the committed file.
func TestAScriptedEpisodeIsTheSameBytesEverywhere(t *testing.T) {
	first := episode(t, "memory:")
	if *updateGolden {
		if err := os.WriteFile(episodeGolden, first, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(episodeGolden)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"2000-01-01T00:00:32Z", "Changed.", "try later", "within 1m0s", "Still here.", "read was not called"} {
		if !bytes.Contains(want, []byte(part)) {
			t.Errorf("the expected episode has no %q", part)
		}
	}
	sameEpisode(t, "the first", want, first)
	sameEpisode(t, "the second, in a file", want, episode(t, filepath.Join(t.TempDir(), "sessions.db")))

	out := filepath.Join(t.TempDir(), "episode")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEpisodeChild$")
	cmd.Env = append(os.Environ(), episodeOut+"="+out, "TZ=Pacific/Auckland")
	cmd.Dir = t.TempDir()
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the child: %v\n%s", err, said)
	}
	third, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	sameEpisode(t, "the third, of another process", want, third)
}

// sameEpisode shows the first line that differs.
func sameEpisode(t *testing.T, which string, want, got []byte) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Errorf("%s episode differs at line %d:\n want %s\n got  %s", which, i+1, w[i], g[i])
			return
		}
	}
	t.Errorf("%s episode has %d lines, want %d", which, len(g), len(w))
}
