package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAWriteBehindTheLastLookIsNotLost changes a file after it was compared and before
// the new text takes its place.
func TestAWriteBehindTheLastLookIsNotLost(t *testing.T) {
	posix(t)
	for name, meddle := range map[string]func(path string) error{
		"written": func(path string) error { return os.WriteFile(path, []byte("longer than it was\n"), 0o644) },
		"written with as many bytes": func(path string) error {
			then := time.Now().Add(time.Minute) // whatever the clock's step is
			return errors.Join(os.WriteFile(path, []byte("b\n"), 0o644), os.Chtimes(path, then, then))
		},
		"replaced by a file of its size and time": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(path+"2", []byte("b\n"), 0o644), os.Chtimes(path+"2", info.ModTime(), info.ModTime()), os.Rename(path+"2", path))
		},
		"deleted": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"f": "a\n"})
			root, path := w.ws.Root(), filepath.Join(w.dir, "f")
			old, err := readRegular(root, "f", "a\n")
			if err != nil {
				t.Fatal(err)
			}
			temp, err := writeTemp(root, "mine\n", old)
			if err != nil {
				t.Fatal(err)
			}
			if err := meddle(path); err != nil {
				t.Fatal(err)
			}
			want := w.get("f")
			if err := temp.replace("f", old); !errors.Is(err, ErrStale) {
				t.Errorf("the edit returned %v", err)
			}
			if got := w.get("f"); got != want {
				t.Errorf("the file holds %q, want %q", got, want)
			}
			if left, err := filepath.Glob(filepath.Join(w.dir, ".agent-lsp-*")); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestATemporaryCopyIsNobodyElsesToRead looks at the copies of a file before they have
// its mode.
func TestATemporaryCopyIsNobodyElsesToRead(t *testing.T) {
	posix(t)
	for _, mode := range []os.FileMode{0o600, 0o644, 0o400} {
		w := newWorld(t, map[string]string{"f": "a\n"})
		if err := os.Chmod(filepath.Join(w.dir, "f"), mode); err != nil {
			t.Fatal(err)
		}
		old, err := readRegular(w.ws.Root(), "f", "a\n")
		if err != nil {
			t.Fatal(err)
		}
		temp, err := newTemp(w.ws.Root(), old)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := temp.file.Stat(); err != nil || info.Mode() != 0o600 {
			t.Errorf("the copy of a file of mode %v has mode %v, %v", mode, info.Mode(), err)
		}
		if err := temp.remove(); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatIsKnownFromBeforeIsTheNewest restores hashes over others and over a text.
func TestWhatIsKnownFromBeforeIsTheNewest(t *testing.T) {
	var m memory
	text := m.store("text", "a\n")
	for i, c := range []struct{ path, hash, want string }{
		{"f", "one", "one"}, {"f", "two", "two"}, {"f", "two", "two"}, {"text", text, text}, {"text", "other", "other"}, {"f", "", ""},
	} {
		m.restore(map[string]string{c.path: c.hash})
		if got := m.hashes()[c.path]; got != c.want {
			t.Errorf("%d: %s is known as %q, want %q", i, c.path, got, c.want)
		}
	}
	if k, ok := m.lookup("text", "a\n"); !ok || k.hasText {
		t.Errorf("the text is taken for the file's: %+v", k)
	}
}

// TestChainsOfLinksAreFollowed as far as the system follows them.
func TestChainsOfLinksAreFollowed(t *testing.T) {
	posix(t)
	w := newWorld(t, map[string]string{"l0": "end\n"})
	for i := range maxLinks + 1 {
		link(t, w, fmt.Sprintf("l%d", i+1), fmt.Sprintf("l%d", i))
	}
	for n, follows := range map[int]bool{1: true, 2: true, maxLinks: true, maxLinks + 1: false} {
		_, err := resolve(w.ws.Root(), w.dir, fmt.Sprintf("l%d", n))
		if (err == nil) != follows {
			t.Errorf("a chain of %d links: %v", n, err)
		}
	}
}
