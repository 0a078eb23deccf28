package tools

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/diff"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json"
)

// toolOp is a call of a tool by its name, with a struct of arguments.
// TestAFileOfBlanksIsNotTakenForNothing, which is what most servers make of it.
func TestAFileOfBlanksIsNotTakenForNothing(t *testing.T) {
	for text, says := range map[string]string{
		"\n": `"\n"`, "  \n\t\n": `"  \n\t\n"`, " ": `" "`, "\r\n": `"\r\n"`, "\u00a0\n": `"\u00a0\n"`,
	} {
		w := newWorld(t, map[string]string{"a.txt": text})
		out := w.run(readOp("a.txt"))
		want(t, out, Completed, "[nothing but blanks: "+says+"]")
		want(t, w.run(writeOp("a.txt", "x\n")), Completed, "wrote") // it has been read
	}
}

func toolOp(t testing.TB, name string, args any) abi.Call {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return abi.Call{Tool: &abi.Use{Name: name, Arguments: string(data)}}
}

func numberedLines(from, to int, end string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d%s", i, end)
	}
	return b.String()
}

func TestReadShowsAPart(t *testing.T) {
	wide := strings.Repeat("é", 2001)
	files := map[string]string{
		"short": numberedLines(1, 10, "\n"), "open end": "a\nb", "many": numberedLines(1, 51233, "\n"), "crlf": numberedLines(1, 3, "\r\n"),
		"exact": numberedLines(1, 2000, "\n"), "more": numberedLines(1, 2001, "\n"), "empty": "", "mark": workspace.ByteOrderMark + "a\nb\n",
		"wide": "a\n" + wide + "\nb\n", "almost": strings.Repeat("é", 2000) + "\r\n", "fat": strings.Repeat(strings.Repeat("x", 1023)+"\n", 100),
		"bin": "a\nb\x00", "latin": "a\ncaf\xe9\n", "huge": strings.Repeat(numberedLines(1, 100000, "\n"), 3), "huge bin": strings.Repeat(numberedLines(1, 100000, "\n"), 3) + "\x00",
		"d/a": "", "d/b": "", "d/c/x": "",
	}
	w := newWorld(t, files)
	for _, tt := range []struct {
		args  readArgs
		state State
		want  string
	}{
		{readArgs{Path: "short"}, Completed, files["short"]},
		{readArgs{Path: "short", Offset: 1, Limit: 10}, Completed, files["short"]},
		{readArgs{Path: "short", Offset: 4, Limit: 2}, Completed, "line 4\nline 5\n[lines 4–5 of 10; go on with offset 6]"},
		{readArgs{Path: "short", Offset: 9}, Completed, "line 9\nline 10\n[lines 9–10 of 10]"},
		{readArgs{Path: "short", Limit: 1}, Completed, "line 1\n[lines 1–1 of 10; go on with offset 2]"},
		{readArgs{Path: "short", Offset: 11}, Failed, "short has 10 lines: offset 11 is behind its end"},
		{readArgs{Path: "short", Offset: -1}, Failed, "not read: offset counts lines from 1 and limit is a number of lines; they are -1 and 0"},
		{readArgs{Path: "open end", Offset: 2}, Completed, "b\n[lines 2–2 of 2]"},
		{readArgs{Path: "many"}, Completed, numberedLines(1, 2000, "\n") + "[lines 1–2000 of 51,233; go on with offset 2001]"},
		{readArgs{Path: "many", Offset: 2001, Limit: 99999}, Completed, numberedLines(2001, 4000, "\n") + "[lines 2001–4000 of 51,233; go on with offset 4001]"},
		{readArgs{Path: "many", Offset: 51233}, Completed, "line 51233\n[lines 51233–51233 of 51,233]"},
		{readArgs{Path: "crlf", Offset: 2, Limit: 1}, Completed, "line 2\r\n[lines 2–2 of 3; go on with offset 3]"},
		{readArgs{Path: "exact"}, Completed, files["exact"]},
		{readArgs{Path: "more"}, Completed, files["exact"] + "[lines 1–2000 of 2,001; go on with offset 2001]"},
		{readArgs{Path: "empty"}, Completed, ""},
		{readArgs{Path: "empty", Offset: 2}, Failed, "empty has 0 lines: offset 2 is behind its end"},
		{readArgs{Path: "mark"}, Completed, "a\nb\n"},
		{readArgs{Path: "wide"}, Completed, "a\n" + strings.Repeat("é", 2000) + " [… line cut, 4,003 bytes]\nb\n[lines 1–3 of 3; 1 line over 2,000 characters, cut]"},
		{readArgs{Path: "almost"}, Completed, files["almost"]},
		{readArgs{Path: "fat"}, Completed, strings.Repeat(strings.Repeat("x", 1023)+"\n", 64) + "[lines 1–64 of 100; go on with offset 65]"},
		{readArgs{Path: "bin", Limit: 1}, Failed, "bin is a binary file of 4 bytes (it has NUL bytes)"},
		{readArgs{Path: "huge", Offset: 200000, Limit: 2}, Completed, "line 100000\nline 1\n[lines 200000–200001 of 300,000; go on with offset 200002]"},
		{readArgs{Path: "huge", Offset: 300001}, Failed, "huge has 300,000 lines: offset 300001 is behind its end"},
		{readArgs{Path: "huge bin"}, Failed, "huge bin is a binary file (it has NUL bytes)"},
		{readArgs{Path: "d"}, Completed, "a\nb\nc/"},
		{readArgs{Path: "d", Offset: 2, Limit: 1}, Completed, "b\n[entries 2–2 of 3; go on with offset 3]"},
	} {
		got := w.run(toolOp(t, "read", tt.args))
		if got.State != tt.state || got.Text != tt.want {
			t.Errorf("%+v: %s\n%s\nwant %s\n%s", tt.args, got.State, clip(got.Text), tt.state, clip(tt.want))
		}
	}
}

// TestAPartIsNotTheWhole writes over files of which only parts were read.
func TestAPartIsNotTheWhole(t *testing.T) {
	long := numberedLines(1, 3000, "\n")
	for name, tt := range map[string]struct {
		text  string
		reads []readArgs
		ok    bool
	}{
		"a part":                {long, []readArgs{{Path: "f"}}, false},
		"both parts":            {long, []readArgs{{Path: "f"}, {Path: "f", Offset: 2001}}, true},
		"in any order":          {long, []readArgs{{Path: "f", Offset: 1500}, {Path: "f", Limit: 1499}}, true},
		"with a gap":            {long, []readArgs{{Path: "f", Offset: 1501}, {Path: "f", Limit: 1499}}, false},
		"a gap that was closed": {long, []readArgs{{Path: "f", Offset: 1501}, {Path: "f", Limit: 1400}, {Path: "f", Offset: 1399, Limit: 102}}, true},
		"a line that was cut":   {"a\n" + strings.Repeat("x", 3000) + "\n", []readArgs{{Path: "f"}}, false},
	} {
		w := newWorld(t, map[string]string{"f": tt.text})
		var last Outcome
		for _, r := range tt.reads {
			last = w.run(toolOp(t, "read", r))
			want(t, last, Completed)
		}
		if (last.ReadHash != "") != tt.ok {
			t.Errorf("%s: the last read has the hash %q", name, last.ReadHash)
		}
		out := w.run(writeOp("f", "new\n"))
		if (out.State == Completed) != tt.ok {
			t.Errorf("%s: %s", name, out.Text)
		}
	}
	w := newWorld(t, map[string]string{"f": long})
	w.run(toolOp(t, "read", readArgs{Path: "f"}))
	w.put("f", "new "+long)
	w.run(toolOp(t, "read", readArgs{Path: "f", Offset: 2001}))
	want(t, w.run(writeOp("f", "new\n")), Failed, "read it first")
}

// TestAPageIsTheSameInAnyChunks reads texts byte by byte and at once.
func TestAPageIsTheSameInAnyChunks(t *testing.T) {
	for _, text := range []string{"", "\n", "a", "a\nb", "a\n\nb\n", strings.Repeat("é", 2001) + "\nb", strings.Repeat("x\n", 300)} {
		for offset := 1; offset < 5; offset++ {
			for _, limit := range []int{1, 2, 2000} {
				for _, room := range []int{1, 5, 4000} {
					whole, err := readPage(strings.NewReader(text), offset, limit, room)
					if err != nil {
						t.Fatal(err)
					}
					if bytewise, err := readPage(iotest.OneByteReader(strings.NewReader(text)), offset, limit, room); err != nil || !reflect.DeepEqual(whole, bytewise) {
						t.Errorf("%q from %d: %+v, byte by byte %+v, %v", clip(text), offset, whole, bytewise, err)
					}
					if lines := len(diff.Split(text)); whole.total != lines || whole.to > max(min(lines, offset+limit-1), offset-1) {
						t.Errorf("%q from %d: %+v", clip(text), offset, whole)
					}
				}
			}
		}
	}
}

func TestAReadIsAPartOfTheWindow(t *testing.T) {
	w := newWorld(t, map[string]string{"f": numberedLines(1, 3000, "\n")})
	w.SetBound(1000)
	if out := w.run(readOp("f")); len(out.Text) > 1000 || !strings.HasSuffix(out.Text, "[lines 1–100 of 3,000; go on with offset 101]") {
		t.Errorf("%d bytes:\n%s", len(out.Text), out.Text)
	}
}

// TestAReadOfALongFileIsSmall reads the end of 50 MB: what is allocated is a small
// part of that.
func TestAReadOfALongFileIsSmall(t *testing.T) {
	w := newWorld(t, map[string]string{"f": manyLines(50 << 20)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := w.Run(t.Context(), toolOp(t, "read", readArgs{Path: "f", Offset: 1_000_000, Limit: 20}), "")
	runtime.ReadMemStats(&after)
	want(t, out, Completed, "line 999999 of", "go on with offset 1000020")
	if n := after.TotalAlloc - before.TotalAlloc; n > 2<<20 {
		t.Errorf("a read of 20 lines allocates %d bytes", n)
	}
}

// BenchmarkReadOf50MB is to stay below 50 ms.
func BenchmarkReadOf50MB(b *testing.B) {
	e, _ := benchWorld(b)
	if err := WriteFile(e.ws.Root(), Edit{Path: "f", Create: true, After: manyLines(50 << 20)}); err != nil {
		b.Fatal(err)
	}
	op := toolOp(b, "read", readArgs{Path: "f", Offset: 1_000_000, Limit: 20})
	for b.Loop() {
		if out := e.Run(b.Context(), op, ""); out.State != Completed {
			b.Fatal(out.Text)
		}
	}
}
