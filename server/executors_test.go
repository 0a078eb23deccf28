package server

import (
	"io"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools"
)

func TestAClosedSessionLeavesNoExecutor(t *testing.T) {
	srv := New(io.Discard, Config{})
	defer srv.Close()
	disk, err := tools.NewDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	var open []io.Closer
	for range 3 {
		x, err := srv.tools(disk)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, x.(io.Closer))
	}
	for i, x := range open {
		if n := len(srv.executors); n != len(open)-i {
			t.Errorf("%d executors of %d open sessions", n, len(open)-i)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(srv.executors); n != 0 {
		t.Errorf("%d executors are left", n)
	}
}
