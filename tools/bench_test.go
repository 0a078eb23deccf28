package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/diff"
	"github.com/go-json-experiment/json/jsontext"
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
	whole := manyLines(10 << 20)
	for _, where := range []string{"text", "disk"} {
		b.Run(where, func(b *testing.B) {
			e, _ := benchWorld(b)
			text := whole // each part begins with the same
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

// BenchmarkEditOf5000Lines changes one line of a file of 5,000: by the tools edit and
// patch, rightly written, badly indented, and not to be placed.
func BenchmarkEditOf5000Lines(b *testing.B) {
	var s strings.Builder
	for i := range 1250 {
		fmt.Fprintf(&s, "func f%d() {\n\tcall(%d)\n\treturn\n}\n", i, i)
	}
	text := s.String()
	for _, c := range []struct {
		name string
		op   func(from, to string) Op
		ends State
	}{
		{"edit", func(from, to string) Op { return editCall("\t"+from+"\n", "\t"+to+"\n") }, Completed},
		{"edit indented otherwise", func(from, to string) Op { return editCall("    "+from+"\n    return", "    "+to+"\n    return") }, Completed},
		{"edit that fits nowhere", func(from, _ string) Op { return editCall("x"+from, "y") }, Failed},
		{"patch", func(from, to string) Op {
			return patchOp("f", "@@ -2997,4 +2997,4 @@\n func f749() {\n-\t"+from+"\n+\t"+to+"\n \treturn\n }\n")
		}, Completed},
		{"patch indented otherwise", func(from, to string) Op {
			return patchOp("f", "@@\n func f749() {\n-    "+from+"\n+    "+to+"\n     return\n }\n")
		}, Completed},
		{"patch that fits nowhere", func(from, _ string) Op { return patchOp("f", "@@\n func f749() {\n-\tx"+from+"\n+y\n") }, Failed},
	} {
		b.Run(c.name, func(b *testing.B) {
			e, _ := benchWorld(b)
			if err := WriteFile(e.ws.Root(), Edit{Path: "f", Create: true, After: text}); err != nil {
				b.Fatal(err)
			}
			from, to := "call(749)", "CALL(749)"
			for b.Loop() {
				if out := e.Run(b.Context(), c.op(from, to), ""); out.State != c.ends {
					b.Fatal(out.Text)
				} else if c.ends == Completed {
					from, to = to, from
				}
			}
		})
	}
}

func editCall(old, now string) Op {
	quote := func(s string) string {
		out, _ := jsontext.AppendQuote(nil, s)
		return string(out)
	}
	return Op{Tool: &abi.Use{Name: "edit", Arguments: `{"path":"f","old":` + quote(old) + `,"new":` + quote(now) + `}`}}
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
