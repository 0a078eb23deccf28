package main

import (
	"io"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools"
)

func TestAClosedSessionLeavesNoExecutor(t *testing.T) {
	a := newApp(io.Discard, flags{})
	defer a.close()
	disk, err := tools.NewDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	var open []io.Closer
	for range 3 {
		x, err := a.tools(disk)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, x.(io.Closer))
	}
	for i, x := range open {
		if n := len(a.executors); n != len(open)-i {
			t.Errorf("%d executors of %d open sessions", n, len(open)-i)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(a.executors); n != 0 {
		t.Errorf("%d executors are left", n)
	}
}
