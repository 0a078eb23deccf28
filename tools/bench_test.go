package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/diff"
)

// benchWorld is an executor over a disk and open buffers.
func benchWorld(b *testing.B) (*Executor, *buffers) {
	b.Helper()
	d, err := NewDisk(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	ws := &buffers{Disk: d, docs: map[string]Document{}}
	e, err := New(Config{Workspace: ws})
	if err != nil {
		b.Fatal(err)
	}
	return e, ws
}

func manyLines(bytes int) string {
	var s strings.Builder
	for i := 0; s.Len() < bytes; i++ {
		fmt.Fprintf(&s, "line %d of a file that is rather long\n", i)
	}
	return s.String()
}

func BenchmarkPatchOf10MiB(b *testing.B) {
	text := manyLines(10 << 20)
	for _, where := range []string{"text", "disk"} {
		b.Run(where, func(b *testing.B) {
			e, _ := benchWorld(b)
			if err := WriteFile(e.ws.Root(), Edit{Path: "f", Create: true, After: text}); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			now, next := "200000 of", "200000 OF"
			for b.Loop() {
				patch := fmt.Sprintf("@@ -1,1 +1,1 @@\n-line %s a file that is rather long\n+line %s a file that is rather long\n", now, next)
				if where == "text" {
					d, err := diff.Parse(patch)
					if err != nil {
						b.Fatal(err)
					}
					if text, _, err = diff.Apply(text, d[0]); err != nil {
						b.Fatal(err)
					}
				} else if out := e.Run(b.Context(), Op{Patch: &abi.Patch{Path: "f", Diff: patch}}, ""); out.State != Completed {
					b.Fatal(out.Text)
				}
				now, next = next, now
			}
		})
	}
}

func BenchmarkReadOfAnOpenMiB(b *testing.B) {
	e, ws := benchWorld(b)
	text := manyLines(1 << 20)
	ws.open("f", text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if out := e.Run(b.Context(), readOp("f"), ""); out.State != Completed {
			b.Fatal(out.Text)
		}
	}
}

// BenchmarkExecTrue is to be read beside BenchmarkTrue of package proc, which has
// the bare system's figure.
func BenchmarkExecTrue(b *testing.B) {
	e, _ := benchWorld(b)
	for b.Loop() {
		if out := e.Run(b.Context(), execOp("true"), ""); out.State != Completed {
			b.Skip(out.Text)
		}
	}
}
