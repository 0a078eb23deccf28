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

// TestAFullDiskDoesNotStopTheSession fills the disk that sessions are kept on in
// the middle of a session: the person is warned on the screen, the session goes
// on, what was stored before is there afterwards, and so is the next session once
// there is room.
func TestAFullDiskDoesNotStopTheSession(t *testing.T) {
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
	dsn, filler := "sqlite:"+filepath.Join(disk, "sessions.db"), filepath.Join(disk, "filler")
	serve := func() *lsptest.Editor {
		e := lsptest.Start(t, server(t, "AGENT_LSP_STORE="+dsn), lsptest.Options{
			Folders:               []string{t.TempDir()},
			InitializationOptions: scripted(t, "  - text: One.\n  - text: "+strings.Repeat("two ", 5000)+"\n  - text: Three.\n  - text: Four.\n", nil),
		})
		e.Initialize()
		return e
	}
	e := serve()
	prompted(t, e, "first")
	if shown(e) != "" {
		t.Fatalf("warned too early: %s", shown(e))
	}
	fill, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	fill.Close()
	if text := prompted(t, e, "second"); !strings.HasPrefix(text, "two two") {
		t.Errorf("the turn on the full disk ended with %q", text)
	}
	if text := prompted(t, e, "third"); text != "Three." {
		t.Errorf("the turn after it ended with %q", text)
	}
	if text := shown(e); strings.Count(text, "not saved") != 1 || !strings.Contains(text, "sessions.db") || !strings.Contains(text, "full") {
		t.Errorf("shown to the person: %q", text)
	}
	var listed struct {
		Sessions []struct {
			Session uuid.UUID `json:"session"`
		} `json:"sessions"`
	}
	result, rerr := e.Command("agent.session.list", map[string]any{})
	if rerr != nil {
		t.Fatal(rerr)
	}
	if err := json.Unmarshal(result, &listed); err != nil || len(listed.Sessions) != 1 {
		t.Fatalf("listed %s, %v", result, err)
	}
	id := listed.Sessions[0].Session
	if result, rerr := e.Command("agent.transcript", map[string]any{"session": id}); rerr != nil || !bytes.Contains(result, []byte(`"Three."`)) {
		t.Errorf("the transcript is %s, %v", result, rerr)
	}
	e.Shutdown()

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	var kept bytes.Buffer
	for x, err := range st.Transcript(t.Context(), id, nil) {
		if err != nil {
			t.Fatal(err)
		}
		kept.Write(x.Payload.Data)
	}
	if !strings.Contains(kept.String(), `"first"`) || !strings.Contains(kept.String(), `"text":"One."`) {
		t.Errorf("what was stored before is gone: %s", kept.String())
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	e = serve()
	prompted(t, e, "once there is room")
	if shown(e) != "" {
		t.Errorf("warned although there is room: %s", shown(e))
	}
	e.Shutdown()
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
