package wire

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// TestAClientThatReadsNothingHoldsUpWhoReportsToIt queues up to the bound, and the
// rest once the client reads.
func TestAClientThatReadsNothingHoldsUpWhoReportsToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const messages = 80
		in, _ := io.Pipe()
		client, out := io.Pipe()
		s := newStream(in, out, 1, time.Hour, slog.New(slog.DiscardHandler), func(error) {})
		params := jsonrpc2.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
		var queued atomic.Int32
		write := func() {
			if _, err := s.Write(context.Background(), jsonrpc2.NewNotification("x", params)); err != nil {
				t.Error(err)
			}
			queued.Add(1)
		}
		write()
		synctest.Wait() // it is on its way, the others wait in the queue
		go func() {
			for range messages - 1 {
				write()
			}
		}()
		synctest.Wait()
		if n := queued.Load(); n != 1+maxQueued>>20 {
			t.Errorf("%d messages of 1 MiB were queued for a client that reads nothing, want %d", n, 1+maxQueued>>20)
		}
		read := make(chan int64)
		go func() {
			n, _ := io.Copy(io.Discard, bufio.NewReader(client)) // ends with the pipe
			read <- n
		}()
		synctest.Wait()
		if n := queued.Load(); n != messages {
			t.Errorf("%d of %d messages were queued for a client that reads", n, messages)
		}
		s.shut(time.Second)
		if n := <-read; n < messages<<20 {
			t.Errorf("the client read %d bytes of %d messages", n, messages)
		}
	})
}
