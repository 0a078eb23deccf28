package lsp

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
)

// benched are a whole server and one of the bare library, both in this process
// over pipes.
var benched = []struct {
	name  string
	serve func() jsonrpc2.Conn
}{
	{"server", func() jsonrpc2.Conn {
		engine := newFakeEngine()
		s := New(Config{Host: &fakeHost{engine: engine}})
		in, toServer := wire.Pipe()
		fromServer, out := wire.Pipe()
		go s.Serve(context.Background(), in, out)
		return dial(fromServer, toServer)
	}},
	{"library", func() jsonrpc2.Conn {
		in, toServer := wire.Pipe()
		fromServer, out := wire.Pipe()
		go func() { _, _ = wire.Serve(context.Background(), in, out, lsptest.BaselineConfig()) }()
		return dial(fromServer, toServer)
	}},
}

// dial is the client's end of a conversation, which ignores what the server asks.
func dial(in io.ReadCloser, out io.WriteCloser) jsonrpc2.Conn {
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(struct {
		io.ReadCloser
		io.Writer
	}{in, out}))
	conn.Go(context.Background(), func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		if !r.IsCall() {
			return nil, nil
		}
		return jsonrpc2.MethodNotFoundHandler(ctx, r)
	})
	return conn
}

// greet initializes a server that has one open document.
func greet(b *testing.B, p jsonrpc2.Conn, size int) {
	b.Helper()
	ctx := b.Context()
	if _, err := p.Call(ctx, "initialize", jsontext.Value(`{"processId":null,"rootUri":null,"capabilities":{}}`), nil); err != nil {
		b.Fatal(err)
	}
	tellServer(b, p, "initialized", `{}`)
	tellServer(b, p, "textDocument/didOpen", `{"textDocument":{"uri":"untitled:0","languageId":"x","version":0,"text":"`+strings.Repeat(strings.Repeat("x", 39)+`\n`, size/40+1)+`"}}`)
}

func tellServer(b *testing.B, p jsonrpc2.Conn, method, params string) {
	b.Helper()
	if err := p.Notify(b.Context(), method, jsontext.Value(params)); err != nil {
		b.Fatal(err)
	}
}

func roundTrip(b *testing.B, p jsonrpc2.Conn) {
	b.Helper()
	if _, err := p.Call(b.Context(), "workspace/executeCommand", jsontext.Value(`{"command":"agent.profiles","arguments":[{}]}`), nil); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkExecuteCommand is one round trip of a command that asks the engine.
func BenchmarkExecuteCommand(b *testing.B) {
	for _, x := range benched {
		b.Run(x.name, func(b *testing.B) {
			p := x.serve()
			defer func() { _ = p.Close() }()
			greet(b, p, 10)
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				roundTrip(b, p)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
		})
	}
}

// BenchmarkDidChange is one change of 1 KiB in a document of 2 KiB, in order,
// until the server has handled it.
func BenchmarkDidChange(b *testing.B) {
	for _, x := range benched {
		b.Run(x.name, func(b *testing.B) {
			p := x.serve()
			defer func() { _ = p.Close() }()
			greet(b, p, 2<<10)
			piece := strings.Repeat("y", 1<<10)
			b.ReportAllocs()
			version := 0
			for b.Loop() {
				version++
				tellServer(b, p, "textDocument/didChange", fmt.Sprintf(
					`{"textDocument":{"uri":"untitled:0","version":%d},"contentChanges":[{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":0}},"text":"%s\n"}]}`, version, piece))
				if version%64 == 0 {
					roundTrip(b, p)
				}
			}
			roundTrip(b, p)
		})
	}
}

// BenchmarkOpenDocuments is the memory that 200 open documents of 100 KiB take.
func BenchmarkOpenDocuments(b *testing.B) {
	for _, x := range benched[:1] {
		b.Run(x.name, func(b *testing.B) {
			p := x.serve()
			defer func() { _ = p.Close() }()
			greet(b, p, 10)
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				line := strings.Repeat("z", 39) + `\n`
				for i := range 200 {
					tellServer(b, p, "textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":"untitled:%d","languageId":"x","version":0,"text":"%s"}}`, i+1, strings.Repeat(line, 2560)))
				}
				roundTrip(b, p)
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/(1<<20), "MiB")
				for i := range 200 {
					tellServer(b, p, "textDocument/didClose", fmt.Sprintf(`{"textDocument":{"uri":"untitled:%d"}}`, i+1))
				}
				roundTrip(b, p)
			}
		})
	}
}
