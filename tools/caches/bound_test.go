package caches

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fill makes private caches of two workspaces, each of 100 bytes, the later the newer.
func fill(t *testing.T) (base string, names []string) {
	t.Helper()
	base = t.TempDir()
	for i, at := range []string{"/w/a go-build", "/w/a npm", "/w/b go-build", "/w/b mod"} {
		var workspace, tool string
		if _, err := fmt.Sscan(at, &workspace, &tool); err != nil {
			t.Fatal(err)
		}
		files, err := Open(base, workspace, nil)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(files, tool, "x")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, make([]byte, 100), 0o400); err != nil {
			t.Fatal(err)
		}
		used := time.Unix(1_000_000+int64(i), 0)
		if err := os.Chtimes(file, used, used); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o500); err != nil { // as Go's downloads are
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir, 0o700) })
	}
	return base, []string{"/w/b mod", "/w/b go-build", "/w/a npm", "/w/a go-build"}
}

func shown(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		if e.Tool != "xdg" {
			out = append(out, e.Workspace+" "+e.Tool)
		}
	}
	return out
}

func TestTheCachesUsedLongestAgoGoFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		limit int64
		kept  int
	}{"room for all": {400, 4}, "for two": {299, 2}, "for one": {100, 1}, "for none": {0, 0}} {
		t.Run(name, func(t *testing.T) {
			base, names := fill(t)
			outside := filepath.Join(t.TempDir(), "precious")
			if err := os.WriteFile(outside, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			all, err := List(t.Context(), base)
			if d := cmp.Diff(names, shown(all)); err != nil || d != "" {
				t.Fatalf("listed (-want +got):\n%s%v", d, err)
			}
			if err := os.Symlink(filepath.Dir(outside), filepath.Join(base, all[0].dir, "link")); err != nil {
				t.Fatal(err)
			}
			gone, err := Trim(t.Context(), base, tt.limit)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(names[tt.kept:], shown(gone)); len(shown(gone)) != 4-tt.kept || tt.kept < 4 && d != "" {
				t.Errorf("removed (-want +got):\n%s", d)
			}
			left, err := List(t.Context(), base)
			if err != nil || len(shown(left)) != tt.kept {
				t.Errorf("left are %v, %v", shown(left), err)
			}
			if _, err := os.Stat(outside); err != nil {
				t.Error("what a link leads to was removed:", err)
			}
		})
	}
}

func TestWithoutCachesThereIsNothingToTrim(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	if all, err := List(t.Context(), none); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	if gone, err := Trim(t.Context(), none, 0); err != nil || len(gone) > 0 {
		t.Errorf("%v, %v", gone, err)
	}
}
