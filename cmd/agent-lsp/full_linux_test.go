package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// smallDisk is a small file system for sessions, with what fills it and empties it.
func smallDisk(t *testing.T) (dsn string, fill, empty func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can mount a small file system to fill")
	}
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Skipf("skipped: no small file system to fill can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	filler := filepath.Join(disk, "filler")
	fill = func() {
		f, err := os.Create(filler)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		f.Close()
	}
	empty = func() {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	return "sqlite:" + filepath.Join(disk, "sessions.db"), fill, empty
}

// TestASessionWaitsWhileItsDiskIsFull fills the disk that sessions are kept on in
// the middle of a session: the person is asked, nothing is done, and once there is
// room the session goes on by itself. When the person wants it to go on unsaved it
// does, and what was stored before is there afterwards.
func TestASessionWaitsWhileItsDiskIsFull(t *testing.T) {
	for name, c := range map[string]struct {
		answer lsptest.QuestionAnswer
		kept   string // of the turn on the full disk
	}{
		"until there is room": {"Wait", `"Three."`},
		"unless told not to":  {"Go on unsaved", `"One."`},
	} {
		t.Run(name, func(t *testing.T) {
			dsn, fill, empty := smallDisk(t)
			e := lsptest.Start(t, program(t, "AGENT_LSP_STORE="+dsn), lsptest.Options{
				Folders:               []string{t.TempDir()},
				InitializationOptions: scripted(t, "  - text: One.\n  - text: "+strings.Repeat("two ", 5000)+"\n  - text: Three.\n", nil),
			})
			e.Initialize()
			prompted(t, e, "first")
			fill()
			e.AnswerQuestions(c.answer)
			second := e.GoCommand("agent.prompt", map[string]any{"text": "second", "wait": true})
			asked := string(e.WaitMethod("window/showMessageRequest", 0).Params)
			if !strings.Contains(asked, "cannot be saved") || !strings.Contains(asked, "sessions.db") || !strings.Contains(asked, "full") {
				t.Errorf("the person was asked %s", asked)
			}
			waits := c.answer == "Wait"
			if waits {
				empty()
			}
			if result, rerr := second.Wait(); rerr != nil || !strings.Contains(string(result), "two two") {
				t.Errorf("the turn on the full disk ended %s, %v", result, rerr)
			}
			if text := prompted(t, e, "third"); text != "Three." {
				t.Errorf("the turn after it ended with %q", text)
			}
			if n := strings.Count(shown(e), "goes on in memory only"); (n == 1) == waits {
				t.Errorf("shown to the person: %q", shown(e))
			}
			result, rerr := e.Command("agent.session.list", map[string]any{})
			var listed struct {
				Sessions []struct {
					Session uuid.UUID `json:"session"`
				} `json:"sessions"`
			}
			if rerr != nil || json.Unmarshal(result, &listed) != nil || len(listed.Sessions) != 1 {
				t.Fatalf("listed %s, %v", result, rerr)
			}
			e.Shutdown()
			if !waits {
				empty()
			}
			kept := storedText(t, dsn, listed.Sessions[0].Session)
			if !strings.Contains(kept, c.kept) || strings.Contains(kept, `"Three."`) != waits {
				t.Errorf("stored is %.2000s", kept)
			}
		})
	}
}

// storedText is what a session's transcript holds.
func storedText(t *testing.T, dsn string, id uuid.UUID) string {
	t.Helper()
	st, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var kept bytes.Buffer
	for x, err := range st.Transcript(t.Context(), id, nil) {
		if err != nil {
			t.Fatal(err)
		}
		kept.Write(x.Payload.Data)
	}
	return kept.String()
}

// shown is all that was shown to the person.
func shown(e *lsptest.Editor) string {
	var b strings.Builder
	for _, m := range e.Traffic() {
		if m.Method == "window/showMessage" {
			b.Write(m.Params)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
