package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestNotifierTellsWhatHappens makes each change and waits for its event.
func TestNotifierTellsWhatHappens(t *testing.T) {
	dir := t.TempDir()
	n, err := NewNotifier()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Add(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	if err := n.Add(dir); err != nil {
		t.Fatal(err)
	}
	file, moved := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, step := range []struct {
		do   func() error
		path string
		what What
	}{
		{func() error { return os.WriteFile(file, nil, 0o644) }, file, Made},
		{func() error { return os.WriteFile(file, []byte("x"), 0o644) }, file, Written},
		{func() error { return os.Rename(file, moved) }, moved, Made},
		{func() error { return os.Remove(moved) }, moved, Gone},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		limit := time.After(time.Minute)
		for reported := false; !reported; {
			select {
			case e := <-n.Events():
				reported = e.Path == step.path && e.What.Has(step.what)
			case err := <-n.Errors():
				t.Fatal(err)
			case <-limit:
				t.Fatalf("%s: no event says that it is %v", step.path, step.what)
			}
		}
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil { // though nobody takes what came last
		t.Fatal(err)
	}
	if _, ok := <-n.Events(); ok {
		if _, ok = <-n.Events(); ok {
			t.Error("events come after the end")
		}
	}
}
