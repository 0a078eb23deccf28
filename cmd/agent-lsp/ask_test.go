package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhoCanAnswer is about what run reads answers from: only a terminal has a person.
func TestWhoCanAnswer(t *testing.T) {
	open := func(name string) io.Reader {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	for name, tt := range map[string]struct {
		in   io.Reader
		want bool
	}{
		"a text":            {strings.NewReader("y\n"), false},
		"a pipe":            {r, false},
		"a file":            {open(filepath.Join(t.TempDir(), "f")), false},
		"the empty device":  {open(os.DevNull), false},
		"a pseudo terminal": {open("/dev/ptmx"), true},
	} {
		if got := isTerminal(tt.in); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAPersonChoosesByNumber gives answers to a message with three actions.
func TestAPersonChoosesByNumber(t *testing.T) {
	for answer, want := range map[string]int{"1\n": 0, " 3 \n": 2, "2": 1, "4\n": -1, "0\n": -1, "\n": -1, "": -1, "y\n": -1} {
		var out strings.Builder
		a := (&runCommand{}).asker(stdio{in: strings.NewReader(answer), err: &out})
		if got := a.choose("Trust\x1b[2J it?", []string{"Trust it", "All\x1b", "Not now"}); got != want {
			t.Errorf("%q picks %d, want %d", answer, got, want)
		}
		if s := out.String(); strings.Contains(s, "\x1b") || !strings.Contains(s, "  3. Not now\n1-3? ") {
			t.Errorf("shown: %q", s)
		}
	}
	if (&runCommand{Yes: true}).asker(stdio{}).choose("", []string{"Trust", "Not now"}) != 0 || (&runCommand{Deny: true}).asker(stdio{}).choose("", []string{"Trust", "Not now"}) != -1 {
		t.Error("the flags do not answer")
	}
}
