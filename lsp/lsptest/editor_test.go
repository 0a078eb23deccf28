package lsptest_test

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
)

// failing records why a test would have failed.
type failing struct{ text string }

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure runs something that must fail, and returns its text.
func failure(t *testing.T, run func(lsptest.T)) string {
	t.Helper()
	f := &failing{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(f)
	}()
	<-done
	if f.text == "" {
		t.Fatal("it did not fail")
	}
	return f.text
}

// attach makes an editor whose server is the test: what it sends is written to w.
func attach(t lsptest.T, o lsptest.Options) (e *lsptest.Editor, w io.WriteCloser) {
	fromServer, toClient := wire.Pipe()
	_, toServer := wire.Pipe()
	return lsptest.Attach(t, fromServer, toServer, o), toClient
}

func frame(body string) []byte { return lsptest.Frame([]byte(body)) }

func TestFaultsOfAServerAreFound(t *testing.T) {
	const notification = `{"jsonrpc":"2.0","method":%q,"params":{}}`
	edit := func(uri, edits string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"workspace/applyEdit","params":{"edit":{"documentChanges":[{"textDocument":{"uri":"` + uri + `","version":1},"edits":` + edits + `}]}}}`
	}
	for _, tt := range []struct {
		name    string
		options lsptest.Options
		sent    []byte
		want    string
	}{
		{"print on the output", lsptest.Options{}, []byte("panic: x\n"), `no frame: "panic: x\n"`},
		{"text between frames", lsptest.Options{}, append(frame(`{"jsonrpc":"2.0","method":"$/x"}`), "x\r\n"...), "no frame"},
		{"cut off body", lsptest.Options{}, []byte("Content-Length: 10\r\n\r\n{"), "1 of 10 bytes"},
		{"no JSON", lsptest.Options{}, frame(`{`), "no message"},
		{"no version", lsptest.Options{}, frame(`{"id":1}`), "without jsonrpc"},
		{"second response", lsptest.Options{}, slices.Repeat(frame(`{"jsonrpc":"2.0","id":9,"result":1}`), 2), "2 responses"},
		{"unknown notification", lsptest.Options{}, frame(fmt.Sprintf(notification, "agent/new")), "unknown notification agent/new"},
		{"unknown request", lsptest.Options{}, frame(`{"jsonrpc":"2.0","id":9,"method":"agent/ask"}`), "unknown request agent/ask"},
		{"transcript unasked", lsptest.Options{}, frame(fmt.Sprintf(notification, "agent/transcript")), "client without it"},
		{"progress unasked", lsptest.Options{NoProgress: true}, frame(fmt.Sprintf(notification, "$/progress")), "client without it"},
		{"progress without create", lsptest.Options{}, frame(`{"jsonrpc":"2.0","method":"$/progress","params":{"token":1,"value":{"kind":"begin"}}}`), "successful create"},
		{"edit unasked", lsptest.Options{NoApplyEdit: true}, frame(edit("file:///w/a", "[]")), "client without it"},
		{"documentChanges unasked", lsptest.Options{NoDocumentChanges: true}, frame(edit("file:///w/a", "[]")), "client without them"},
		{"create unasked", lsptest.Options{NoCreate: true}, frame(`{"jsonrpc":"2.0","id":1,"method":"workspace/applyEdit","params":{"edit":{"documentChanges":[{"kind":"create","uri":"x:y"}]}}}`), "create"},
		{"range outside", lsptest.Options{}, frame(edit("file:///w/a", `[{"range":{"start":{"line":7,"character":0},"end":{"line":7,"character":0}},"newText":"x"}]`)), "position 7:0 is not in"},
		{"range inside of a character", lsptest.Options{}, frame(edit("file:///w/a", `[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":1}},"newText":"x"}]`)), "position 0:1 is not in"},
		{"overlapping edits", lsptest.Options{}, frame(edit("file:///w/a", `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":2}},"newText":"x"},{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}},"newText":"y"}]`)), "overlaps"},
		{"two spellings", lsptest.Options{}, append(frame(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///w/%5Bx%5D","diagnostics":[]}}`),
			frame(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///w/[x]","diagnostics":[]}}`)...), "two spellings"},
	} {
		e, w := attach(t, tt.options)
		e.OpenText("file:///w/a", "😀b\n", 1)
		if _, err := w.Write(tt.sent); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var faults []string
		for len(faults) == 0 { // the test's own deadline ends it
			faults = e.Faults()
			runtime.Gosched()
		}
		if !strings.Contains(strings.Join(faults, "\n"), tt.want) {
			t.Errorf("%s: found %q, want %q", tt.name, faults, tt.want)
		}
		e.Close()
	}
}

func TestAWaitThatFailsShowsTheTraffic(t *testing.T) {
	got := failure(t, func(ft lsptest.T) {
		e, _ := attach(ft, lsptest.Options{Timeout: time.Millisecond})
		defer e.Close()
		e.Notify("agent/x", `{"n":1}`)
		e.WaitMethod("agent/y", 0)
	})
	for _, want := range []string{"no sign of agent/y within 1ms", `-> agent/x {"n":1}`} {
		if !strings.Contains(got, want) {
			t.Errorf("the failure is %q, want %q in it", got, want)
		}
	}
	got = failure(t, func(ft lsptest.T) {
		e, w := attach(ft, lsptest.Options{})
		defer e.Close()
		_ = w.Close()
		e.Call("agent/x", nil)
	})
	if !strings.Contains(got, "the server has ended (EOF) before the answer to agent/x #1") {
		t.Errorf("the failure is %q", got)
	}
}

func TestChangesThatAreSentGiveTheBuffersText(t *testing.T) {
	for _, e := range []text.Encoding{text.UTF16, text.UTF8, text.UTF32} {
		// The server's side keeps the document by nothing but the notifications.
		o, w := attach(t, lsptest.Options{Encodings: []text.Encoding{e}})
		if _, err := w.Write(frame(`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"positionEncoding":"` + e.String() + `"}}}`)); err != nil {
			t.Fatal(err)
		}
		o.Initialize()
		const uri = "file:///w/a"
		o.OpenText(uri, "😀é\r\nb\nc", 1)
		o.SetText(uri, "x\n😀é\r\nB\nc\nd")
		o.Replace(uri, "é", "漢")
		want, _ := o.Text(uri)
		d := text.New("😀é\r\nb\nc")
		for _, m := range o.Traffic() {
			if m.Method == "textDocument/didChange" {
				c, err := wire.DecodeDidChange(m.Params)
				if err != nil {
					t.Fatal(err)
				}
				d = d.Apply(c.Changes, e)
			}
		}
		if d.String() != want || o.Version(uri) != 3 {
			t.Errorf("%s: the changes give %q, the buffer is %q", e, d.String(), want)
		}
		o.Close()
	}
}
