package wire_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
)

func TestNoGoroutineIsLeftAfterAnyEnd(t *testing.T) {
	for name, finish := range map[string]func(*lsptest.Editor){
		"exit":          func(e *lsptest.Editor) { e.Notify("exit", nil) },
		"end of input":  func(e *lsptest.Editor) { e.HangUp() },
		"broken header": func(e *lsptest.Editor) { e.SendRaw([]byte("x\n")) },
		"output closed": func(e *lsptest.Editor) { e.CloseOutput(); e.Go("test/fill", nil) },
	} {
		before := runtime.NumGoroutine()
		for range 20 {
			s := &server{}
			config := s.config()
			config.Drain = time.Millisecond
			e, ended := serve(t, config, lsptest.Options{ProcessID: os.Getppid(), Edits: lsptest.EditNever})
			e.Initialize()
			e.Go("test/block", nil)
			e.Go("test/edit", nil)
			e.Barrier()
			finish(e)
			<-ended
			e.End()
			if n := s.running.Load(); n != 0 {
				t.Errorf("%s: %d requests still run", name, n)
			}
		}
		if after := settled(before); after > before {
			t.Errorf("%s: %d goroutines before, %d after 20 connections\n%s", name, before, after, stacks())
		}
	}
}

// settled counts goroutines when those that only have to return have done so.
func settled(want int) int {
	for range 1000 {
		if runtime.NumGoroutine() <= want {
			break
		}
		runtime.Gosched()
		runtime.GC()
	}
	return runtime.NumGoroutine()
}

func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

func TestAClientThatNeverReadsLosesTheConnection(t *testing.T) {
	s := &server{}
	config := s.config()
	config.WriteTimeout = 200 * time.Millisecond // long enough for the replies before the pause
	e, ended := serve(t, config, lsptest.Options{})
	e.Initialize()
	e.Pause()
	e.Go("test/fill", nil)
	if x := <-ended; x.code != 1 || !errors.Is(x.why, os.ErrDeadlineExceeded) {
		t.Errorf("ended with %d, %v", x.code, x.why)
	}
	e.Close()
}

func TestACancelledContextEndsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	fromClient, toServer := wire.Pipe()
	fromServer, toClient := wire.Pipe()
	s := &server{}
	ended := make(chan end, 1)
	go func() {
		code, why := wire.Serve(ctx, fromClient, toClient, s.config())
		ended <- end{code, why}
	}()
	e := lsptest.Attach(t, fromServer, toServer, lsptest.Options{})
	e.Initialize()
	p := e.Go("test/block", nil)
	e.Barrier()
	reason := errors.New("terminated")
	cancel(reason)
	if _, err := p.Wait(); err == nil || err.Code != -32800 {
		t.Errorf("the running request gave %v", err)
	}
	if x := <-ended; x.code != 1 || !errors.Is(x.why, reason) {
		t.Errorf("ended with %d, %v", x.code, x.why)
	}
	e.End()
	if s.client.Context().Err() == nil {
		t.Error("the client's context goes on")
	}
}

// The library pools channels, so this cannot run in a bubble of synctest.
func TestAHandlerThatDoesNotReturnDoesNotHoldTheEnd(t *testing.T) {
	s := &server{}
	config := s.config()
	config.Drain, config.Grace = time.Millisecond, time.Millisecond
	release := make(chan struct{})
	config.Requests["test/deaf"] = func(context.Context, jsontext.Value) (any, error) {
		<-release
		return nil, nil
	}
	e, ended := serve(t, config, lsptest.Options{})
	e.Initialize()
	e.Go("test/deaf", nil)
	e.Barrier()
	e.HangUp()
	if x := <-ended; x.code != 1 || !errors.Is(x.why, io.EOF) {
		t.Errorf("ended with %d, %v", x.code, x.why)
	}
	close(release)
}

// bigMessage is a size far beyond what a connection keeps.
func bigMessage() int {
	if raceEnabled {
		return 8 << 20
	}
	return 32 << 20
}

func TestBuffersOfABigMessageAreGivenBack(t *testing.T) {
	e, _, _ := ready(t, lsptest.Options{})
	heap := func() uint64 {
		e.Forget()
		runtime.GC()
		runtime.GC() // what pools keep goes with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	if _, err := e.Call("test/echo", `{"x":"`+strings.Repeat("x", bigMessage())+`"}`); err != nil {
		t.Fatal(err)
	}
	for range 3 { // a small message after it takes the buffers' place
		if _, err := e.Call("test/echo", nil); err != nil {
			t.Fatal(err)
		}
	}
	if after := heap(); after > before+uint64(bigMessage()/4) {
		t.Errorf("%d KiB are kept before a message of %d KiB, %d KiB after", before>>10, bigMessage()>>10, after>>10)
	}
	e.Shutdown()
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n[]"))
	f.Add([]byte("Content-Length: 46\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
	f.Add([]byte("Content-Length:46\n\n{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"00000\xc00000\"}"))
	f.Add(bytes.Repeat([]byte("a: b\n"), 10))
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(in, []byte("exit")) {
			return
		}
		fromServer, toClient := wire.Pipe()
		s := &server{}
		code, why := wire.Serve(t.Context(), io.NopCloser(bytes.NewReader(in)), toClient, s.config())
		if code != 1 || why == nil {
			t.Errorf("ended with %d, %v", code, why)
		}
		e := lsptest.Attach(t, fromServer, nopWriter{}, lsptest.Options{})
		e.End() // every byte of output must be a frame
	})
}

type nopWriter struct{}

func (nopWriter) Write(b []byte) (int, error) { return len(b), nil }
func (nopWriter) Close() error                { return nil }
