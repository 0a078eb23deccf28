//go:build unix

package session

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestAPipeInTheWorkspaceHoldsNothingUp has pipes where files are looked for: to
// open one waits for somebody who writes.
func TestAPipeInTheWorkspaceHoldsNothingUp(t *testing.T) {
	r := start(t, nil, "version: 1\nentries: []\n")
	heard := seeing(t, r, true, "{text: Seen.}")
	for _, name := range []string{agentsFile, "a.png"} {
		if err := syscall.Mkfifo(filepath.Join(r.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, res := r.show("look", "a.png"); res.Text != "Seen." || len(heard.requests) != 1 {
		t.Errorf("turn ended %+v", res)
	}
}
