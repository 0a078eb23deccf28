//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpenWaitsForNothing ends only because a pipe without a writer is not opened.
func TestOpenWaitsForNothing(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]fs.FileMode{pipe: fs.ModeNamedPipe, "/dev/zero": fs.ModeDevice} {
		f, err := Open(nil, name)
		if err == nil {
			_ = f.Close()
		}
		var irregular *IrregularError
		if !errors.As(err, &irregular) || irregular.Mode&kind == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAFileThatGrowsIsNotCut reads one whose size is not told beforehand.
func TestAFileThatGrowsIsNotCut(t *testing.T) {
	const name = "/proc/self/status" // it has a size of 0 and more than 8 bytes
	text, err := ReadFile(nil, name, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil || len(text) < 100 {
		t.Errorf("%q, %v", text, err)
	}
	var size *SizeError
	if text, err := ReadFile(nil, name, 8); !errors.As(err, &size) || text != nil {
		t.Errorf("%q, %v", text, err)
	}
}
