package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestReadFile has a row for each thing that the former readers did differently:
// what they took for too large, whether links were followed, what they said.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for name, text := range map[string]string{"empty": "", "fits": "12345678", "over": "123456789", "bytes": "\xff\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "fits", "dangling": "none", "up": "d"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, why string }{
		{"empty", "", ""},
		{"fits", "12345678", ""},
		{"bytes", "\xff\x00", ""},
		{"link", "12345678", ""},
		{"over", "", "it is larger than 8 bytes"},
		{"d", "", "it is not a regular file but a directory"},
		{"up", "", "it is not a regular file but a directory"},
	} {
		for where, read := range map[string]func() ([]byte, error){
			"below a root": func() ([]byte, error) { return ReadFile(root, tt.name, 8) },
			"by its path":  func() ([]byte, error) { return ReadFile(nil, filepath.Join(dir, tt.name), 8) },
		} {
			text, err := read()
			why := ""
			if err != nil {
				why = err.Error()
			}
			if string(text) != tt.text || why != tt.why {
				t.Errorf("%s %s is read as %q, %q; want %q, %q", tt.name, where, text, why, tt.text, tt.why)
			}
		}
	}
	for _, name := range []string{"none", "dangling", "d/none"} {
		if _, err := ReadFile(root, name, 8); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
