package wiretest

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// Wire is a transport without connections, for time that is virtual.
type Wire struct {
	Replies []Play // in order, the last one again and again

	mu   sync.Mutex // guards what follows
	at   []time.Time
	seen []*http.Request
}

// Play is a reply in virtual time.
type Play struct {
	Status  int // 200 when 0
	Header  map[string]string
	Silent  bool // not even a header comes
	Pieces  []string
	Every   time.Duration // before each piece
	Hang    bool          // after the pieces, instead of an end
	Forever string        // sent after the pieces for ever, one every Every
	Broken  error         // of the transport, instead of any reply
}

// Times are when requests came.
func (w *Wire) Times() []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Time(nil), w.at...)
}

// RoundTrip implements http.RoundTripper.
func (w *Wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	p := w.Replies[min(len(w.at), len(w.Replies)-1)]
	w.at = append(w.at, time.Now())
	w.seen = append(w.seen, r)
	w.mu.Unlock()
	if p.Broken != nil {
		return nil, p.Broken
	}
	if p.Silent {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	resp := &http.Response{StatusCode: p.Status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r, ProtoMajor: 1, ProtoMinor: 1}
	if resp.StatusCode == 0 {
		resp.StatusCode = http.StatusOK
	}
	for k, v := range p.Header {
		resp.Header.Set(k, v)
	}
	resp.Body = &playing{ctx: r.Context(), p: p}
	return resp, nil
}

type playing struct {
	ctx  context.Context
	p    Play
	rest string
}

func (b *playing) Read(to []byte) (int, error) {
	if b.rest == "" {
		switch {
		case len(b.p.Pieces) > 0:
			b.rest, b.p.Pieces = b.p.Pieces[0], b.p.Pieces[1:]
		case b.p.Forever != "":
			b.rest = b.p.Forever
		case b.p.Hang:
			<-b.ctx.Done()
			return 0, b.ctx.Err()
		default:
			return 0, io.EOF
		}
		if b.p.Every > 0 {
			select {
			case <-time.After(b.p.Every):
			case <-b.ctx.Done():
				return 0, b.ctx.Err()
			}
		}
	}
	n := copy(to, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *playing) Close() error { return nil }

// stream is a whole stream in one piece each event.
func stream(events []Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, Frame("\n", e))
	}
	return out
}
