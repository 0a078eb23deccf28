//go:build unix

package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/session/store/storetest"
)

// shortEnv names the file that TestShortWritesChild appends to.
const shortEnv = "AGENT_LSP_SQLITE_SHORT"

// TestAWriteThatFailedHalfwayIsMadeOnceMore has the system cut a write in its
// middle, at many places of the log: the append fails, all that was acknowledged is
// there, and the same append made again is there once.
func TestAWriteThatFailedHalfwayIsMadeOnceMore(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestShortWritesChild$", "-test.v")
	cmd.Env = append(os.Environ(), shortEnv+"="+filepath.Join(t.TempDir(), "sessions.db"))
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestShortWritesChild")) {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestShortWritesChild sets its own process's limit of a file's size, which is why
// it is a process of its own.
func TestShortWritesChild(t *testing.T) {
	path := os.Getenv(shortEnv)
	if path == "" {
		t.Skip("runs in the child of TestAWriteThatFailedHalfwayIsMadeOnceMore")
	}
	signal.Ignore(syscall.SIGXFSZ) // the write returns an error instead
	var free syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &free); err != nil {
		t.Fatal(err)
	}
	limit := func(size uint64) {
		t.Helper()
		l := free
		l.Cur = size
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, path)
	fill(t, s, 0)
	const rounds = 40
	answered := uint64(0)
	for round := range rounds {
		payload := func() store.Payload {
			return storetest.JSON(strconv.FormatUint(answered, 10) + strings.Repeat(" ", 500))
		}
		log, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		limit(uint64(log.Size()) + uint64(round*977)%12_000) // within the next writes, wherever their frames end
		var failure *store.BackendError
		for {
			index, err := s.Append(t.Context(), storetest.ID(1), storetest.At(0), payload())
			if err == nil && index == answered {
				answered++
				continue
			}
			if !errors.As(err, &failure) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("a write that was cut returns %d, %v", index, err)
			}
			break
		}
		limit(free.Cur)
		if round%8 == 7 { // as another process finds it
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, path)
		}
		if index, err := s.Append(t.Context(), storetest.ID(1), storetest.At(0), payload()); err != nil || index != answered {
			t.Fatalf("the append made again returns %d, %v; want %d", index, err, answered)
		}
		answered++
	}
	next := uint64(0)
	for e, err := range s.Transcript(t.Context(), storetest.ID(1), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Index != next || !strings.Contains(string(e.Payload.Data), fmt.Sprintf(`"text":"%d `, next)) {
			t.Fatalf("event %d is %d %s", next, e.Index, e.Payload.Data)
		}
		next++
	}
	if next != answered || next < rounds {
		t.Fatalf("%d events are there, %d were acknowledged", next, answered)
	}
}
