package sqlite_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/session/store/storetest"
)

// smallDisk mounts a file system of one megabyte.
func smallDisk(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can mount a small file system to fill")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Skipf("skipped: no small file system to fill can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDisk fills the disk by appending: the failure names the file, all that
// was acknowledged is there, and appends go on where they ended once there is room.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t)
	path, filler := filepath.Join(dir, "sessions.db"), filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 300<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	fill(t, s, 0)
	payload := store.Payload{ContentType: "text/plain", Data: bytes.Repeat([]byte("x"), 3000)}
	batch := []store.Payload{payload, payload, payload}
	answered := uint64(0)
	var err error
	for err == nil {
		var first uint64
		if first, err = s.AppendAll(t.Context(), storetest.ID(1), storetest.At(0), batch); err == nil {
			answered = first + 3
		}
	}
	var failure *store.BackendError
	if !errors.As(err, &failure) || failure.Place != path || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("a full disk is a *store.BackendError that names the file, got %v", err)
	}
	if answered == 0 {
		t.Fatal("nothing fitted on the disk")
	}
	holds(t, s, answered, payload)

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if first, err := s.AppendAll(t.Context(), storetest.ID(1), storetest.At(0), batch); err != nil || first != answered {
		t.Fatalf("once there is room an append returns %d, %v; want %d", first, err, answered)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	holds(t, open(t, path), answered+3, payload)
}

func TestOpenOnFullDisk(t *testing.T) {
	dir := smallDisk(t)
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sessions.db")
	s, err := store.Open(t.Context(), path)
	if err == nil {
		s.Close()
		t.Fatal("a store was made on a full disk")
	}
	if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("the error does not name the file and the reason: %v", err)
	}
}

func holds(t *testing.T, s store.Store, want uint64, payload store.Payload) {
	t.Helper()
	next := uint64(0)
	for e, err := range s.Transcript(t.Context(), storetest.ID(1), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Index != next || !bytes.Equal(e.Payload.Data, payload.Data) {
			t.Fatalf("event %d is %d of %d bytes", next, e.Index, len(e.Payload.Data))
		}
		next++
	}
	if head, err := s.Head(t.Context(), storetest.ID(1)); next != want || head != want || err != nil {
		t.Fatalf("%d events and head %d (%v) are there, %d were acknowledged", next, head, err, want)
	}
}
