package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
)

func BenchmarkSpawnToInitialize(b *testing.B) {
	for b.Loop() {
		e := lsptest.Start(b, lsptest.Baseline(), lsptest.Options{})
		e.Initialize()
		b.StopTimer()
		e.Close()
		b.StartTimer()
	}
}

func BenchmarkExecuteCommand(b *testing.B) {
	for _, size := range []int{0, 1 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			e := lsptest.Start(b, lsptest.Baseline(), lsptest.Options{})
			e.Initialize()
			argument := `"` + strings.Repeat("x", size) + `"`
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Command("x", argument); err != nil {
					b.Fatal(err)
				}
				e.Forget()
			}
			b.StopTimer()
			e.Shutdown()
		})
	}
}

func BenchmarkDidChange1KiB(b *testing.B) {
	e := lsptest.Start(b, lsptest.Baseline(), lsptest.Options{})
	e.Initialize()
	change := `{"textDocument":{"uri":"file:///x","version":1},"contentChanges":[{"text":"` + strings.Repeat("x", 1<<10) + `"}]}`
	frame := lsptest.Frame([]byte(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":` + change + `}`))
	n := 0
	for b.Loop() {
		e.SendRaw(frame)
		if n++; n%100 == 0 {
			e.Barrier()
			e.Forget()
		}
	}
	e.Barrier()
	b.StopTimer()
	e.Shutdown()
}
